"""How long a decision takes, and how many runs a second: the rule is called as the controller calls it."""

import time
from statistics import median
from typing import Any, Final
from unittest.mock import patch

from benchmarks.markets import Cores, Development
from benchmarks.one_zone import pace
from benchmarks.pages import table
from benchmarks.reference import CELLS
from spotproof.economics.replay import Ours, Record, pace_policy, replay
from spotproof.economics.ticks import HOUR
from spotproof.fallback import Decision, decide

RUNS: Final = 10_000
PUBLISHED_CELL: Final = next(n for n, cell in enumerate(CELLS) if (cell.deadline, cell.changeover) == (60, 0.2))
LIVE: Final = 1800
"""Seconds between probes in a cluster."""


def speed(_cores: Cores) -> str:
    """Decisions on this core, runs on all of them."""
    task = pace(Development(PUBLISHED_CELL))
    (first, *_) = task.market.records()
    seen, probed = _asked(first, 0), _asked(first, LIVE)
    lines: list[list[object]] = [
        ["one decision, every tier seen (median of those of 50 recorded runs)", f"{_microseconds(seen):.1f} µs"],
        ["one decision with probes", f"{_microseconds(probed):.1f} µs"],
        ["decisions a run, skipping to the next instant that matters", f"{len(seen) / 50:.0f} of 360 ticks"],
        *_ten_thousand(),
    ]
    return table(("what", "figure"), lines)


def _asked(record: Record, every: int) -> list[tuple[Any, ...]]:
    """What `decide` is asked in 50 runs."""
    one = Development(PUBLISHED_CELL).job
    found: list[tuple[Any, ...]] = []

    def noted(*question: Any) -> Decision:
        policy, state, seen, now = question
        found.append((policy, state, seen._replace(sights=dict(seen.sights)), now))
        return decide(*question)

    with patch("spotproof.economics.simulator.decide", noted):
        Ours(pace_policy(one, probe_every=every))(one, record._replace(runs=record.runs[:50]))
    return found


def _microseconds(questions: list[tuple[Any, ...]]) -> float:
    """Of the fastest of five rounds, which others on the machine disturb least, the median decision."""
    rounds: list[float] = []
    for _ in range(5):
        times: list[int] = []
        for policy, state, seen, now in questions:
            before = time.perf_counter_ns()
            decide(policy, state, seen, now)
            times.append(time.perf_counter_ns() - before)
        rounds.append(median(times) / 1000)
    return min(rounds)


def _ten_thousand() -> list[list[object]]:
    """Runs of a 60 h job: 48 h of work on all 2022 traces, again and again."""
    market = Development(PUBLISHED_CELL)
    every = market.records()
    each = -(-RUNS // len(every))
    many = [record._replace(runs=(record.runs * (each // len(record.runs) + 1))[:each]) for record in every]
    lines: list[list[object]] = []
    for name, continuous in (("in ticks", False), ("in continuous time", True)):
        contender = Ours(pace_policy(market.job), continuous=continuous)
        started = time.perf_counter()
        found = replay(contender, market.job, many)
        seconds = time.perf_counter() - started
        runs = sum(each.runs for each in found)
        hours = market.job.deadline // HOUR
        lines.append([
            f"{runs:,} runs of a {hours} h job {name}, all cores, start of the processes included",
            f"{seconds:.1f} s ({runs / seconds:,.0f} runs a second)",
        ])  # fmt: skip
    return lines
