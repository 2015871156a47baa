"""A policy on recorded markets, run by run, and what its runs come to: the figures of `spotproof simulate`."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from random import Random
from statistics import fmean
from typing import Final, NamedTuple, TypeAlias

from spotproof.economics import ticks
from spotproof.economics.baselines import BASELINES
from spotproof.economics.market import Bill, PriceTape, market_of, within_ticks
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.price_history import PriceHistory
from spotproof.economics.probed import simulate_probed
from spotproof.economics.simulator import simulate
from spotproof.economics.starts import Run, Starts, runs
from spotproof.economics.traces import Trace
from spotproof.fallback.policy import Order, Policy, Tier

HOUR: Final = 3600
SMALL: Final = 2_000
"""Runs below which starting other processes takes longer than they save."""
CHUNK: Final = 50
"""Runs handed to a process at a time."""
CONTINUOUS_TICK: Final = 1
"""Decisions, evictions and bills by the second."""


class Record(NamedTuple):
    """One line of the report: every run of one trace, or of several that are the spot tiers of one job.

    `prices` has a tape a tier for every run where prices were recorded, and is empty otherwise.
    """

    name: str
    gap: int
    runs: tuple[Run, ...]
    prices: tuple[tuple[PriceTape, ...], ...] = ()


Contender: TypeAlias = Callable[[Job, Record], list[Outcome]]
"""A policy as it can be handed to another process: the outcome of every run of a record."""


@dataclass(frozen=True)
class Ours:
    """A policy that `decide` carries out; its spot tiers are those of the record, in this order.

    `continuous` puts every change of the market at a random second of the tick before it was seen, by the seed, and
    decides and bills by the second; otherwise an answer binds for a tick, which is billed whole.
    """

    policy: Policy
    continuous: bool = False
    seed: int = 0
    bill: Bill = Bill.FIXED_AT_LAUNCH

    def __call__(self, job: Job, record: Record) -> list[Outcome]:
        """Every run of a record."""
        return [self._run(job, record, number) for number in range(len(record.runs))]

    def _run(self, job: Job, record: Record, number: int) -> Outcome:
        run, gap = record.runs[number], record.gap
        market = market_of(run.capacities, gap)
        if self.continuous:
            chance = Random(f"{self.seed} {record.name} {run.window} {run.start_tick}")  # noqa: S311 - a market
            market = within_ticks(market, gap, chance)
        if record.prices:
            market = replace(market, prices=record.prices[number], bill=self.bill)
        return simulate(self.policy, job, market, tick=CONTINUOUS_TICK if self.continuous else gap)


@dataclass(frozen=True)
class Baseline:
    """A policy of BASELINES, by name; with `probe_every` it sees spot from on-demand by paid probes only."""

    name: str
    order: ticks.Order = "longest-up"
    probe_every: int = 0

    def __call__(self, job: Job, record: Record) -> list[Outcome]:
        """Every run of a record."""
        policy, gap = BASELINES[self.name], record.gap
        if self.probe_every:
            return [simulate_probed(policy, job, gap, run.capacities[0], self.probe_every) for run in record.runs]
        return [ticks.simulate(policy, job, gap, run.capacities, self.order) for run in record.runs]


@dataclass(frozen=True)
class Omniscient:
    """The cheapest plan of every run, with foresight; needs numpy."""

    def __call__(self, job: Job, record: Record) -> list[Outcome]:
        """Every run of a record."""
        from spotproof.economics.omniscient import optima  # noqa: PLC0415

        return optima(job, record.gap, [run.capacities for run in record.runs])


def pace_policy(job: Job, *, probe_every: int = 0, order: Order = Order.LEAST_RECENTLY_FAILED) -> Policy:
    """The rule `pace` as the published figures measure it, with the tiers and the restart time of a job.

    No margin, since on-demand starts in no more than the changeover; no brake; nothing lost beyond the changeover;
    every tier seen all the time, unless it is probed.
    """
    spot = (Tier(f"spot-{number}", spot=True, usd=usd) for number, usd in enumerate(job.spot_usd, start=1))
    return Policy(
        tiers=(*spot, Tier("on-demand", spot=False, usd=job.on_demand_usd)),
        mode="pace",
        restart=job.changeover,
        checkpoint_every=0,
        margin=0,
        max_moves_per_hour=0,
        probe_every=probe_every,
        probe_seconds=job.probe,
        order=order,
    )


def records(
    traces: Sequence[Trace],
    starts: Starts,
    deadline: int,
    *,
    as_tiers: bool = False,
    prices: PriceHistory | None = None,
) -> list[Record]:
    """Every run of every trace, or of all of them side by side.

    Args:
        traces: what was recorded.
        starts: where runs start in whole traces.
        deadline: seconds from a run's start.
        as_tiers: the traces are the spot tiers of one job, in this order.
        prices: what they cost meanwhile.

    Raises:
        TraceError: the traces do not fit each other or the deadline, or have no price.
    """
    found: list[Record] = []
    for tiers in [tuple(traces)] if as_tiers else [(trace,) for trace in traces]:
        those = tuple(runs(tiers, starts, deadline))
        of_runs = tuple(tuple(prices.tape(trace, run) for trace in tiers) for run in those) if prices else ()
        found.append(Record(" + ".join(trace.name for trace in tiers), tiers[0].gap_seconds, those, of_runs))
    return found


def replay(
    contender: Contender, job: Job, all_records: Sequence[Record], workers: int | None = None
) -> list["Summary"]:
    """What a policy comes to on every record.

    Args:
        contender: the policy.
        job: what is to be done, with one spot price a tier.
        all_records: the markets.
        workers: processes; left out, one a core, and none beside this one for few runs.
    """
    count = sum(len(record.runs) for record in all_records)
    tasks = [(number, part) for number, record in enumerate(all_records) for part in _parts(record)]
    outcomes: list[list[Outcome]] = [[] for _ in all_records]
    parts = [part for _, part in tasks]
    wanted = workers or (os.cpu_count() or 1 if count > SMALL else 1)
    for (number, _), found in zip(tasks, _all(contender, job, parts, wanted), strict=True):
        outcomes[number] += found
    return [summary(job, each) for each in outcomes]


def _parts(record: Record) -> Iterator[Record]:
    for start in range(0, len(record.runs), CHUNK):
        end = start + CHUNK
        yield record._replace(runs=record.runs[start:end], prices=record.prices[start:end])


def _all(contender: Contender, job: Job, parts: Sequence[Record], workers: int) -> Iterator[list[Outcome]]:
    if workers == 1:
        yield from (contender(job, part) for part in parts)
        return
    # spawned, not forked: a fork of a process with threads may stop for ever, and is not to be had everywhere
    with ProcessPoolExecutor(min(workers, len(parts)), get_context("spawn")) as pool:
        yield from pool.map(contender, [job] * len(parts), parts)


class Summary(NamedTuple):
    """Runs of one trace. USD, hours, evictions and percent are means over the runs, the others counts of runs.

    Percent are saved of the price of the work alone on on-demand, without a restart. A run that the record ended
    before its work counts as late, and is in `unfinished` too; what it cost until then is in the mean.
    """

    runs: int
    usd: float
    saved_percent: float
    late: int
    evictions: float
    spot_hours: float
    on_demand_hours: float
    unfinished: int


def summary(job: Job, outcomes: Sequence[Outcome]) -> Summary:
    """What the runs of one trace come to; at least one."""
    usd = fmean(each.usd for each in outcomes)
    return Summary(
        len(outcomes),
        usd,
        100 * (1 - usd / (job.nodes * job.on_demand_usd * job.work / HOUR)),
        sum(each.late(job.deadline) for each in outcomes),
        fmean(each.evictions for each in outcomes),
        fmean(each.spot for each in outcomes) / HOUR,
        fmean(each.on_demand for each in outcomes) / HOUR,
        sum(each.finish is None for each in outcomes),
    )


def total(summaries: Sequence[Summary]) -> Summary:
    """All traces together: means of the means, so that every trace weighs the same, and sums of the counts."""
    runs_, usd, saved, late, evictions, spot, on_demand, unfinished = zip(*summaries, strict=True)
    return Summary(
        sum(runs_),
        fmean(usd),
        fmean(saved),
        sum(late),
        fmean(evictions),
        fmean(spot),
        fmean(on_demand),
        sum(unfinished),
    )
