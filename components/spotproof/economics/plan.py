"""What a policy and its neighbours come to for one job: every one of them on the same markets, by the rule itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Final, NamedTuple

import numpy as np

from spotproof.economics.checkpoints import Cycle
from spotproof.economics.measure import CONTINUOUS, Measured, Setup, error_of_mean, measure
from spotproof.economics.neighbours import JOB, Candidate, Fit, neighbourhood
from spotproof.economics.outcome import Job
from spotproof.economics.simulator import Simulation
from spotproof.economics.sources import Source
from spotproof.fallback.policy import Policy, Tier

HOUR: Final = 3600
WITHOUT: Final = 1 << 60
"""The deadline of a job that has none: nothing is late, and no policy reads it."""
CERTAIN: Final = 1.96
"""Standard errors on both sides of a mean that hold 95 %."""
DRAWN: Final = 200
"""Points of a picture, at most."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A job as its owner knows it, in seconds. `work` is useful running time, checkpoint writes come on top."""

    work: int
    deadline: int | None
    restart: int
    checkpoint_every: int
    checkpoint_write: int
    nodes: int = 1
    held: int = 0
    """Nodes that stay and are billed while the gang waits for the others."""
    probe: int = 0
    """What a probe is billed for, in seconds of one node."""

    @property
    def cycle(self) -> Cycle:
        """What the job repeats."""
        return Cycle(self.checkpoint_every, self.checkpoint_write, self.restart)

    @property
    def running(self) -> int:
        """Running time without an eviction and without a start."""
        return round(self.work * self.cycle.overhead)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked: a resolved policy with its prices in USD per node hour, a job, markets, and how many of them."""

    policy: Policy
    task: Task
    on_demand: Tier
    """What the job would run on without spot: the policy's own tier, or the same machines."""
    source: Source
    runs: int
    limits: Mapping[str, int]
    """Pool -> the most nodes it may have."""
    assumed: frozenset[str] = frozenset()
    """Pools whose price nobody has seen in this place."""
    workers: int | None = None

    @property
    def on_demand_usd(self) -> float:
        """Per node hour."""
        return self.on_demand.usd or 0.0

    @property
    def spot_usd(self) -> tuple[float, ...]:
        """Per node hour, a spot tier each."""
        return tuple(tier.usd or 0.0 for tier in self.policy.spot)

    @property
    def job(self) -> Job:
        """The job as the simulator takes it: work and checkpoint intervals with the writes in them."""
        task = self.task
        return Job(
            work=task.running,
            deadline=WITHOUT if task.deadline is None else task.deadline,
            changeover=task.restart,
            on_demand_usd=self.on_demand_usd,
            spot_usd=self.spot_usd,
            nodes=task.nodes,
            checkpoint_every=task.checkpoint_every + task.checkpoint_write,
            held=task.held,
            probe=task.probe,
        )

    @property
    def on_demand_alone_usd(self) -> float:
        """The whole job without spot, its first start included: what a saving is a share of."""
        return (self.task.restart + self.task.running) * self.on_demand_usd * self.task.nodes / HOUR


class Span(NamedTuple):
    """A part of one run, in seconds from the job's creation; `pool` is None while the job waits."""

    pool: str | None
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one policy comes to. Shares of 1, USD, seconds; means over all runs."""

    candidate: Candidate
    mean_usd: float
    saving: float
    saving_error: float
    """Standard error; not a number where all runs share one stretch of one record."""
    finish_median: float | None
    finish_p95: float | None
    """None where so many runs did not end in the record."""
    evictions: float
    spot_share: float
    """Of the running time."""
    late: float | None
    """Chance to miss the deadline; None without one."""
    unfinished: float
    """Share of runs that the market's record ended before the work did."""
    spot: float
    on_demand: float
    waiting: float
    points: tuple[tuple[float, float], ...]
    """Finish and cost of some runs."""
    timeline: tuple[Span, ...]
    """One run, on the market on which the policy as written cost what it costs in half of all runs."""
    measured: Measured
    same: tuple[str, ...] = ()
    """Other policies that came to the same in every single run, and so have no line."""

    @property
    def missed(self) -> float:
        """The chance that counts against a policy: to be late, and without a deadline not to end in the record."""
        return self.unfinished if self.late is None else self.late

    @property
    def saving_interval(self) -> tuple[float, float]:
        """95 % of it; the mean twice where nobody knows."""
        error = 0.0 if isnan(self.saving_error) else CERTAIN * self.saving_error
        return self.saving - error, self.saving + error


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Every policy of the neighbourhood, the one as written first."""

    request: Request
    lines: tuple[Line, ...]

    @property
    def written(self) -> Line:
        """The policy as written."""
        return self.lines[0]

    @property
    def basis(self) -> Line:
        """What the neighbours differ from in one setting: the policy as written, with this job's restart."""
        return next((line for line in self.lines if line.candidate.changes == JOB), self.written)

    def named(self, name: str) -> Line | None:
        """A policy by its name here, or by that of one that came to the same."""
        return next((line for line in self.lines if name in {line.candidate.name, *line.same}), None)

    def gain(self, line: Line, over: Line) -> tuple[float, float]:
        """By how much one policy saves more than another, run by run on the same market, and its standard error."""
        difference = (over.measured.usd - line.measured.usd) / self.request.on_demand_alone_usd
        return float(difference.mean()), error_of_mean(difference, line.measured.units)


def make_plan(request: Request) -> Plan:
    """Measure a policy and its neighbours."""
    task = request.task
    fit = Fit(
        restart=task.restart,
        checkpoint_every=task.checkpoint_every,
        slack_share=None if task.deadline is None else task.deadline / task.work - 1,
    )
    candidates = neighbourhood(request.policy, request.on_demand, fit)
    setup = Setup(tuple(one.policy for one in candidates), request.job, request.source)
    measured = measure(setup, request.runs, request.workers)
    example = _middle(measured[0])
    lines = [_line(request, candidate, runs, example) for candidate, runs in zip(candidates, measured, strict=True)]
    return Plan(request=request, lines=tuple(_different(lines)))


def _different(lines: Sequence[Line]) -> list[Line]:
    """Policies that came to the same in every single run share a line, but for the two without a rule."""
    kept: list[Line] = []
    for line in lines:
        place = next((n for n, other in enumerate(kept) if _equal(line, other)), None)
        if place is None or line.candidate.yardstick:
            kept.append(line)
        else:
            kept[place] = replace(kept[place], same=(*kept[place].same, line.candidate.name))
    return kept


def _equal(one: Line, other: Line) -> bool:
    mine, yours = one.measured, other.measured
    return np.array_equal(mine.usd, yours.usd) and np.array_equal(mine.finish, yours.finish, equal_nan=True)


def _middle(runs: Measured) -> int:
    """The run whose cost is nearest to the median."""
    return int(np.argmin(np.abs(runs.usd - np.median(runs.usd))))


def _line(request: Request, candidate: Candidate, runs: Measured, example: int) -> Line:
    alone = request.on_demand_alone_usd
    running = runs.spot.sum() + runs.on_demand.sum()
    ended = ~runs.unfinished
    deadline = request.task.deadline
    late = None if deadline is None else float(np.mean(runs.unfinished | (runs.finish > deadline)))
    waits = runs.finish[ended] - runs.spot[ended] - runs.on_demand[ended]
    return Line(
        candidate=candidate,
        mean_usd=float(runs.usd.mean()),
        saving=1 - float(runs.usd.mean()) / alone,
        saving_error=error_of_mean(runs.usd, runs.units) / alone,
        finish_median=_quantile(runs, 0.5),
        finish_p95=_quantile(runs, 0.95),
        evictions=float(runs.evictions.mean()),
        spot_share=float(runs.spot.sum() / running) if running else 0.0,
        late=late,
        unfinished=float(runs.unfinished.mean()),
        spot=float(runs.spot.mean()),
        on_demand=float(runs.on_demand.mean()),
        waiting=float(waits.mean()) if waits.size else 0.0,
        points=tuple(zip(runs.finish[ended][:DRAWN].tolist(), runs.usd[ended][:DRAWN].tolist(), strict=True)),
        timeline=_timeline(candidate.policy, request, example),
        measured=runs,
    )


def _quantile(runs: Measured, share: float) -> float | None:
    """Where so many runs have ended; those that have not come last."""
    finish = np.sort(np.where(runs.unfinished, np.inf, runs.finish))
    found = float(finish[min(int(np.ceil(share * finish.size)) - 1, finish.size - 1)])
    return found if np.isfinite(found) else None


def _timeline(policy: Policy, request: Request, run: int) -> tuple[Span, ...]:
    simulation = Simulation(policy, request.job, request.source.market(run), tick=CONTINUOUS)
    simulation.run()
    spans: list[Span] = []
    now = 0
    for each in simulation.attempts:
        if each.start > now:
            spans.append(Span(None, now, each.start))
        spans.append(Span(*each))
        now = each.end
    if simulation.now > now:
        spans.append(Span(None, now, simulation.now))
    return tuple(spans)
