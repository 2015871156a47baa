"""The rule on one spot tier: published figures, the 11 development cells, sight by probes."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from benchmarks.markets import SHARED, Cores, Development, Task, cell_name
from benchmarks.pages import difference, table
from benchmarks.reference import CELLS, PROBE_SECONDS, Figure, exact_single_runs, golden, row_figures, rows
from benchmarks.yardstick import saving
from spotproof.economics.replay import Baseline, Omniscient, Ours, pace_policy

SHARE: Final = (37.8, 28.7, 33.5, 42.1, 35.8, 28.6, 39.6, 42.4, 39.4, 44.6, 47.4)
"""Column `share` of the development table of shared/reference/beyond-up.md section 3, in the order of CELLS."""
PROBED: Final[Mapping[int, tuple[float, float]]] = {
    0: (38.2, 35.3),
    10: (36.9, 34.6),
    30: (37.3, 35.1),
    60: (37.0, 35.1),
}
"""Minutes between probes, 0 for full sight, to the published means of the rule and of Uniform Progress; section 5."""
GOLDEN: Final = (
    ("2022-10-26_us-west-2a_k80_1", 0, 53.1082), ("2022-10-26_us-west-2a_k80_1", 1, 56.8639),
    ("2022-10-26_us-west-2a_k80_1", 4, 49.0497), ("2022-10-26_us-west-2a_k80_1", 5, 52.7584),
    ("windows60h_us-east-1f_v100_1", 8, 81.0764), ("windows60h_us-east-1f_v100_1", 9, 63.5552),
    ("windows60h_us-east-1f_v100_1", 10, 52.4543),
)  # fmt: skip
"""Trace, number of the cell, and USD of the rule from the first tick, of the first window; section 6."""
GOLDEN_MEAN: Final = (4, 55.6017)
"""The first of these traces: cell, and USD, the mean of its runs."""
CENT: Final = 0.00005
"""Half of the last digit that is printed."""
FIRST: Final = 1 << 20
"""As `thin`: the first run alone."""
BASELINES: Final = ("greedy", "reversible", "uniform-progress")
ALL_CELLS: Final = range(len(CELLS))


def pace(market: Development, minutes: int = 0) -> Task:
    """The rule in one cell; with probes every so many minutes, a minute of spot each."""
    one = market.job._replace(probe=PROBE_SECONDS if minutes else 0)
    return Task(Ours(pace_policy(one, probe_every=60 * minutes)), one, market)


def reference(cores: Cores) -> str:
    """What others published beside what this tree gives."""
    compared = list(cores.pool.map(_row_figures, range(len(rows(SHARED)))))
    shown = [*exact_single_runs(SHARED), *golden(SHARED), *_golden()]
    all_figures = [*shown, *(each for found in compared for each in found)]
    agree = sum(each.equal for each in all_figures)
    lines = [(each.name, f"{each.expected:.4f}", f"{each.got:.4f}") for each in shown]
    return (
        f"{agree:,} of {len(all_figures):,} figures agree in every printed digit: the {len(shown)} below, and means "
        f"and late runs in the {len(compared)} rows of reference_figures.json.\n\n"
        + table(("USD", "published", "here"), lines)
    )


def _row_figures(number: int) -> list[Figure]:
    return list(row_figures(SHARED, rows(SHARED)[number]))


def _golden() -> Iterator[Figure]:
    """Runs of the rule."""
    for name, cell, usd in GOLDEN:
        market = Development(cell, FIRST)
        (record,) = (each for each in market.records() if each.name == name)
        (found,) = pace(market).contender(market.job, record)
        yield Figure(f"spotproof, {name}, {CELLS[cell].deadline} h, {CELLS[cell].changeover} h", usd, found.usd, CENT)
    cell, usd = GOLDEN_MEAN
    market = Development(cell)
    those = pace(market).contender(market.job, market.records()[0])
    yield Figure(f"spotproof, {GOLDEN[0][0]}, mean of {len(those)}", usd, fmean(each.usd for each in those), CENT)


def development(cores: Cores) -> str:
    """Percent saved in the 11 cells."""
    markets = [Development(n) for n in ALL_CELLS]
    columns = {name: cores.saved([Task(Baseline(name), each.job, each) for each in markets]) for name in BASELINES}
    found = cores.summaries([pace(each) for each in markets])
    columns["spotproof"] = [fmean(each.saved_percent for each in those) for those in found]
    columns["programme"] = list(cores.pool.map(_programme, ALL_CELLS))
    columns["optimum"] = cores.saved([Task(Omniscient(), each.job, each) for each in markets])
    runs = [sum(each.runs for each in those) for those in found]
    late = [sum(each.late for each in those) for those in found]
    lines: list[Sequence[object]] = [
        [
            cell_name(CELLS[n]), runs[n], *(of[n] for of in columns.values()),
            SHARE[n], difference(columns["spotproof"][n], SHARE[n]), late[n],
        ]
        for n in ALL_CELLS
    ]  # fmt: skip
    means = {name: fmean(of) for name, of in columns.items()}
    ours, up, optimum = (means[name] for name in ("spotproof", "uniform-progress", "optimum"))
    share = fmean(SHARE)
    lines.append(["mean", sum(runs), *means.values(), share, difference(ours, share), sum(late)])
    names = [name.replace("uniform-progress", "UP") for name in columns]
    head = ("set, deadline, restart", "runs", *names, "published", "difference", "late")
    closed = 100 * (ours - up) / (optimum - up)
    return f"{table(head, lines)}\n\nOf what the optimum saves beyond Uniform Progress, the rule gets {closed:.0f} %."


def _programme(number: int) -> float:
    return saving(SHARED, CELLS[number])


def probes(cores: Cores) -> str:
    """Mean over the cells with sight by probes."""
    lines: list[Sequence[object]] = []
    for minutes, (of_share, of_up) in PROBED.items():
        late = cores.late
        ours = fmean(cores.saved([pace(Development(n), minutes) for n in ALL_CELLS]))
        late = cores.late - late
        base = Baseline("uniform-progress", probe_every=60 * minutes)
        jobs = [Development(n).job._replace(probe=PROBE_SECONDS) for n in ALL_CELLS]
        up = fmean(cores.saved([Task(base, one, Development(n)) for n, one in enumerate(jobs)]))
        sight = f"every {minutes} min" if minutes else "all the time"
        lines.append([sight, ours, of_share, up, of_up, late])
    return table(("spot is seen", "spotproof", "published", "UP", "published", "late"), lines)
