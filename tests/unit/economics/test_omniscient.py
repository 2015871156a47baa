"""The optimum with foresight: two methods agree, and no policy is below it."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from benchmarks import reference
from spotproof.economics.baselines import BASELINES
from spotproof.economics.omniscient import least_costs, optima
from spotproof.economics.outcome import Job
from spotproof.economics.starts import Every, runs
from spotproof.economics.ticks import HOUR, simulate
from tests.unit.economics.markets import cases

Case = tuple[Job, int, tuple[str, ...]]


def by_integer_program(job: Job, gap: int, market: Sequence[str]) -> float:
    """The definition as HiGHS reads it: active and start, 0 or 1, of every mode and tick."""
    ticks = -(-job.deadline // gap)
    usd = np.repeat([*job.spot_usd, job.on_demand_usd], ticks) * job.nodes * gap / HOUR
    count = len(usd)
    open_ticks = [float(digit) for capacity in market for digit in capacity[:ticks]] + [1.0] * ticks
    rows = lil_array((ticks + count + 1, 2 * count))
    upper = np.concatenate((np.ones(ticks), np.zeros(count), [np.inf]))
    for index in range(count):
        rows[index % ticks, index] = 1  # one mode a tick
        rows[ticks + index, index], rows[ticks + index, count + index] = 1, -1  # active and not before: a start
        if index % ticks:
            rows[ticks + index, index - 1] = -1
        rows[ticks + count, index], rows[ticks + count, count + index] = gap, -job.changeover
    lower = np.full(len(upper), -np.inf)
    lower[-1] = job.work
    # scipy's stubs know bounds of one number only
    bounds = Bounds(0, np.array(open_ticks + [1.0] * count))  # pyright: ignore[reportArgumentType]
    within = LinearConstraint(rows.tocsc(), lower, upper)  # pyright: ignore[reportArgumentType]
    result = milp(
        np.concatenate((usd, np.zeros(count))),
        integrality=np.ones(2 * count),
        bounds=bounds,
        constraints=within,
        options={"mip_rel_gap": 0},
    )
    return float(result.fun) if result.success else float("inf")


@pytest.mark.parametrize("seed", range(12))
def test_an_integer_program_finds_the_same_cost(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a market
    gap, tiers = chance.choice((195, 600)), seed % 3 + 1
    ticks = chance.randint(40, 60)
    market = tuple(
        "".join(chance.choice("01") * chance.randint(1, 9) for _ in range(ticks))[:ticks] for _ in range(tiers)
    )
    deadline = ticks * gap - chance.randint(0, gap - 1)
    prices = tuple(round(chance.uniform(0.5, 2.0), 2) for _ in range(tiers))
    job = Job(round(deadline * chance.uniform(0.5, 0.9)), deadline, chance.choice((180, 720, 1800)), 3.06, prices)

    assert least_costs(job, gap, [market])[0] == pytest.approx(by_integer_program(job, gap, market), abs=1e-6)


@pytest.mark.parametrize("prices", [(0.9731,) * 5, (0.6, 0.7, 0.8, 1.2, 1.3)])
def test_an_integer_program_finds_the_same_cost_in_five_zones(prices: tuple[float, ...], shared: Path) -> None:
    job = Job(5 * HOUR, 6 * HOUR, 720, 3.06, prices)
    market = next(
        run.capacities for run in runs(reference.zones(shared / "traces"), Every(1), job.deadline) if run.window == 7
    )

    assert least_costs(job, 195, [market])[0] == pytest.approx(by_integer_program(job, 195, market), abs=1e-6)


@given(case=cases(most_tiers=3), name=st.sampled_from(sorted(BASELINES)))
def test_no_policy_that_is_in_time_costs_less(case: Case, name: str) -> None:
    job, gap, market = case
    outcome = simulate(BASELINES[name], job, gap, market)

    (least,) = least_costs(job, gap, [market])

    if not outcome.late(job.deadline):
        assert least <= outcome.usd + 1e-9


@given(case=cases(most_tiers=3), data=st.data())
def test_one_tier_more_never_makes_it_dearer(case: Case, data: st.DataObject) -> None:
    job, gap, market = case
    keep = data.draw(st.integers(0, len(market) - 1))
    fewer = job._replace(spot_usd=(*job.spot_usd[:keep], *job.spot_usd[keep + 1 :]))

    (all_tiers,) = least_costs(job, gap, [market])
    if len(market) > 1:
        assert all_tiers <= least_costs(fewer, gap, [(*market[:keep], *market[keep + 1 :])])[0] + 1e-9


@given(case=cases(most_tiers=3))
def test_the_plan_costs_what_the_optimum_costs_and_is_in_time(case: Case) -> None:
    job, gap, market = case

    (outcome,) = optima(job, gap, [market])

    assert outcome.usd == pytest.approx(least_costs(job, gap, [market])[0])
    assert not outcome.late(job.deadline)
    assert outcome.spot + outcome.on_demand >= job.work + job.changeover * outcome.starts
    assert outcome.evictions <= outcome.starts


def test_many_runs_at_once_cost_what_each_costs_by_itself(shared: Path) -> None:
    tiers = reference.zones(shared / "traces")[1:3]
    job = reference.job(10, 12, 0.2, tiers=2)
    markets = [run.capacities for run in runs(tiers, Every(1), job.deadline)][:40]
    markets[3] = tuple(capacity[:200] for capacity in markets[3])  # a record that ends before the deadline

    together = least_costs(job, 195, markets)

    assert together == [least_costs(job, 195, [market])[0] for market in markets]
    assert [outcome.usd for outcome in optima(job, 195, markets)] == pytest.approx(together)


def test_spot_prices_may_differ_and_the_dearer_tier_is_used_where_the_cheaper_is_down() -> None:
    job = Job(4 * HOUR, 4 * HOUR, 0, 3.0, (1.0, 2.0))

    (outcome,) = optima(job, 600, [("1" * 12 + "0" * 12, "0" * 6 + "1" * 12 + "0" * 6)])

    assert outcome.usd == pytest.approx(2 * 1 + 1 * 2 + 1 * 3)
    assert (outcome.spot, outcome.on_demand, outcome.starts, outcome.evictions) == (3 * HOUR, HOUR, 3, 2)


def test_where_no_plan_is_in_time_the_outcome_is_that_of_on_demand_at_once() -> None:
    job = Job(4 * HOUR, 4 * HOUR, 720, 3.0, (1.0,))

    (outcome,) = optima(job, 600, [("1" * 40,)])

    assert least_costs(job, 600, [("1" * 40,)]) == [float("inf")]
    assert (outcome.spot, outcome.late(job.deadline)) == (0, True)


def test_a_first_start_after_the_first_tick_can_be_charged_twice() -> None:
    job = Job(HOUR, 3 * HOUR, 600, 3.0, (1.0,))
    late, at_once = ("0" + "1" * 17,), ("1" * 18,)

    assert least_costs(job, 600, [late, at_once]) == pytest.approx([7 / 6, 7 / 6])
    assert least_costs(job, 600, [late, at_once], late_start_twice=True) == pytest.approx([8 / 6, 7 / 6])
