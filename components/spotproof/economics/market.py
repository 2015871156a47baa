"""When each spot tier has capacity, as spells of whole seconds from the moment the job is made."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Tape:
    """One tier: up or down at first, and the instants, in seconds, at which that turns over."""

    first: bool
    changes: tuple[int, ...]

    def up(self, at: int) -> bool:
        """Whether there is capacity in the second that begins now."""
        return self.first ^ bool(bisect_right(self.changes, at) % 2)


@dataclass(frozen=True)
class Market:
    """Every spot tier of one job, in the order of its policy, up to the second `end` at which the record stops."""

    tapes: tuple[Tape, ...]
    end: int


def market_of(capacities: Sequence[str], gap: int) -> Market:
    """The market that a record of ticks shows.

    Args:
        capacities: One string a tier, a digit a tick: 1 where a request would have succeeded.
        gap: Seconds of one tick.
    """
    return Market(tuple(_tape(each, gap) for each in capacities), gap * min(map(len, capacities)))


def _tape(capacity: str, gap: int) -> Tape:
    changes, at = [], 0
    for _, spell in groupby(capacity):
        at += sum(1 for _ in spell)
        changes.append(at * gap)
    return Tape(capacity.startswith("1"), tuple(changes[:-1]))
