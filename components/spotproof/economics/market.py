"""When each spot tier has capacity and what it costs, as spells of whole seconds from the moment the job is made."""

import enum
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from random import Random


class Bill(enum.Enum):
    """What a spot node costs while its market's price moves."""

    FIXED_AT_LAUNCH = "fixed-at-launch"
    """The price of the moment it was launched, for as long as it runs, as the Determined document says."""
    FLOATING = "floating"
    """The price of each moment."""


@dataclass(frozen=True)
class Tape:
    """One tier: up or down at first, and the instants, in seconds, at which that turns over."""

    first: bool
    changes: tuple[int, ...]


@dataclass(frozen=True)
class PriceTape:
    """USD per node hour of one tier: from each instant on, in seconds, the first of them at or before 0."""

    instants: tuple[int, ...]
    usd: tuple[float, ...]

    def at(self, instant: int) -> float:
        """The price of one moment."""
        return self.usd[max(bisect_right(self.instants, instant) - 1, 0)]

    def paid(self, start: int, end: int, bill: Bill) -> float:
        """USD for one node that ran from one instant to another, at the price of its launch or of each moment."""
        if bill is Bill.FIXED_AT_LAUNCH:
            return self.at(start) * (end - start) / 3600
        cuts = [start, *(each for each in self.instants if start < each < end), end]
        return sum(self.at(one) * (other - one) for one, other in pairwise(cuts)) / 3600


@dataclass(frozen=True)
class Market:
    """Every spot tier of one job, in the order of its policy, up to the second `end` at which the record stops.

    `prices` has a tape a tier where prices were recorded too; without it each tier costs what the job says, and both
    ways of billing come to the same.
    """

    tapes: tuple[Tape, ...]
    end: int
    prices: tuple[PriceTape, ...] = ()
    bill: Bill = Bill.FIXED_AT_LAUNCH


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


def within_ticks(market: Market, gap: int, random: Random) -> Market:
    """The market with each change at a random second of the tick before it was seen: nodes die between two probes."""
    tapes = (Tape(each.first, tuple(at - random.randrange(gap) for at in each.changes)) for each in market.tapes)
    return replace(market, tapes=tuple(tapes))
