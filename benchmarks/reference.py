"""Published and computed figures of baselines and optimum on ../shared/traces, each beside what this tree gives.

The traces are no part of the repository; `folder` is theirs. What is compared: all of reference_figures.json, the
golden figures of one market (Uniform Progress) and of five side by side (the optimum), and the savings per cell of the
grid on the development traces. Some published tables are over traces that are not there, and cannot be repeated.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final, NamedTuple

from spotproof.economics.baselines import (
    greedy,
    on_demand,
    reversible,
    spot_only,
    sticky,
    uniform_progress,
    up_plus,
    with_safety_net,
)
from spotproof.economics.omniscient import least_costs
from spotproof.economics.outcome import Job
from spotproof.economics.probed import simulate_probed
from spotproof.economics.starts import Every, Run, read_starts, runs
from spotproof.economics.ticks import HOUR, Policy, simulate
from spotproof.economics.traces import Trace, read_trace

ON_DEMAND_USD: Final = 3.06
SPOT_USD: Final = 0.9731
EVERY_TENTH: Final = Every(10)
OMNISCIENT: Final = "omniscient"

POLICIES: Final[Mapping[str, Policy]] = {
    "on-demand": on_demand,
    "greedy": greedy,
    "uniform-progress": uniform_progress,
    "sticky M=0 tau=none guard": sticky(0, None),
    "sticky M=3 tau=2h guard": sticky(3, 2 * HOUR),
    "sticky M=10 tau=4h guard": sticky(10, 4 * HOUR),
    "sticky M=-1 tau=2h guard": sticky(-1, 2 * HOUR),
    "sticky M=5 tau=2h no-guard": sticky(5, 2 * HOUR, guard=False),
    "spot only, wait": spot_only,
    "on-demand only": on_demand,
    "greedy, 1d safety net": with_safety_net(spot_only, changeovers=1),
}
"""By the names of reference_figures.json."""


class Figure(NamedTuple):
    """One figure to compare; `tolerance` is half of the last digit that is printed, where it is exact."""

    name: str
    expected: float
    got: float
    tolerance: float

    @property
    def equal(self) -> bool:
        """Whether the two agree in every digit that is printed."""
        return abs(self.expected - self.got) <= self.tolerance


class Cell(NamedTuple):
    """One cell of the grid: a set of traces; work, deadline and changeover in hours; percent saved as published."""

    folder: str
    work: int
    deadline: int
    changeover: float
    savings: Mapping[str, float]


DEVELOPMENT_COLUMNS: Final = ("greedy", "uniform-progress", "up-plus", OMNISCIENT)
_GRID: Final = (
    ("probe-1node-2022", 48, 52, 0.05, (23.1, 33.5, 36.7, 39.3)),
    ("probe-1node-2022", 48, 52, 0.2, (19.9, 24.0, 27.4, 34.7)),
    ("probe-1node-2022", 48, 56, 0.2, (25.8, 30.7, 33.2, 37.5)),
    ("probe-1node-2022", 48, 60, 0.05, (33.5, 40.5, 41.2, 43.4)),
    ("probe-1node-2022", 48, 60, 0.2, (29.9, 33.9, 35.6, 39.4)),
    ("probe-1node-2022", 48, 60, 0.5, (25.0, 25.3, 28.5, 34.7)),
    ("probe-1node-2022", 48, 70, 0.2, (35.9, 37.8, 39.2, 42.9)),
    ("probe-1node-2022", 48, 80, 0.2, (39.2, 39.7, 41.5, 45.3)),
    ("probe-1node-2023", 40, 44, 0.2, (29.5, 35.1, 37.6, 44.0)),
    ("probe-1node-2023", 40, 50, 0.2, (37.9, 42.8, 44.3, 47.5)),
    ("probe-1node-2023", 40, 56, 0.2, (43.4, 45.6, 46.9, 49.8)),
)
CELLS: Final = tuple(
    Cell(folder, work, deadline, changeover, dict(zip(DEVELOPMENT_COLUMNS, savings, strict=True)))
    for folder, work, deadline, changeover, savings in _GRID
)
"""The 11 cells of shared/reference/beyond-up.md section 3, with its development table."""
REVERSIBLE: Final = (29.6, 23.7, 31.0, 37.7, 33.9, 27.6, 35.7, 36.0, 33.4, 42.8, 43.4)
"""The same cells for a policy whose exact form is not published."""
PROBED: Final[Mapping[int, float]] = {600: 34.6, 1800: 35.1, 3600: 35.1}
"""Mean saving of Uniform Progress over the cells by seconds between probes: shared/reference/beyond-up.md section 5."""
PROBE_SECONDS: Final = 60
"""What one probe costs in the published comparison, in seconds of one spot node; a failed one costs the same."""

GOLDEN_UP: Final = (
    ("probe-1node-2022/2022-10-26_us-west-2a_k80_1", 48, 52, 0.05, 60.4124),
    ("probe-1node-2022/2022-10-26_us-west-2a_k80_1", 48, 52, 0.2, 70.2900),
    ("probe-1node-2022/2022-10-26_us-west-2a_k80_1", 48, 60, 0.2, 61.7333),
    ("probe-1node-2022/2022-10-26_us-west-2a_k80_1", 48, 60, 0.5, 81.7894),
    ("probe-1node-2023/windows60h_us-east-1f_v100_1", 40, 44, 0.2, 100.3695),
    ("probe-1node-2023/windows60h_us-east-1f_v100_1", 40, 50, 0.2, 74.6858),
    ("probe-1node-2023/windows60h_us-east-1f_v100_1", 40, 56, 0.2, 63.2535),
)
"""USD of Uniform Progress from the first tick, of the first window: shared/reference/beyond-up.md section 6."""
GOLDEN_UP_MEAN: Final = 59.5357
"""The first of them, deadline 60 h and changeover 0.2 h, mean over its 353 starts."""
GOLDEN_OPTIMA: Final = (
    (44, 0.2, 39.3213, 39.6637),
    (50, 0.2, 39.3213, 39.3340),
    (56, 0.2, 39.1632, 39.2939),
    (44, 0.5, 39.9012, 41.3996),
)
"""USD of the optimum on five zones, first window and mean of all: shared/reference/several-zones.md section 7."""
ZONES: Final = ("us-east-1a", "us-east-1f", "us-east-2a", "us-west-2a", "us-west-2c")


def job(work: float, deadline: float, changeover: float, tiers: int = 1) -> Job:
    """A job by hours, at the prices of the published figures."""
    seconds = [round(hours * HOUR) for hours in (work, deadline, changeover)]
    return Job(seconds[0], seconds[1], seconds[2], ON_DEMAND_USD, (SPOT_USD,) * tiers)


def traces(folder: Path, name: str) -> list[Trace]:
    """All development traces of a set, by name; a list of starts beside them is none."""
    return [read_trace(path) for path in sorted((folder / name).glob("*_*.json"))]


def zones(folder: Path) -> list[Trace]:
    """The five zones of 2023 in the order of the published figures."""
    return [read_trace(folder / "probe-1node-2023" / f"windows60h_{zone}_v100_1.json") for zone in ZONES]


def costs(policy: str | Policy, one: Job, gap: int, starts: Iterable[Run]) -> list[float]:
    """USD of every run, of a policy by name or as it is, or of the optimum."""
    markets = [run.capacities for run in starts]
    if policy == OMNISCIENT:
        return least_costs(one, gap, markets)
    asked = POLICIES[policy] if isinstance(policy, str) else policy
    return [simulate(asked, one, gap, market).usd for market in markets]


def exact_single_runs(folder: Path) -> Iterator[Figure]:
    """The figures that others published, to the digits they printed."""
    for row in _reference(folder)["exact_single_runs"]:
        trace = read_trace(folder / "probe-1node-2022" / f"{row['trace']}.json")
        one, name = job(row["C"], row["R"], row["d"]), f"{row['trace']}, {row['policy']}"
        if "cost" in row:
            (capacity,) = (window.capacity[row["start_tick"] :] for window in trace.windows)
            got = simulate(POLICIES[row["policy"]], one, trace.gap_seconds, (capacity,)).usd
            yield Figure(name, row["cost"], got, 0.00005)
            continue
        source, _, key = row["start_ticks"].partition(" ")
        starts = runs([trace], read_starts(f"{folder / 'probe-1node-2022' / source}:{key}"), one.deadline)
        if row["policy"].startswith(OMNISCIENT):
            twice = "double charge" in row["policy"]
            found = least_costs(one, trace.gap_seconds, [run.capacities for run in starts], late_start_twice=twice)
        else:
            found = costs(row["policy"], one, trace.gap_seconds, starts)
        yield Figure(f"{name}, mean of {len(found)}", row["mean_cost"], fmean(found), 0.00005)
        yield Figure(f"{name}, standard deviation", row["std"], pstdev(found), 0.00005)


def rows(folder: Path) -> list[dict[str, Any]]:
    """The 75 rows of reference_figures.json."""
    return _reference(folder)["runs"]


def row_figures(folder: Path, row: Mapping[str, Any]) -> Iterator[Figure]:
    """One row: mean cost of every policy, and its late runs."""
    trace, one = read_trace(folder / row["trace"]), job(row["C"], row["R"], row["d"])
    markets = [run.capacities for run in runs([trace], EVERY_TENTH, one.deadline)]
    name = f"{trace.name}, {row['R']} h, {row['d']} h"
    yield Figure(f"{name}, runs", row["runs"], len(markets), 0)
    for policy, expected in row["policies"].items():
        if policy == OMNISCIENT:
            mean = fmean(least_costs(one, trace.gap_seconds, markets))
        else:
            outcomes = [simulate(POLICIES[policy], one, trace.gap_seconds, market) for market in markets]
            mean = fmean(outcome.usd for outcome in outcomes)
            late = sum(outcome.late(one.deadline) for outcome in outcomes)
            yield Figure(f"{name}, {policy}, late", expected["late"], late, 0)
        yield Figure(f"{name}, {policy}", expected["mean_cost"], mean, 0.000051)


def golden(folder: Path) -> Iterator[Figure]:
    """Golden figures of Uniform Progress in one market, and of the optimum in five."""
    for path, work, deadline, changeover, usd in GOLDEN_UP:
        trace, one = read_trace(folder / f"{path}.json"), job(work, deadline, changeover)
        got = simulate(uniform_progress, one, trace.gap_seconds, (trace.windows[0].capacity,)).usd
        yield Figure(f"uniform-progress, {trace.name}, {deadline} h, {changeover} h", usd, got, 0.00005)
    trace, one = read_trace(folder / f"{GOLDEN_UP[0][0]}.json"), job(48, 60, 0.2)
    found = costs(uniform_progress, one, trace.gap_seconds, runs([trace], EVERY_TENTH, one.deadline))
    yield Figure(f"uniform-progress, {trace.name}, mean of {len(found)}", GOLDEN_UP_MEAN, fmean(found), 0.00005)
    for deadline, changeover, first, mean in GOLDEN_OPTIMA:
        one = job(40, deadline, changeover, tiers=5)
        found = costs(OMNISCIENT, one, 195, runs(zones(folder), EVERY_TENTH, one.deadline))
        name = f"{OMNISCIENT}, five zones, {deadline} h, {changeover} h"
        yield Figure(f"{name}, window 0", first, found[0], 0.00005)
        yield Figure(f"{name}, mean", mean, fmean(found), 0.00005)


def savings(folder: Path, cell: Cell, policy: str | Policy) -> float:
    """Percent of the work's price on on-demand, every trace with the same weight."""
    one = job(cell.work, cell.deadline, cell.changeover)
    return _saved(
        one,
        (
            costs(policy, one, trace.gap_seconds, runs([trace], EVERY_TENTH, one.deadline))
            for trace in traces(folder, cell.folder)
        ),
    )


def development(folder: Path) -> Iterator[Figure]:
    """Savings per cell of the grid, and the mean with sight by probes only."""
    columns: dict[str, str | Policy] = {name: name for name in DEVELOPMENT_COLUMNS}
    columns["up-plus"] = up_plus
    for cell, of_reversible in zip(CELLS, REVERSIBLE, strict=True):
        name = f"{cell.folder[-4:]}, {cell.deadline} h, {cell.changeover} h, saving"
        for policy, expected in cell.savings.items():
            yield Figure(f"{name}, {policy}", expected, savings(folder, cell, columns[policy]), 0.0501)
        yield Figure(f"{name}, reversible", of_reversible, savings(folder, cell, reversible()), 0.35)
    for seconds, expected in PROBED.items():
        mean = fmean(_probed(folder, cell, seconds) for cell in CELLS)
        yield Figure(f"uniform-progress, mean saving, probed every {seconds // 60} min", expected, mean, 0.0501)


def all_figures(folder: Path) -> list[Figure]:
    """Everything of this file; some two minutes."""
    compared = (figure for row in rows(folder) for figure in row_figures(folder, row))
    return [*exact_single_runs(folder), *compared, *golden(folder), *development(folder)]


def _probed(folder: Path, cell: Cell, every: int) -> float:
    one = job(cell.work, cell.deadline, cell.changeover)._replace(probe=PROBE_SECONDS)
    return _saved(
        one,
        (
            [
                simulate_probed(uniform_progress, one, trace.gap_seconds, run.capacities[0], every).usd
                for run in runs([trace], EVERY_TENTH, one.deadline)
            ]
            for trace in traces(folder, cell.folder)
        ),
    )


def _saved(one: Job, by_trace: Iterable[Sequence[float]]) -> float:
    whole = one.work / HOUR * one.on_demand_usd
    return fmean(100 * (1 - fmean(found) / whole) for found in by_trace)


def _reference(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "reference_figures.json").read_text(encoding="utf-8"))


def main() -> None:
    """Print what differs, and how many figures agree."""
    figures = all_figures(Path(sys.argv[1]))
    for figure in figures:
        if not figure.equal:
            print(f"{figure.name}: {figure.expected} expected, {figure.got:.4f} got")
    print(f"{sum(figure.equal for figure in figures)} of {len(figures)} figures agree in every printed digit")


if __name__ == "__main__":
    main()
