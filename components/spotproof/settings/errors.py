"""What is wrong in a file the user wrote: every problem at once, each with its key as written."""

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing to mend.

    `key` is the path as the user wrote it (`pools[1].maxNodes`), `what` is wrong with it,
    `consequence` is what would happen, `remedy` is what to write instead.
    """

    key: str
    what: str
    consequence: str
    remedy: str

    def __str__(self) -> str:
        """One sentence each for what is wrong, what would happen and what to write."""
        return _printable(f"{self.key}: {self.what}; {self.consequence}. {self.remedy}.")


class SettingsError(ValueError):
    """All problems of one file; its text is complete and meant for a person."""

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__(self.text())

    def text(self) -> str:
        """The report: a line that counts, then a line a problem."""
        count = f"{len(self.problems)} problem{'' if len(self.problems) == 1 else 's'} in the settings"
        head = f"{self.source}: {count}" if self.source else count
        return "\n".join([head, *(f"  {problem}" for problem in self.problems)])


def shown(value: object, limit: int = 60) -> str:
    """A value as it may be printed: one line, no control characters, at most `limit` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    text = _printable(text)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _printable(text: str) -> str:
    """Without what a terminal would obey or lay out: names and values of a file are in these sentences."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
