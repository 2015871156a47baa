"""Where the markets of a plan come from: recorded traces, or an eviction rate. Run n has the same market every time."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

import numpy as np

from spotproof.economics.market import Bill, Market, market_of, within_ticks
from spotproof.economics.random_market import Rate, moving_prices, random_market
from spotproof.economics.starts import SPARE_TICKS, Every, Run, runs
from spotproof.economics.text import time
from spotproof.economics.traces import Trace, TraceError

STARTS_EVERY: Final = 10
"""Ticks between two starts in a whole trace: as many as the published comparisons take."""


@dataclass(frozen=True, kw_only=True)
class Bought:
    """What a market's prices are made from: USD per node hour, a spot tier each, and how they are billed."""

    spot_usd: tuple[float, ...]
    on_demand_usd: float
    bill: Bill


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """A market for every run. Numbers are random, and the same for the same seed."""

    bought: Bought
    seed: int

    @abstractmethod
    def unit(self, run: int) -> int:
        """Runs of one unit share a stretch of one record; those of different units are independent."""

    @abstractmethod
    def spells(self) -> Rate:
        """How often a job on spot is evicted and how long spot is gone, on average over the tiers."""

    @property
    @abstractmethod
    def availability(self) -> tuple[float, ...]:
        """The share of all time with capacity, 0 to 1, a spot tier each."""

    @abstractmethod
    def _market(self, run: int, chance: np.random.Generator) -> Market: ...

    def market(self, run: int) -> Market:
        """The market of one run, with prices that move."""
        chance = np.random.default_rng((self.seed, run))
        market = self._market(run, chance)
        bought = self.bought
        prices = moving_prices(chance, bought.spot_usd, bought.on_demand_usd, market.end)
        return replace(market, prices=prices, bill=bought.bill)


@dataclass(frozen=True, kw_only=True)
class MadeUp(Source):
    """Random markets; every run is a unit of its own."""

    rate: Rate
    end: int

    def unit(self, run: int) -> int:
        """The run itself."""
        return run

    def spells(self) -> Rate:
        """As asked for."""
        return self.rate

    @property
    def availability(self) -> tuple[float, ...]:
        """The same for every tier."""
        return (self.rate.availability,) * len(self.bought.spot_usd)

    def _market(self, run: int, chance: np.random.Generator) -> Market:
        del run
        return random_market(chance, self.rate, len(self.bought.spot_usd), self.end)


@dataclass(frozen=True, kw_only=True)
class Recorded(Source):
    """Stretches of recorded markets, one list a trace, in random order; every trace weighs the same."""

    traces: tuple[Trace, ...]
    stretches: tuple[tuple[Run, ...], ...]
    gaps: tuple[int, ...]
    unit_ticks: int

    def _stretch(self, run: int) -> tuple[int, Run]:
        """Trace by trace, and in each one stretch after the other."""
        place = run % len(self.stretches)
        of_trace = self.stretches[place]
        return place, of_trace[run // len(self.stretches) % len(of_trace)]

    def unit(self, run: int) -> int:
        """A window, or a stretch of a whole trace that is as long as a job may take."""
        place, one = self._stretch(run)
        within = one.window if one.window is not None else one.start_tick // self.unit_ticks
        return within * len(self.stretches) + place

    def _market(self, run: int, chance: np.random.Generator) -> Market:
        place, one = self._stretch(run)
        gap = self.gaps[place]
        # a trace shows ticks only, and a node is lost at any moment of one
        seen = market_of(one.capacities, gap)
        return within_ticks(seen, gap, Random(int(chance.integers(1 << 62))))  # noqa: S311 - a market, not a secret

    def spells(self) -> Rate:
        """Counted in the traces: an eviction is a tick with capacity followed by one without."""
        up = down = lost = 0
        for trace in self.traces:
            for window in trace.windows:
                there = window.capacity.count("1")
                up += there * trace.gap_seconds
                down += (len(window.capacity) - there) * trace.gap_seconds
                lost += window.capacity.count("10")
        return Rate(3600 * lost / up if up else 0.0, down / max(lost, 1))

    @property
    def availability(self) -> tuple[float, ...]:
        """A spot tier each; of one tier the mean of all traces."""
        shares = tuple(trace.availability for trace in self.traces)
        return shares if len(self.bought.spot_usd) == len(shares) else (sum(shares) / len(shares),)


def recorded(traces: Sequence[Trace], bought: Bought, *, horizon: int, needed: int, seed: int) -> Recorded:
    """Recorded markets for a job of one spot tier, or of as many as there are traces.

    Args:
        traces: With one spot tier every trace is a market of its own; with several, they are the tiers in order.
        bought: Prices.
        horizon: Seconds a start in a whole trace leaves: to the deadline, or what the job may take without one.
        needed: Seconds that a record needs at least, for a run to have a chance to end in it.
        seed: Of starts, of moments within a tick, and of prices.

    Raises:
        TraceError: the traces do not fit the tiers or each other, or are too short for the job.
    """
    tiers = len(bought.spot_usd)
    if tiers > 1 and len(traces) != tiers:
        count = "1 trace is" if len(traces) == 1 else f"{len(traces)} traces are"
        raise TraceError(f"{count} given for {tiers} spot tiers; give one trace a spot tier, in the policy's order")
    side_by_side = [tuple(traces)] if tiers > 1 else [(trace,) for trace in traces]
    for each in side_by_side:
        _long_enough(each, horizon, needed)
    return Recorded(
        bought=bought,
        seed=seed,
        traces=tuple(traces),
        stretches=tuple(_shuffled(runs(each, Every(STARTS_EVERY), horizon), seed) for each in side_by_side),
        gaps=tuple(each[0].gap_seconds for each in side_by_side),
        unit_ticks=max(horizon // traces[0].gap_seconds, 1),
    )


def _shuffled(stretches: Iterable[Run], seed: int) -> tuple[Run, ...]:
    found = list(stretches)
    Random(seed).shuffle(found)  # noqa: S311 - an order, not a secret
    return tuple(found)


def _long_enough(tiers: Sequence[Trace], horizon: int, needed: int) -> None:
    """Refuse a record in which no run could end, which would look like a late one."""
    for trace in tiers:
        longest = max(len(window.capacity) for window in trace.windows) * trace.gap_seconds
        room = horizon + (SPARE_TICKS + 1) * trace.gap_seconds if trace.whole else needed
        if longest < room:
            has, asks = time(longest), time(room)
            raise TraceError(
                f"{trace.name}: is {has} long, and this job needs a record of {asks}, or runs end with the record "
                "and not with the work; take a longer trace, less work or an earlier deadline"
            )
