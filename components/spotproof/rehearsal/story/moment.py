"""A moment of a story, and the words that all of them share."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from spotproof.rehearsal.history import Life, role

T = TypeVar("T")

TOGETHER_SECONDS: Final = 3.0
"""What comes within so many seconds of each other is told once. A drain evicts the pods of a node within 0.1 s, a Job
ends its healthy pods 2 s after the first one failed, and two reclaims are further apart."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Something a person wants to know.

    `at` and `until` are seconds from the start; `until` is None for what has no length, or has not ended. `kind` is
    the observation, `text` a sentence without its full stop, `quote` what the cluster said of it, word for word,
    and `objects` the pods or nodes it is about.
    """

    at: float
    kind: str
    text: str
    until: float | None = None
    quote: str = ""
    objects: tuple[str, ...] = ()


def grouped(
    found: Iterable[T], at: Callable[[T], float], key: Callable[[T], Hashable], gap: float = TOGETHER_SECONDS
) -> Iterator[list[T]]:
    """Things of one key that follow each other within a gap, in the order of their first."""
    groups: list[list[T]] = []
    open_: dict[Hashable, list[T]] = {}
    for each in sorted(found, key=at):
        group = open_.get(key(each))
        if group is None or at(each) - at(group[-1]) > gap:
            group = []
            groups.append(group)
            open_[key(each)] = group
        group.append(each)
    yield from groups


def pods(found: Sequence[Life]) -> str:
    """How many pods of which roles: `3 pods of worker`."""
    roles = list(dict.fromkeys(role(each.last) for each in found))
    return f"{count(len(found), 'pod')} of {listed(roles)}"


def count(number: int, noun: str) -> str:
    """`1 node`, `3 nodes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"


def be(number: int) -> str:
    """`is` or `are`."""
    return "is" if number == 1 else "are"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def seconds(value: float) -> str:
    """Seconds with one decimal below ten, whole ones above, minutes from two on."""
    if value >= 120:  # noqa: PLR2004 - two minutes
        return f"{value // 60:.0f} min {value % 60:.0f} s"
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"  # noqa: PLR2004


def names(found: Iterable[Life]) -> tuple[str, ...]:
    """Names, in order."""
    return tuple(each.name for each in found)
