"""The closed form against the process it describes, played out."""

from itertools import product
from typing import Final

from benchmarks.markets import Cores
from benchmarks.pages import table
from spotproof.economics.checkpoints import Cycle
from spotproof.economics.model import FOR_EVER, Conditions, expect
from spotproof.economics.monte_carlo import play

HOURS: Final = (48, 24, 5)
RUNS: Final = 20_000
RATES: Final = (0.1, 0.4, 1.0)
"""Evictions per running hour."""
COUNTS: Final = (FOR_EVER, 0, 1, 5, 10)
OUTAGES: Final = (0.0, 5400.0)
CYCLES: Final = (Cycle(1800, 60, 720), Cycle(3000, 300, 1800), Cycle(900, 0, 360))
"""Seconds between checkpoints, of one, and of a restart."""


def closed_form(cores: Cores) -> str:
    """The largest differences in percent of what was played, and in points of the share of the work done on spot."""
    lines: list[tuple[object, ...]] = []
    for hours in HOURS:
        grid = [
            Conditions(
                work_seconds=3600 * hours,
                on_demand_usd=1.0,
                spot_share=0.33,
                evictions_per_hour=rate,
                cycle=cycle,
                max_failures=count,
                outage_seconds=outage,
                pending_timeout_seconds=3600.0,
            )
            for rate, count, outage, cycle in product(RATES, COUNTS, OUTAGES, CYCLES)
        ]
        found = list(cores.pool.map(_differences, grid, chunksize=8))
        worst = [max(abs(each) for each in column) for column in zip(*found, strict=True)]
        lines.append((f"{hours} h", len(grid), *worst))
    return table(("job", "settings", "cost, %", "time, %", "share on spot, points"), lines)


def _differences(one: Conditions) -> tuple[float, float, float]:
    expected, played = expect(one), play(one, RUNS, seed=1)
    return (
        100 * (expected.usd / float(played.usd(one).mean()) - 1),
        100 * (expected.wall_seconds / float(played.wall.mean()) - 1),
        100 * (expected.useful_share - float(played.useful.mean()) / one.work_seconds),
    )
