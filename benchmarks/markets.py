"""The recorded markets of ../shared/traces as tasks for every core, each read once by each process."""

import os
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple, TypeVar
from unittest.mock import patch

from benchmarks.reference import CELLS, Cell, job, traces
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.replay import Contender, Record, Summary, records, summary
from spotproof.economics.starts import Every
from spotproof.economics.traces import Trace, read_trace

ROOT: Final = Path(__file__).resolve().parent.parent
SHARED: Final = Path(os.environ.get("SPOTPROOF_SHARED", ROOT.parent / "shared")) / "traces"
ZONE_CELLS: Final = tuple((deadline, changeover) for deadline in (44, 50, 56) for changeover in (0.05, 0.2, 0.5))
"""Deadline and changeover in hours, for 40 hours of work: the nine cells of shared/reference/several-zones.md."""
ZONE_WORK: Final = 40
Key = TypeVar("Key")


class Development(NamedTuple):
    """All development traces of one of CELLS; every `thin`-th run of each."""

    cell: int
    thin: int = 1

    @property
    def job(self) -> Job:
        """Of the cell."""
        cell = CELLS[self.cell]
        return job(cell.work, cell.deadline, cell.changeover)

    def records(self) -> list[Record]:
        """A trace each."""
        return [_thinned(each, self.thin) for each in _development(CELLS[self.cell].folder, self.job.deadline)]


class Zones(NamedTuple):
    """Zones of 2023 as spot tiers, in this order, for one of ZONE_CELLS; every `thin`-th window."""

    zones: tuple[str, ...]
    cell: int
    thin: int = 1

    @property
    def job(self) -> Job:
        """Of the cell, with a tier a zone."""
        return job(ZONE_WORK, *ZONE_CELLS[self.cell], tiers=len(self.zones))

    def records(self) -> list[Record]:
        """All of them side by side: one."""
        those = [_zone(name) for name in self.zones]
        found = records(those, Every(), self.job.deadline, as_tiers=True)
        return [_thinned(_cut(each, self.job.deadline), self.thin) for each in found]


class Task(NamedTuple):
    """A policy and a job on some markets."""

    contender: Contender
    job: Job
    market: Development | Zones


def _thinned(record: Record, thin: int) -> Record:
    return record._replace(runs=record.runs[::thin])


def _cut(record: Record, deadline: int) -> Record:
    """Without what comes after the deadline and the tick in which it falls: no policy here is late."""
    ticks = deadline // record.gap + 2
    return record._replace(
        runs=tuple(run._replace(capacities=tuple(each[:ticks] for each in run.capacities)) for run in record.runs)
    )


@cache
def _development(folder: str, deadline: int) -> list[Record]:
    return [_cut(each, deadline) for each in records(_set(folder), Every(10), deadline)]


@cache
def _set(folder: str) -> list[Trace]:
    return traces(SHARED, folder)


@cache
def _zone(name: str) -> Trace:
    return read_trace(SHARED / "probe-1node-2023" / f"windows60h_{name}_v100_1.json")


def outcomes(task: Task) -> list[list[Outcome]]:
    """Every run of a task, by trace."""
    return [task.contender(task.job, record) for record in task.market.records()]


def summaries(task: Task) -> list[Summary]:
    """A trace each."""
    return [summary(task.job, found) for found in outcomes(task)]


def saved(found: Sequence[Summary]) -> float:
    """Percent, every trace weighing the same."""
    return fmean(each.saved_percent for each in found)


@dataclass
class Cores:
    """All cores, and how many runs of ours were late on any of them."""

    pool: ProcessPoolExecutor
    runs: int = 0
    late: int = 0

    def summaries(self, tasks: Sequence[Task]) -> list[list[Summary]]:
        """Of every task, in their order."""
        found = list(self.pool.map(summaries, tasks, chunksize=max(len(tasks) // 64, 1)))
        self.runs += sum(each.runs for those in found for each in those)
        self.late += sum(each.late for those in found for each in those)
        return found

    def saved(self, tasks: Sequence[Task]) -> list[float]:
        """Percent, of every task."""
        return [saved(each) for each in self.summaries(tasks)]

    def means(self, tasks: Mapping[Key, Sequence[Task]]) -> dict[Key, float]:
        """Percent by key, the mean over its tasks."""
        found = self.saved([task for those in tasks.values() for task in those])
        ends = [0]
        for those in tasks.values():
            ends.append(ends[-1] + len(those))
        return {key: fmean(found[start:end]) for key, (start, end) in zip(tasks, pairwise(ends), strict=True)}


@contextmanager
def cores() -> Generator[Cores]:
    """All cores, until the block ends."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield Cores(pool)


@dataclass(frozen=True)
class Patched:
    """A contender under other values of a module's names: what the product has no setting for, and needs none."""

    contender: Contender
    module: str
    values: Mapping[str, Any]

    def __call__(self, one: Job, record: Record) -> list[Outcome]:
        """Every run of a record."""
        with patch.multiple(self.module, **self.values):
            return self.contender(one, record)


def cell_name(cell: Cell) -> str:
    """As the tables have it."""
    return f"{cell.folder[-4:]}, {cell.deadline} h, {cell.changeover} h"
