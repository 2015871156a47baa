"""The closed form against the process it describes, played out."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from spotproof.economics.model import FOR_EVER, Conditions, expect
from spotproof.economics.monte_carlo import play
from tests.unit.economics.conditions import conditions

RUNS = 20_000
MARKETS = (0.1, 0.4, 1.0)
COUNTS = (FOR_EVER, 0, 1, 5, 10)
OUTAGES = ((0.0, 3600.0), (5400.0, 3600.0))
# 50 min does not divide the work; writes of none, a minute and five
CYCLES = ((1800, 60, 720), (3000, 300, 1800), (900, 0, 360))


def grid(hours: float) -> list[Conditions]:
    """Every market, count, outage and cycle, for a job of so many hours."""
    return [
        conditions(
            hours=hours,
            evictions_per_hour=rate,
            max_failures=count,
            outage_seconds=outage,
            pending_timeout_seconds=timeout,
            every=every,
            write=write,
            restart=restart,
        )
        for rate, count, (outage, timeout), (every, write, restart) in product(MARKETS, COUNTS, OUTAGES, CYCLES)
    ]


def worst(hours: float) -> dict[str, float]:
    """The largest difference on the grid: cost and times relative, shares as they are."""
    found = {"usd": 0.0, "wall": 0.0, "useful": 0.0, "all on spot": 0.0}
    for number, job in enumerate(grid(hours)):
        expected, played = expect(job), play(job, RUNS, seed=number)
        differences = {
            "usd": expected.usd / played.usd(job).mean() - 1,
            "wall": expected.wall_seconds / played.wall.mean() - 1,
            "useful": expected.useful_share - played.useful.mean() / job.work_seconds,
            "all on spot": expected.all_on_spot - (played.on_demand == 0).mean(),
        }
        found = {name: max(found[name], abs(float(value))) for name, value in differences.items()}
    return found


def test_the_closed_form_agrees_within_1_per_cent_for_48_hours() -> None:
    assert {name: value for name, value in worst(48).items() if value > 0.01} == {}


def test_the_closed_form_agrees_within_2_per_cent_for_5_hours() -> None:
    # 8 is what a Poisson number of evictions would need
    assert {name: value for name, value in worst(5).items() if value > 0.02} == {}


def test_the_same_seed_gives_the_same_runs_and_another_one_others() -> None:
    job = conditions(max_failures=3)

    assert np.array_equal(play(job, 50, seed=1).wall, play(job, 50, seed=1).wall)
    assert not np.array_equal(play(job, 50, seed=1).wall, play(job, 50, seed=2).wall)


@pytest.mark.parametrize("tolerated", [0, 1, 4])
def test_eviction_m_plus_1_moves_a_run_and_none_before(tolerated: int) -> None:
    played = play(conditions(max_failures=tolerated, evictions_per_hour=1.0), 2000, seed=3)

    assert set(played.evictions[played.on_demand > 0]) == {tolerated + 1}
    assert played.evictions[played.on_demand == 0].max(initial=0) <= tolerated


def test_every_run_does_all_of_its_work() -> None:
    job = conditions(max_failures=2, evictions_per_hour=0.5)
    played = play(job, 2000, seed=4)

    rest = (played.on_demand - job.cycle.restart) / job.cycle.overhead
    assert np.allclose(np.where(played.on_demand > 0, played.useful + rest, played.useful), job.work_seconds)


def test_held_nodes_and_the_head_are_paid_as_in_the_closed_form() -> None:
    job = replace(conditions(nodes=4, outage_seconds=5400), nodes_held_waiting=3, always_on_usd_per_hour=0.4)

    assert play(job, RUNS, seed=5).usd(job).mean() == pytest.approx(expect(job).usd, rel=0.01)


def test_a_market_that_saves_nothing_is_not_played_for_ever() -> None:
    with pytest.raises(ValueError, match="never be done"):
        play(conditions(evictions_per_hour=100.0), 10, seed=0)


def test_without_evictions_nothing_is_drawn() -> None:
    played = play(conditions(evictions_per_hour=0.0), 3, seed=0)

    assert list(played.evictions) == [0, 0, 0]
    assert played.spot == pytest.approx([48 * 3600 * 31 / 30] * 3)
