"""Baselines in the tick model: figures of others to the printed digit, and no late run under a guard."""

from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import reference
from spotproof.economics.baselines import (
    BASELINES,
    greedy,
    on_demand,
    reversible,
    spot_only,
    sticky,
    time_sliced,
    uniform_progress,
    up_plus,
)
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.probed import simulate_probed
from spotproof.economics.ticks import HOUR, Order, Policy, simulate
from spotproof.economics.traces import read_trace
from tests.unit.economics.markets import cases

GAP = 600
GUARDED: dict[str, Policy] = {
    "on-demand": on_demand,
    "greedy": greedy,
    "sticky M=0": sticky(0, None),
    "sticky M=3 tau=1h": sticky(3, HOUR),
    "sticky M=-1 tau=2h": sticky(-1, 2 * HOUR),
    "reversible": reversible(),
    "reversible at once": reversible(0, 0, 0),
    "time-sliced 4": time_sliced(4),
    "time-sliced 16": time_sliced(16),
    "uniform-progress": uniform_progress,
    "up-plus": up_plus,
}
FILES = 17


def hours(work: float, deadline: float, changeover: float = 0, tiers: int = 1) -> Job:
    return Job(round(work * HOUR), round(deadline * HOUR), round(changeover * HOUR), 3.0, (1.0,) * tiers)


@pytest.mark.parametrize("number", range(FILES))
def test_costs_of_the_reference_are_reproduced_to_the_printed_digit(number: int, shared: Path) -> None:
    by_file: dict[str, list[dict[str, Any]]] = {}
    for row in reference.rows(shared / "traces"):
        by_file.setdefault(row["trace"], []).append(row)
    assert len(by_file) == FILES
    rows = list(by_file.values())[number]

    figures = list(reference.row_figures(shared / "traces", rows[number % len(rows)]))

    assert [figure for figure in figures if not figure.equal] == []
    assert len(figures) == 18


def test_published_figures_of_single_markets_are_reproduced_exactly(shared: Path) -> None:
    figures = list(reference.exact_single_runs(shared / "traces"))

    assert [figure for figure in figures if not figure.equal] == []
    assert len(figures) == 11


def test_golden_figures_of_uniform_progress_and_of_the_optimum_in_five_zones_are_reproduced(shared: Path) -> None:
    figures = list(reference.golden(shared / "traces"))

    assert [figure for figure in figures if not figure.equal] == []
    assert len(figures) == 16


@pytest.mark.parametrize("policy", ["greedy", "uniform-progress", "up-plus"])
def test_published_savings_of_a_cell_are_reproduced(policy: str, shared: Path) -> None:
    cell = reference.CELLS[8]
    asked = up_plus if policy == "up-plus" else policy

    assert reference.savings(shared / "traces", cell, asked) == pytest.approx(cell.savings[policy], abs=0.05)


@given(case=cases(most_tiers=3), name=st.sampled_from(sorted(GUARDED)), order=st.sampled_from(("list", "longest-up")))
def test_no_policy_under_a_guard_is_late_where_on_demand_would_not_be(
    case: tuple[Job, int, tuple[str, ...]], name: str, order: Order
) -> None:
    job, gap, market = case

    outcome = simulate(GUARDED[name], job, gap, market, order)

    assert not outcome.late(job.deadline)


@given(case=cases(most_tiers=3), name=st.sampled_from(sorted(BASELINES)), order=st.sampled_from(("list", "longest-up")))
def test_a_bill_is_the_time_on_each_kind_at_its_price(
    case: tuple[Job, int, tuple[str, ...]], name: str, order: Order
) -> None:
    job, gap, market = case
    one_price = job._replace(spot_usd=(1.0,) * len(market))

    outcome = simulate(BASELINES[name], one_price, gap, market, order)

    assert outcome.usd == pytest.approx(job.nodes * (outcome.spot + 3.06 * outcome.on_demand) / HOUR)
    assert outcome.finish is None or outcome.finish >= outcome.spot + outcome.on_demand >= job.work
    assert outcome.starts >= outcome.evictions


@given(case=cases(), every=st.sampled_from((600, 1800, 3600)))
def test_sight_by_probes_never_makes_uniform_progress_late(case: tuple[Job, int, tuple[str, ...]], every: int) -> None:
    job, gap, (market,) = case

    assert not simulate_probed(uniform_progress, job, gap, market, every).late(job.deadline)


def test_a_lost_node_is_gone_before_the_policy_is_asked() -> None:
    outcome = simulate(spot_only, hours(1, 9), GAP, ("1101111",))

    assert outcome == Outcome(usd=1.0, finish=7 * GAP, evictions=1, starts=2, spot=6 * GAP, on_demand=0)


def test_every_start_is_a_debt_that_ticks_pay_off_before_they_are_progress() -> None:
    outcome = simulate(spot_only, hours(1, 9, changeover=0.25), GAP, ("1" * 20,))

    assert outcome.finish == 8 * GAP  # 60 minutes of work and 15 of changeover, in whole ticks of 10


def test_a_run_that_the_record_does_not_reach_the_end_of_has_no_finish_and_is_late() -> None:
    outcome = simulate(spot_only, hours(1, 9), GAP, ("111",))

    assert (outcome.finish, outcome.late(9 * HOUR)) == (None, True)


def test_a_job_stays_in_its_tier_until_it_is_lost_there() -> None:
    job = hours(1, 9, tiers=2)._replace(spot_usd=(1.0, 2.0))

    outcome = simulate(spot_only, job, GAP, ("001111111", "111100000"))

    assert (outcome.starts, outcome.evictions) == (2, 1)
    assert outcome.usd == pytest.approx((4 * 2 + 2 * 1) / 6)


def test_the_longest_up_of_several_tiers_is_counted_from_the_start_of_the_run() -> None:
    job = hours(0.5, 9, tiers=3)._replace(spot_usd=(1.0, 2.0, 4.0))
    market = ("00010", "00111", "11000")

    assert simulate(spot_only, job, GAP, market, "list").usd == pytest.approx((2 * 4 + 1 * 2) / 6)
    assert simulate(spot_only, job, GAP, ("00111", "01111", "11000"), "list").usd == pytest.approx((2 * 4 + 1) / 6)
    assert simulate(spot_only, job, GAP, ("00111", "01111", "11000"), "longest-up").usd == pytest.approx(
        (2 * 4 + 2) / 6
    )


@pytest.mark.parametrize(("evictions", "falls_back"), [(0, False), (1, False), (2, True)])
def test_sticky_with_one_tolerated_failure_falls_back_at_the_second(evictions: int, *, falls_back: bool) -> None:
    market = "10" * evictions + "1" * 30

    outcome = simulate(sticky(1, None), hours(2, 9), GAP, (market,))

    assert outcome.evictions == evictions
    assert (outcome.on_demand > 0) == falls_back


@pytest.mark.parametrize(("outage", "falls_back"), [(6, False), (7, True)])
def test_sticky_falls_back_in_the_tick_in_which_the_wait_has_reached_the_timeout(
    outage: int, *, falls_back: bool
) -> None:
    outcome = simulate(sticky(-1, HOUR), hours(2, 9), GAP, ("1" + "0" * outage + "1" * 40,))

    assert (outcome.on_demand > 0) == falls_back


def test_sticky_never_comes_back_and_reversible_does() -> None:
    job, market = hours(8, 40), ("0" * 12 + "1" * 200,)

    assert simulate(sticky(-1, HOUR), job, GAP, market).spot == 0
    assert simulate(reversible(), job, GAP, market).spot > 0


def test_uniform_progress_pays_while_behind_its_schedule_and_waits_while_ahead_of_it() -> None:
    ahead = simulate(uniform_progress, hours(4, 8), GAP, ("1" * 12 + "0" * 40,))
    behind = simulate(uniform_progress, hours(4, 8), GAP, ("0" * 52,))

    assert (ahead.finish or 0) > ahead.spot + ahead.on_demand
    assert behind.on_demand == 4 * HOUR


@cache
def _capacity(path: Path) -> str:
    return read_trace(path).windows[0].capacity


def test_probing_costs_what_it_finds_and_never_beats_full_sight_on_the_whole(shared: Path) -> None:
    capacity = _capacity(shared / "traces" / "probe-1node-2022" / "2022-10-26_us-west-2a_k80_1.json")
    job = reference.job(48, 60, 0.2)._replace(probe=reference.PROBE_SECONDS)
    starts = range(0, 3500, 50)

    full = fmean(simulate(uniform_progress, job, GAP, (capacity[start:],)).usd for start in starts)
    probed = fmean(simulate_probed(uniform_progress, job, GAP, capacity[start:], GAP).usd for start in starts)

    assert full < probed < full * 1.03
