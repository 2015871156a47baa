"""The rule on several spot tiers of one price: zones of 2023 side by side, beside shared/reference/several-zones.md."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations
from random import Random
from statistics import fmean
from typing import Final

from benchmarks.markets import ZONE_CELLS, Cores, Task, Zones, outcomes
from benchmarks.pages import table
from benchmarks.reference import GOLDEN_OPTIMA, PROBE_SECONDS, ZONES
from spotproof.economics.replay import Baseline, Omniscient, Ours, pace_policy
from spotproof.fallback.policy import Order

LISTED, LEAST_RECENT = Order.LISTED, Order.LEAST_RECENTLY_FAILED
GOLDEN: Final[Mapping[Order, tuple[tuple[int, float, float, float], ...]]] = {
    LISTED: (
        (44, 0.2, 41.5663, 41.4557), (50, 0.2, 40.1120, 40.2012),
        (56, 0.2, 40.1120, 40.1905), (44, 0.5, 51.7990, 54.4548),
    ),
    LEAST_RECENT: (
        (44, 0.2, 41.8374, 41.0704), (50, 0.2, 40.3228, 40.0211),
        (56, 0.2, 40.3228, 40.0071), (44, 0.5, 56.3504, 51.5137),
    ),
}  # fmt: skip
"""Deadline, changeover, USD of window 0, and the mean of 100 windows: section 7."""
ORDERS: Final[Mapping[int, int]] = {1: 1, 2: 2, 3: 6, 4: 6, 5: 30}
"""Orders of each set of so many zones: all of them up to three, then as many drawn by a fixed seed."""
PUBLISHED: Final[Mapping[str, tuple[float | None, ...]]] = {
    "UP, longest up": (40.3, 56.1, 62.0, 64.2, 65.2),
    "spotproof, listed": (42.8, 58.5, 63.6, 65.3, 65.9),
    "spotproof, least recently failed": (42.8, 58.5, 63.7, 65.5, 66.2),
    "the same, asking every 30 min": (41.9, 57.8, 63.1, None, 65.8),
    "optimum": (None, 61.8, 66.1, 67.3, 67.6),
}
"""Percent by number of zones, means over the orders of the list: sections 2 and 6."""
PUBLISHED_CELLS: Final[Mapping[str, tuple[float, ...]]] = {
    "mean single zone": (46.0, 39.4, 27.8, 49.3, 44.6, 37.7, 51.6, 47.4, 41.5),
    "UP, longest up": (67.3, 64.8, 55.2, 67.9, 66.7, 64.3, 68.0, 67.2, 65.4),
    "spotproof, least recently failed": (67.7, 66.5, 58.5, 68.0, 67.4, 66.0, 68.0, 67.4, 66.3),
    "optimum": (68.0, 67.6, 66.2, 68.1, 67.9, 67.3, 68.1, 67.9, 67.5),
}
"""Percent by cell for five zones, longest up: section 2."""
UP: Final = "uniform-progress"
ALL_CELLS: Final = range(len(ZONE_CELLS))


def pace(market: Zones, order: Order = LEAST_RECENT, minutes: int = 0) -> Task:
    """The rule on some zones; asking every so many minutes from on-demand, a minute of spot each."""
    one = market.job._replace(probe=PROBE_SECONDS if minutes else 0)
    return Task(Ours(pace_policy(one, probe_every=60 * minutes, order=order)), one, market)


def golden(cores: Cores) -> str:
    """USD of five zones, to the cent."""
    tasks: list[tuple[str, float, float, Task]] = []
    for order, figures in GOLDEN.items():
        for deadline, changeover, first, mean in figures:
            market = Zones(ZONES, ZONE_CELLS.index((deadline, changeover)))
            tasks.append((f"{order.value}, {deadline} h, {changeover} h", first, mean, pace(market, order)))
    for deadline, changeover, first, mean in GOLDEN_OPTIMA:
        market = Zones(ZONES, ZONE_CELLS.index((deadline, changeover)))
        tasks.append((f"optimum, {deadline} h, {changeover} h", first, mean, Task(Omniscient(), market.job, market)))
    lines: list[Sequence[object]] = []
    found = cores.pool.map(outcomes, [task for *_, task in tasks])
    for (name, first, mean, _), (runs,) in zip(tasks, found, strict=True):
        usd = [each.usd for each in runs]
        lines.append([name, *(f"{each:.4f}" for each in (first, usd[0], mean, fmean(usd)))])
    head = ("order, deadline, restart", "window 0, published", "here", "mean of 100, published", "here")
    return table(head, lines)


def means(cores: Cores) -> str:
    """Mean saving by number of zones; and by cell for all of them."""
    chance = Random(1)  # noqa: S311 - a sample
    subsets = {number: list(combinations(ZONES, number)) for number in ORDERS}
    lists = {
        number: [one for zones in those for one in chance.sample(list(permutations(zones)), ORDERS[number])]
        for number, those in subsets.items()
    }
    late, runs = cores.late, cores.runs
    rows = {
        "spotproof, listed": _by_cell(cores, lists, lambda market: pace(market, LISTED)),
        "spotproof, least recently failed": _by_cell(cores, lists, pace),
        "the same, asking every 30 min": _by_cell(cores, lists, lambda market: pace(market, minutes=30)),
    }
    late, runs = cores.late - late, cores.runs - runs
    rows["UP, longest up"] = _by_cell(cores, lists, lambda market: Task(Baseline(UP), market.job, market))
    rows["optimum"] = _by_cell(cores, subsets, lambda market: Task(Omniscient(), market.job, market))
    by_number = [
        line
        for name, published in PUBLISHED.items()
        for line in ([name, *(fmean(rows[name][number]) for number in ORDERS)], ["published", *published])
    ]
    all_zones = {name: rows[name][len(ZONES)] for name in PUBLISHED_CELLS if name in rows}
    all_zones["mean single zone"] = rows["spotproof, listed"][1]
    by_cell = [
        line
        for name, published in PUBLISHED_CELLS.items()
        for line in ([name, *all_zones[name]], ["published", *published])
    ]
    names = (f"{deadline} h, {changeover} h" for deadline, changeover in ZONE_CELLS)
    return (
        f"{table(('zones', *map(str, ORDERS)), by_number)}\n\n{runs:,} runs of the rule, {late} of them late.\n\n"
        + table(("deadline, restart", *names), by_cell)
    )


def _by_cell(
    cores: Cores, sets: Mapping[int, Sequence[tuple[str, ...]]], task: Callable[[Zones], Task]
) -> dict[int, list[float]]:
    """Percent by number of zones: a cell each, the mean over the sets of zones."""
    markets = {
        (number, cell): [Zones(names, cell) for names in those] for number, those in sets.items() for cell in ALL_CELLS
    }
    found = cores.means({key: [task(market) for market in those] for key, those in markets.items()})
    return {number: [found[number, cell] for cell in ALL_CELLS] for number in sets}
