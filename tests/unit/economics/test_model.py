"""The closed form: its known values, its limits, and which way each number moves it.

The article's table of effects says what more of alpha, max_failures, restart time and work does. Three of the four
directions depend on something it leaves out; each test says on what.
"""

from dataclasses import replace
from itertools import pairwise
from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spotproof.economics.break_even import pays
from spotproof.economics.checkpoints import Cycle
from spotproof.economics.model import FOR_EVER, Conditions, expect
from tests.unit.economics.conditions import ANY, HOUR, conditions

COUNTS = (0, 1, 2, 3, 4, 5, 7, 10, 20, 50)
A_LITTLE = 1e-9


def usd(job: Conditions, max_failures: int) -> float:
    return expect(replace(job, max_failures=max_failures)).usd


def test_spot_for_ever_costs_its_price_times_dalys_slowdown() -> None:
    job = conditions()
    slowdown = job.cycle.slowdown(0.25)

    found = expect(job)

    assert found.usd == pytest.approx(0.33 * slowdown * 48)
    assert round(found.usd, 2) == 18.37
    assert found.evictions == pytest.approx(0.25 * slowdown * 48)
    assert found.spot_seconds == pytest.approx(slowdown * 48 * HOUR)
    assert (found.useful_share, found.all_on_spot, found.on_demand_seconds) == (1, 1, 0)


def test_five_tolerated_on_that_market_cost_twice_as_much_as_spot_for_ever() -> None:
    # 36.35 if evictions are taken for a Poisson variable of the same mean
    assert round(usd(conditions(), 5), 1) == 36.2


def test_on_demand_pays_writes_too() -> None:
    assert expect(conditions()).on_demand_usd == pytest.approx(48 * 31 / 30)


def test_without_evictions_a_job_costs_the_discounted_price_and_takes_as_long() -> None:
    found = expect(conditions(evictions_per_hour=0.0, max_failures=3, outage_seconds=3600))

    assert found.cost_share == pytest.approx(0.33)
    assert found.wall_seconds == pytest.approx(48 * HOUR * 31 / 30)
    assert (found.evictions, found.waiting_seconds, found.all_on_spot) == (0, 0, 1)


def test_a_rate_next_to_nothing_is_none() -> None:
    assert expect(conditions(evictions_per_hour=1e-14, max_failures=2)).cost_share == pytest.approx(0.33)
    assert expect(conditions(evictions_per_hour=1e-8, max_failures=2)).cost_share == pytest.approx(0.33, rel=1e-5)


def test_a_market_that_saves_nothing_keeps_a_job_for_ever_and_one_that_counts_falls_back() -> None:
    hopeless = conditions(evictions_per_hour=2000.0, every=3600)

    assert (expect(hopeless).usd, expect(hopeless).saving) == (inf, -inf)
    found = expect(replace(hopeless, max_failures=3))
    assert (found.useful_share, found.all_on_spot, found.evictions) == (0, 0, 4)
    assert found.on_demand_seconds == pytest.approx(720 + 48 * HOUR * 61 / 60)


def test_an_outage_is_waited_for_until_the_timeout_and_costs_time_not_money() -> None:
    dry, wet = conditions(outage_seconds=5400), conditions()

    assert expect(dry).usd == expect(wet).usd
    assert expect(dry).waiting_seconds == pytest.approx(expect(wet).evictions * 5400)
    impatient = expect(replace(dry, pending_timeout_seconds=3600))
    assert impatient.waiting_seconds < 3600 * impatient.evictions
    assert impatient.all_on_spot < 1


def test_the_eviction_that_moves_a_job_is_not_waited_after() -> None:
    at_once = expect(conditions(max_failures=0, outage_seconds=5400))

    assert at_once.evictions > 0.9
    assert at_once.waiting_seconds == 0


def test_survivors_that_are_held_while_a_gang_waits_are_paid_for() -> None:
    gang = conditions(nodes=8, outage_seconds=5400)
    held = replace(gang, nodes_held_waiting=7)

    extra = 7 * 0.33 * expect(gang).waiting_seconds / HOUR
    assert expect(held).usd - expect(gang).usd == pytest.approx(extra)


def test_the_head_is_paid_for_as_long_as_the_job_takes() -> None:
    job = conditions(outage_seconds=5400)
    with_head = expect(replace(job, always_on_usd_per_hour=0.5))

    assert with_head.usd - expect(job).usd == pytest.approx(0.5 * with_head.wall_seconds / HOUR)
    assert with_head.on_demand_usd - expect(job).on_demand_usd == pytest.approx(0.5 * 48 * 31 / 30)


def test_eight_nodes_cost_eight_times_as_much() -> None:
    assert expect(conditions(nodes=8)).usd == pytest.approx(8 * expect(conditions()).usd)


@given(job=ANY, waits=st.booleans())
def test_shares_are_shares_and_times_add_up(job: Conditions, waits: bool) -> None:  # noqa: FBT001
    if waits:
        job = replace(job, outage_seconds=5400.0, pending_timeout_seconds=3600.0)
    found = expect(job)

    assert 0 <= found.useful_share <= 1
    assert 0 <= found.all_on_spot <= 1
    assert found.wall_seconds == found.spot_seconds + found.on_demand_seconds + found.waiting_seconds
    # what is done on spot takes at least as long as it is useful, and the rest is done on on-demand
    assert found.spot_seconds >= found.useful_share * job.on_demand_seconds * (1 - A_LITTLE)
    assert found.on_demand_seconds >= (1 - found.useful_share) * job.on_demand_seconds * (1 - A_LITTLE)


@given(job=ANY)
def test_without_deadline_and_waiting_the_cheapest_max_failures_is_for_ever_or_none(job: Conditions) -> None:
    # A job that is over before its first checkpoint loses all of it each time: a count between is up to 4 % cheaper.
    assume(job.work_seconds >= job.cycle.every)
    costs = [usd(job, count) for count in COUNTS]

    assert min(usd(job, FOR_EVER), costs[0]) <= min(costs) * (1 + A_LITTLE)


@given(job=ANY)
def test_where_spot_pays_every_eviction_more_that_is_tolerated_saves(job: Conditions) -> None:
    assume(pays(job.spot_share, job.evictions_per_hour, job.cycle))
    costs = [usd(job, count) for count in (*COUNTS, FOR_EVER)]

    assert all(after <= before * (1 + A_LITTLE) for before, after in pairwise(costs))


def test_where_spot_does_not_pay_every_eviction_more_that_is_tolerated_costs() -> None:
    bad = conditions(spot_share=0.9, evictions_per_hour=1.0)
    costs = [usd(bad, count) for count in COUNTS]

    assert costs == sorted(costs)
    assert usd(bad, FOR_EVER) > costs[-1] > expect(bad).on_demand_usd


@given(job=ANY)
def test_more_tolerated_evictions_never_make_a_job_shorter(job: Conditions) -> None:
    waiting = replace(job, outage_seconds=1800.0)
    walls = [expect(replace(waiting, max_failures=count)).wall_seconds for count in COUNTS]

    assert all(one <= other * (1 + A_LITTLE) for one, other in pairwise(walls))


@given(job=ANY, longer=st.floats(1, 3600))
def test_a_longer_restart_never_saves(job: Conditions, longer: float) -> None:
    slower = replace(job, cycle=job.cycle._replace(restart=job.cycle.restart + longer))

    assert expect(slower).usd >= expect(job).usd * (1 - A_LITTLE)


@given(job=ANY, longer=st.floats(1.01, 5))
def test_a_longer_job_saves_the_same_share_on_spot_for_ever(job: Conditions, longer: float) -> None:
    for_ever = replace(job, max_failures=FOR_EVER)
    long = replace(for_ever, work_seconds=job.work_seconds * longer)

    assert expect(long).cost_share == pytest.approx(expect(for_ever).cost_share)


@given(job=ANY, longer=st.floats(1.01, 5))
def test_a_longer_job_does_less_of_its_work_on_spot_with_the_same_count(job: Conditions, longer: float) -> None:
    assume(job.max_failures >= 0)
    long = replace(job, work_seconds=job.work_seconds * longer)

    assert expect(long).useful_share <= expect(job).useful_share + A_LITTLE


@given(job=ANY, evictions=st.integers(0, 20), longer=st.floats(1.01, 5))
def test_a_longer_job_tolerates_a_given_number_of_evictions_better(
    job: Conditions, evictions: int, longer: float
) -> None:
    """As the article has it; its table leaves out that a longer job is evicted more often."""
    lost = evictions * job.cycle.lost
    short, long = job.on_demand_seconds, job.on_demand_seconds * longer

    assert (long + lost) / long <= (short + lost) / short


@given(max_failures=st.integers(0, 8))
def test_with_a_constant_rate_a_longer_job_saves_less_with_the_same_count(max_failures: int) -> None:
    savings = [expect(conditions(hours=hours, max_failures=max_failures)).saving for hours in (12, 24, 48, 96, 192)]

    assert savings == sorted(savings, reverse=True)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"hours": 0}, "work_seconds"),
        ({"every": 0}, "cycle.every"),
        ({"nodes": 0}, "nodes"),
        ({"evictions_per_hour": -1.0}, "evictions_per_hour"),
        ({"write": -1}, "cycle.write"),
        ({"max_failures": -2}, "max_failures"),
        ({"spot_share": float("nan")}, "spot_share"),
    ],
)
def test_a_number_without_a_meaning_is_refused_by_name(changed: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        conditions(**changed)


def test_a_discount_is_what_is_not_paid() -> None:
    job = replace(conditions(), cycle=Cycle(1800), spot_share=0.35)

    assert job.discount == pytest.approx(0.65)
    assert job.on_demand_seconds == 48 * HOUR
