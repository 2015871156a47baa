"""The four constants of the rule: how flat its optimum is, and whether they are fitted to the traces they are from."""

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Final

from benchmarks.markets import Cores, Development, Patched, Task, summaries
from benchmarks.one_zone import ALL_CELLS, pace
from benchmarks.pages import difference, table
from spotproof.economics.replay import Baseline, Contender, Record, Summary

Setting = tuple[float, ...]

STEPS: Final[Mapping[str, Setting]] = {
    "w0": (0.08, 0.10, 0.12),
    "w1": (0.02, 0.04, 0.06),
    "k": (0.8, 1.0, 1.2),
    "b0": (0.2, 0.3, 0.4),
}
"""As shared/reference/beyond-up.md section 2 calls them: a share, a share an hour, one an hour, hours."""
SHIPPED: Final[Setting] = (0.10, 0.04, 1.0, 0.3)
AT_ONCE: Final = 2
"""Constants that are changed together."""
THIN: Final = 8
"""Of the runs: every eighth."""


NO_AGE: Final = 1e-9
"""As w1 an hour: the outage's age does not count."""
ANY_AGE: Final = 1e9
"""As b0 in hours: the age of spot does not count."""
WITHOUT_AGE: Final = 0.3
"""k an hour where the age of spot does not count: the best of 0.1, 0.2, 0.3, 0.5 and 0.7."""
INGREDIENTS: Final[Mapping[str, Setting]] = {
    "spare share without any age": (0.12, NO_AGE, WITHOUT_AGE, ANY_AGE),
    "with the age of the outage": (0.10, 0.04, WITHOUT_AGE, ANY_AGE),
    "with the age of spot": (0.12, NO_AGE, 1.0, 0.3),
    "with both: the rule": SHIPPED,
}


def with_constants(contender: Contender, setting: Setting) -> Patched:
    """The rule with other constants, in the units of its own."""
    w0, w1, k, b0 = setting
    scale = 3600 / w1
    values = {"SCALE": scale, "KEPT": w0 * scale, "HALVED_AFTER": 3600 * b0, "PER_HOUR": 10 * k * b0}
    return Patched(contender, "spotproof.fallback.spare", values)


def constants(cores: Cores) -> str:
    """Points gained or lost by other constants."""
    settings = [
        setting
        for setting in product(*STEPS.values())
        if sum(one != shipped for one, shipped in zip(setting, SHIPPED, strict=True)) <= AT_ONCE
    ]
    tasks = [(setting, n) for setting in settings for n in ALL_CELLS]
    found = dict(zip(tasks, cores.pool.map(_run, tasks, chunksize=len(ALL_CELLS)), strict=True))
    by_group = {setting: _by_group([found[setting, n] for n in ALL_CELLS]) for setting in settings}
    means = {setting: fmean(of.values()) for setting, of in by_group.items()}
    best = max(means.values()) - means[SHIPPED]
    lines: list[Sequence[object]] = []
    for place, (name, steps) in enumerate(STEPS.items()):
        alone = [(*SHIPPED[:place], step, *SHIPPED[place + 1 :]) for step in steps]
        points = (difference(means[each], means[SHIPPED]) for each in alone)
        lines.append([name, ", ".join(f"{step:g}" for step in steps), *points])
    gained = _cross_validated(by_group)
    groups = "; ".join(f"{name} {points:+.2f}" for name, points in gained.items())
    return (
        f"{table(('constant', 'values', 'lower', 'as it is', 'higher'), lines)}\n\n"
        f"Of {len(settings)} settings that change at most {AT_ONCE} of them, the best is {best:.2f} points better than "
        "what ships. The best without one zone and period, measured there, against what ships: "
        f"{groups}; mean {fmean(gained.values()):+.2f}."
    )


def ingredients(cores: Cores) -> str:
    """What each part of the rule is worth: percent saved, the mean over the cells."""
    lines: list[Sequence[object]] = []
    markets = [Development(n, THIN) for n in ALL_CELLS]
    for name in ("uniform-progress", "up-plus"):
        found = cores.saved([Task(Baseline(name), each.job, each) for each in markets])
        lines.append([name, fmean(found)])
    for name, setting in INGREDIENTS.items():
        tasks = [pace(each) for each in markets]
        found = cores.saved([each._replace(contender=with_constants(each.contender, setting)) for each in tasks])
        lines.append([name, fmean(found)])
    return table(("policy", "saved %"), lines)


def _run(task: tuple[Setting, int]) -> list[tuple[str, Summary]]:
    """By zone and period."""
    setting, number = task
    market = Development(number, THIN)
    shipped = pace(market)
    found = summaries(shipped._replace(contender=with_constants(shipped.contender, setting)))
    return [(_group(record), each) for record, each in zip(market.records(), found, strict=True)]


def _group(record: Record) -> str:
    """Zone and period of a trace, as its name says."""
    period, zone = record.name.split("_")[:2]
    return f"{zone} {'2023' if period.startswith('windows') else period[:7]}"


def _by_group(cells: list[list[tuple[str, Summary]]]) -> dict[str, float]:
    names = dict.fromkeys(name for cell in cells for name, _ in cell)
    return {name: fmean(each.saved_percent for cell in cells for of, each in cell if of == name) for name in names}


def _cross_validated(by_group: Mapping[Setting, Mapping[str, float]]) -> dict[str, float]:
    """By group: what the setting that is best without it saves there, less what the shipped one saves there."""

    def best_without(left_out: str) -> Setting:
        def mean(setting: Setting) -> float:
            return fmean(points for name, points in by_group[setting].items() if name != left_out)

        return max(by_group, key=mean)

    return {name: by_group[best_without(name)][name] - by_group[SHIPPED][name] for name in by_group[SHIPPED]}
