"""The process that the closed form describes, played out: what the formula is held against, and a first look at spread.

Runs are columns of arrays, and one step is one stay between two evictions, so thousands of runs take as long as the
unluckiest one has evictions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotproof.economics.checkpoints import SECONDS_PER_HOUR
from spotproof.economics.model import FOR_EVER, Conditions

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """One entry a run. Seconds; `useful` is the work done on spot."""

    spot: Times
    on_demand: Times
    waiting: Times
    evictions: NDArray[np.int64]
    useful: Times

    @property
    def wall(self) -> Times:
        """From the first start to the end."""
        return self.spot + self.on_demand + self.waiting

    def usd(self, conditions: Conditions) -> Times:
        """What each run cost."""
        held = conditions.nodes_held_waiting * self.waiting
        spot = conditions.spot_share * (conditions.nodes * self.spot + held)
        nodes = conditions.on_demand_usd * (spot + conditions.nodes * self.on_demand)
        return (nodes + conditions.always_on_usd_per_hour * self.wall) / SECONDS_PER_HOUR


def play(conditions: Conditions, runs: int, seed: int) -> Runs:
    """Play the job out so many times.

    Raises:
        ValueError: nobody would be done: the chance to save anything is below one in ten thousand, and nothing moves
            the job.
    """
    cycle = conditions.cycle
    if conditions.max_failures == FOR_EVER and cycle.slowdown(conditions.evictions_per_hour) > 10_000:  # noqa: PLR2004
        raise ValueError("the job would never be done: it is evicted before it saves anything, and never moves")
    chance = np.random.default_rng(seed)
    made = Runs(np.zeros(runs), np.zeros(runs), np.zeros(runs), np.zeros(runs, np.int64), np.zeros(runs))
    going = np.arange(runs)
    restart = 0.0
    while going.size:
        lives = _exponential(chance, going.size, conditions.evictions_per_hour)
        left = conditions.work_seconds - made.useful[going]
        needed = restart + left * cycle.overhead
        done = lives >= needed
        made.spot[going] += np.minimum(lives, needed)
        saved = np.floor(np.maximum(lives - restart, 0) / (cycle.every + cycle.write)) * cycle.every
        made.useful[going] += np.where(done, left, np.minimum(saved, left))
        going = going[~done]
        made.evictions[going] += 1
        going = _stay_or_fall(conditions, made, going, chance)
        restart = cycle.restart
    return made


def _stay_or_fall(
    conditions: Conditions, made: Runs, evicted: NDArray[np.int64], chance: np.random.Generator
) -> NDArray[np.int64]:
    """Who waits for spot and gets it; the others finish on on-demand."""
    cycle, tolerated = conditions.cycle, conditions.max_failures
    waits = np.full(evicted.size, fill_value=True) if tolerated < 0 else made.evictions[evicted] <= tolerated
    outages = conditions.outage_seconds * chance.exponential(size=evicted.size)
    stays = waits & (outages <= conditions.pending_timeout_seconds)
    made.waiting[evicted] += np.where(waits, np.minimum(outages, conditions.pending_timeout_seconds), 0)
    falling = evicted[~stays]
    made.on_demand[falling] += cycle.restart + (conditions.work_seconds - made.useful[falling]) * cycle.overhead
    return evicted[stays]


def _exponential(chance: np.random.Generator, size: int, evictions_per_hour: float) -> Times:
    if evictions_per_hour == 0:
        return np.full(size, np.inf)
    return chance.exponential(SECONDS_PER_HOUR / evictions_per_hour, size)
