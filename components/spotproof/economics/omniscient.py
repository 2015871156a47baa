"""The optimum with foresight: the least cost of any plan that is done in time, exact, for many runs at once.

A plan says of every tick: idle, on-demand, or one of the spot tiers with capacity in it. It is in time when
active ticks x gap >= work + changeover x starts; starting on-demand, starting a spot tier and moving between two spot
tiers is a start each. An integer program of the same sentence gives the same cost (in the tests).

The dynamic programme goes over time, what is held, and the slack used so far: an idle tick uses one tick of it, a start
one changeover, and all of it is the time beyond the work. So a table has a level per common divisor of tick and
changeover within the slack, not one per second of work: 0.3 ms a run of the 2022 traces, 4 ms a run of the 2023 ones.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spotproof.economics.baselines import on_demand
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.ticks import HOUR, simulate

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

BATCH_VALUES: Final = 1 << 15
"""Levels x runs of one batch: 256 KiB a mode, so that a step finds its tables in the cache of a core."""
BLOCK_TICKS: Final = 16
"""Ticks between two tables that are kept, from which a plan is followed backwards."""
IDLE: Final = 0
"""Modes: idle, then the spot tiers in their order, on-demand last."""


@dataclass(frozen=True)
class _Batch:
    """Runs of one length: levels of slack that there are, that an idle tick and a start use; USD per tick.

    `closed` is 0 where a tier has capacity and infinite where it has none, by tick, tier and run.
    """

    runs: tuple[int, ...]
    levels: int
    idle: int
    start: int
    usd: tuple[float, ...]
    closed: Floats

    @property
    def ticks(self) -> int:
        return len(self.closed)

    @property
    def reach(self) -> int:
        """Levels that one tick can use."""
        return max(self.idle, self.start)


def least_costs(job: Job, gap: int, markets: Sequence[Sequence[str]], *, late_start_twice: bool = False) -> list[float]:
    """USD of the cheapest plan of every run; infinite where no plan is in time.

    Args:
        job: with one spot price a tier, which may differ.
        gap: seconds of a tick. The deadline is rounded up to whole ticks, as in the published figures, so the
            optimum may use one tick more than policies, which round it down.
        markets: one digit per tick and tier, for every run.
        late_start_twice: charges the first start twice unless it is in the first tick, as the early prototype did from
            which some published figures are.
    """
    costs = [math.inf] * len(markets)
    for batch in _batches(job, gap, markets):
        table, scratch = _beginning(batch)
        twice = batch.start if late_start_twice else 0
        for tick in range(batch.ticks):
            _advance(table, scratch, batch, tick, used=tick * batch.reach + twice)
            if twice and not tick:
                table[IDLE] = np.inf
                table[IDLE, :, batch.idle + twice : batch.idle + twice + 1] = 0
        for run, usd in zip(batch.runs, table.min(axis=(0, 2)).tolist(), strict=True):
            costs[run] = usd
    return costs


def optima(job: Job, gap: int, markets: Sequence[Sequence[str]]) -> list[Outcome]:
    """What the cheapest plan of every run comes to; twice the time of its cost alone.

    A plan that uses the tick in which the deadline falls counts as done at the deadline. Where no plan is in time,
    the outcome is that of on-demand from the first tick.

    Args:
        job: with one spot price a tier, which may differ.
        gap: seconds of a tick.
        markets: one digit per tick and tier, for every run.
    """
    found: dict[int, Outcome] = {}
    for batch in _batches(job, gap, markets):
        table, scratch = _beginning(batch)
        kept: list[Floats] = []
        for tick in range(batch.ticks):
            if tick % BLOCK_TICKS == 0:
                kept.append(table.copy())
            _advance(table, scratch, batch, tick, used=tick * batch.reach)
        plans, costs = _plans(batch, kept, table), table.min(axis=(0, 2))
        for number, run in enumerate(batch.runs):
            if math.isfinite(costs[number]):
                found[run] = _outcome(job, gap, plans[number], batch.closed[:, :, number])
    late = (run for run in range(len(markets)) if run not in found)
    found.update({run: simulate(on_demand, job, gap, markets[run]) for run in late})
    return [found[run] for run in range(len(markets))]


def _batches(job: Job, gap: int, markets: Sequence[Sequence[str]]) -> Iterator[_Batch]:
    """All runs that can be in time, as many at a time as one batch holds; records may end before the deadline."""
    by_ticks: dict[int, list[int]] = {}
    for run, capacities in enumerate(markets):
        by_ticks.setdefault(min(-(-job.deadline // gap), *map(len, capacities)), []).append(run)
    unit = math.gcd(gap, job.changeover)
    usd = tuple(price * job.nodes * gap / HOUR for price in (*job.spot_usd, job.on_demand_usd))
    for ticks, numbers in by_ticks.items():
        levels = (ticks * gap - job.work) // unit + 1
        size = max(BATCH_VALUES // max(levels, 1), 1)
        for first in range(0, len(numbers) if levels > 0 else 0, size):
            runs = tuple(numbers[first : first + size])
            digits = [[list(capacity[:ticks].encode()) for capacity in markets[run]] for run in runs]
            closed = np.where(np.array(digits) == ord("1"), 0.0, np.inf).transpose(2, 1, 0)
            yield _Batch(runs, levels, gap // unit, job.changeover // unit, usd, np.ascontiguousarray(closed))


def _beginning(batch: _Batch) -> tuple[Floats, Floats]:
    """The table before the first tick, least USD by mode, run and level; and room for one mode of it."""
    _, tiers, runs = batch.closed.shape
    table = np.full((tiers + 2, runs, batch.levels), np.inf)
    table[IDLE, :, 0] = 0
    return table, np.empty(table.shape[1:])


def _advance(table: Floats, scratch: Floats, batch: _Batch, tick: int, *, used: int) -> None:
    """One tick on, in place.

    Args:
        table: least USD by mode, run and level of slack used; any stretch of levels.
        scratch: of the size of one mode.
        batch: prices, and what has capacity.
        tick: which.
        used: the highest level that anything can have before this tick; what is above is infinite.
    """
    tiers, levels, start = batch.closed.shape[1], table.shape[2], batch.start
    best = scratch[:, : min(used + 1, levels)]
    np.min(table[:, :, : best.shape[1]], axis=0, out=best)
    top = min(best.shape[1] + start, levels)
    for mode in range(1, len(table)):
        started, values = table[mode, :, start:top], table[mode, :, :top]
        np.minimum(started, best[:, : started.shape[1]], out=started)
        values += batch.usd[mode - 1] + batch.closed[tick, mode - 1][:, None] if mode <= tiers else batch.usd[mode - 1]
    idled = table[IDLE, :, batch.idle : best.shape[1] + batch.idle]
    idled[:] = best[:, : idled.shape[1]]
    table[IDLE, :, : batch.idle] = np.inf


def _plans(batch: _Batch, kept: Sequence[Floats], last: Floats) -> NDArray[np.int8]:
    """The mode of every tick, by run: followed backwards, each block worked out again near the levels it ends in."""
    runs = np.arange(len(batch.runs))
    mode, level = np.divmod(last.transpose(1, 0, 2).reshape(len(runs), -1).argmin(axis=1), batch.levels)
    plans = np.zeros((len(runs), batch.ticks), dtype=np.int8)
    for block in reversed(range(len(kept))):
        ticks = range(block * BLOCK_TICKS, min((block + 1) * BLOCK_TICKS, batch.ticks))
        width = min((len(ticks) + 1) * batch.reach, batch.levels - 1)
        at = level[:, None] + np.arange(-width, 1)
        near = kept[block][:, runs[:, None], np.maximum(at, 0)]
        table = np.ascontiguousarray(np.where(at < 0, np.inf, near))  # indexing leaves the modes innermost
        before, scratch = np.empty((len(ticks), *table.shape)), np.empty(table.shape[1:])
        for tick in ticks:
            before[tick - ticks.start] = table
            _advance(table, scratch, batch, tick, used=width)
        place = np.full(len(runs), width)
        for tick in reversed(ticks):
            plans[:, tick] = mode
            mode, place = _came_from(before[tick - ticks.start], batch, mode, place)
        level = level - width + place
    return plans


def _came_from(before: Floats, batch: _Batch, mode: Ints, place: Ints) -> tuple[Ints, Ints]:
    """Mode and place of every run before a tick, given those after it."""
    runs = np.arange(len(mode))
    origin = np.maximum(place - np.where(mode == IDLE, batch.idle, batch.start), 0)
    columns = before[:, runs, origin]
    best = columns.argmin(axis=0)
    stays = (mode != IDLE) & (before[mode, runs, place] <= columns[best, runs])
    return np.where(stays, mode, best), np.where(stays, place, origin)


def _outcome(job: Job, gap: int, plan: NDArray[np.int8], closed: Floats) -> Outcome:
    """What a plan comes to, given what had capacity by tick and tier."""
    ticks = int(np.flatnonzero(plan)[-1]) + 1
    now, before = plan[:ticks], np.concatenate(([IDLE], plan[: ticks - 1]))
    tiers = closed.shape[1]
    changed = now != before
    on_spot = np.flatnonzero((before > IDLE) & (before <= tiers))
    evictions = int(np.isinf(closed[on_spot, before[on_spot] - 1]).sum())
    counts = np.bincount(now, minlength=tiers + 2).tolist()
    usd = sum(count * price for count, price in zip(counts[1:], (*job.spot_usd, job.on_demand_usd), strict=True))
    return Outcome(
        usd * job.nodes * gap / HOUR,
        min(ticks * gap, job.deadline),
        evictions,
        starts=int((changed & (now != IDLE)).sum()),
        spot=sum(counts[1 : tiers + 1]) * gap,
        on_demand=counts[-1] * gap,
    )
