"""Many runs of several policies on the same markets, on all cores."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import nan, sqrt
from multiprocessing import get_context
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spotproof.economics.market import Market
from spotproof.economics.outcome import Job
from spotproof.economics.simulator import Simulation
from spotproof.economics.sources import Source
from spotproof.fallback.policy import Policy
from spotproof.fallback.run import Phase

Numbers: TypeAlias = NDArray[np.float64]

SMALL: Final = 2_000
"""Simulated runs below which starting other processes takes longer than they save: they take a second to import."""
CHUNK: Final = 50
"""Runs handed to a process at a time."""
CONTINUOUS: Final = 1
"""The simulator's tick: decisions, evictions and bills by the second."""


@dataclass(frozen=True)
class Setup:
    """Policies to be measured, the job, and where its markets come from."""

    policies: tuple[Policy, ...]
    job: Job
    source: Source


@dataclass(frozen=True)
class Measured:
    """One entry a run, in seconds and USD; `finish` is not a number where the record ended before the job.

    The cost of such a run has the rest of its work in it at the on-demand price, or it would look cheap.
    """

    usd: Numbers
    finish: Numbers
    evictions: Numbers
    spot: Numbers
    on_demand: Numbers
    units: NDArray[np.int64]
    """Runs of one unit share a stretch of one record."""

    @property
    def unfinished(self) -> NDArray[np.bool_]:
        """Runs that the record ended before the work did."""
        return np.isnan(self.finish)


def measure(setup: Setup, runs: int, workers: int | None = None) -> tuple[Measured, ...]:
    """Every policy in so many runs, in the order of the policies; all of them see the same markets.

    Args:
        setup: What is measured.
        runs: How many runs; run n is the same whatever this number is.
        workers: Processes; left out, one a core, and none beside this one for a few runs.
    """
    chunks = [range(start, min(start + CHUNK, runs)) for start in range(0, runs, CHUNK)]
    count = workers or (os.cpu_count() or 1 if runs * len(setup.policies) > SMALL else 1)
    parts = list(_parallel(setup, chunks, count) if count > 1 else (_chunk(setup, chunk) for chunk in chunks))
    table = np.concatenate(parts, axis=1)
    units = np.array([setup.source.unit(run) for run in range(runs)])
    return tuple(Measured(*(rows[:, column] for column in range(len(_COLUMNS))), units=units) for rows in table)


_COLUMNS: Final = ("usd", "finish", "evictions", "spot", "on_demand")


def _parallel(setup: Setup, chunks: Sequence[range], workers: int) -> Iterator[Numbers]:
    # spawned, not forked: a fork of a process with threads may stop for ever, and is not to be had everywhere
    context = get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(chunks)), context, initializer=_begin, initargs=(setup,)) as pool:
        yield from pool.map(_given, chunks)


_setup: list[Setup] = []


def _begin(setup: Setup) -> None:
    _setup[:] = [setup]


def _given(chunk: range) -> Numbers:
    return _chunk(_setup[0], chunk)


def _chunk(setup: Setup, chunk: range) -> Numbers:
    """Policies x runs x columns."""
    markets = [setup.source.market(run) for run in chunk]
    return np.array([[_row(policy, setup.job, market) for market in markets] for policy in setup.policies])


def _row(policy: Policy, job: Job, market: Market) -> tuple[float, ...]:
    simulation = Simulation(policy, job, market, tick=CONTINUOUS)
    outcome = simulation.run()
    usd = outcome.usd if outcome.finish is not None else outcome.usd + _rest_usd(simulation, job)
    finish = nan if outcome.finish is None else float(outcome.finish)
    return usd, finish, outcome.evictions, outcome.spot, outcome.on_demand


def _rest_usd(simulation: Simulation, job: Job) -> float:
    """A start and the work that was left when the record ended, on on-demand."""
    running = simulation.phase is Phase.RUNNING
    done = simulation.done + (max(simulation.now - simulation.since - job.changeover, 0) if running else 0)
    return (job.changeover + max(job.work - done, 0)) * job.on_demand_usd * job.nodes / 3600


def error_of_mean(values: Numbers, units: NDArray[np.int64]) -> float:
    """The standard error of the mean; runs of one unit count as one, and with one unit nobody knows it (nan)."""
    _, places = np.unique(units, return_inverse=True)
    sums = np.bincount(places, weights=values - values.mean())
    if sums.size < 2:  # noqa: PLR2004
        return nan
    return sqrt(float(np.sum(sums**2)) * sums.size / (sums.size - 1)) / values.size
