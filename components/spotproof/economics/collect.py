"""Traces from the paths a user gives: files, and folders of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from spotproof.economics.traces import WHOLE, WINDOWS, Trace, TraceError, read_json, read_trace


class Collected(NamedTuple):
    """The traces in the order of the paths, a folder's by name; and what was left out, a sentence each."""

    traces: tuple[Trace, ...]
    notes: tuple[str, ...]


def collect(paths: Sequence[Path]) -> Collected:
    """Every trace of some paths.

    A file that is named has to be a trace; in a folder, JSON files of other kinds are left out with a note. A file that
    is named twice is read once. Traces of one name in different folders are called by folder and name.

    Raises:
        TraceError: what is wrong with each file that cannot be used, a line each.
    """
    found: dict[Path, Trace] = {}
    notes: list[str] = []
    wrong: list[str] = []
    for file in _files(paths, notes, wrong):
        if (key := file.resolve()) in found:
            notes.append(f"{file}: is named twice and taken once")
            continue
        try:
            found[key] = read_trace(file)
        except TraceError as error:
            wrong.append(str(error))
    if wrong:
        raise TraceError("\n".join(wrong))
    names = Counter(trace.name for trace in found.values())
    traces = (
        trace if names[trace.name] == 1 else replace(trace, name=f"{file.parent.name}/{trace.name}")
        for file, trace in found.items()
    )
    return Collected(tuple(traces), tuple(notes))


def _files(paths: Sequence[Path], notes: list[str], wrong: list[str]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = sorted(path.glob("*.json"))
        traces = [file for file in files if not _is_other(file)]
        notes += [f"{file}: is no trace and was left out" for file in files if file not in traces]
        if not traces:
            wrong.append(f"{path}: holds no trace; name files, or a folder with .json files of traces right in it")
        yield from traces


def _is_other(file: Path) -> bool:
    """Whether it is JSON of another kind; what cannot be read is not."""
    try:
        raw = read_json(file)
    except TraceError:
        return False
    return not isinstance(raw, dict) or cast("dict[str, object]", raw).get("format") not in (WHOLE, WINDOWS)
