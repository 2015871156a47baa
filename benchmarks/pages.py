"""Where measured figures go: between two marks of a page, whose text is written by hand."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path


def between(file: Path, text: str, name: str = "") -> None:
    """Put figures between the two marks of a page; `name` is for pages that have several pairs.

    Raises:
        ValueError: the page has no such marks.
    """
    of = f" {name}" if name else ""
    start, end = f"<!-- figures of make bench{':' if name else ''}{of} -->", f"<!-- end of figures{of} -->"
    before, _, rest = file.read_text(encoding="utf-8").partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{file.name} has no {json.dumps(start)} with {json.dumps(end)} after it")
    file.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown: text and whole numbers as they are, other numbers with two decimals, None as nothing."""
    lines = [head, ["---"] * len(head), *([_cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def difference(ours: float, other: float) -> str:
    """In points, with its sign; nothing is +0.00."""
    return f"{round(ours - other, 2) + 0.0:+.2f}"
