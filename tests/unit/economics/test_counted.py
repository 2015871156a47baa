"""One job with a given number of evictions, and what counting makes of a deadline."""

from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spotproof.economics.counted import (
    guard_seconds,
    max_failures_within,
    on_demand_seconds_from_zero,
    seconds_of_an_eviction,
    usd_with_evictions,
    worst_seconds,
)
from spotproof.economics.model import Conditions
from tests.unit.economics.conditions import ANY, HOUR, conditions


def test_overhead_is_charged_where_it_falls() -> None:
    job = conditions(hours=10, spot_share=0.1, write=0, max_failures=2)
    lost = (720 + 900) / HOUR

    # 4 h of work and two restarts on spot, 6 h of work and the third restart on on-demand
    assert usd_with_evictions(job, 3, 0.4) == pytest.approx(0.1 * (4 + 2 * lost) + 6 + lost)


def test_a_job_that_never_left_spot_pays_every_restart_there() -> None:
    job = conditions(hours=10, spot_share=0.1, write=0, max_failures=2)

    assert usd_with_evictions(job, 2, 1) == pytest.approx(0.1 * (10 + 2 * (720 + 900) / HOUR))


def test_a_write_is_paid_on_on_demand_too() -> None:
    assert usd_with_evictions(conditions(hours=30, max_failures=0), 1, 0) == pytest.approx(31 + (720 + 930) / HOUR)


@pytest.mark.parametrize(("evictions", "share"), [(4, 0.5), (2, 0.5)])
def test_a_course_that_the_policy_does_not_allow_is_refused(evictions: int, share: float) -> None:
    with pytest.raises(ValueError, match="max_failures 2"):
        usd_with_evictions(conditions(max_failures=2), evictions, share)


@given(job=ANY, evictions=st.integers(1, 20), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_more_of_the_same_course_on_spot_saves_more(
    job: Conditions, evictions: int, shares: tuple[float, float]
) -> None:
    sticky = conditions(
        hours=job.work_seconds / HOUR,
        spot_share=job.spot_share,
        max_failures=evictions - 1,
        every=job.cycle.every,
        write=job.cycle.write,
        restart=job.cycle.restart,
    )
    less, more = sorted(shares)

    assert usd_with_evictions(sticky, evictions, more) <= usd_with_evictions(sticky, evictions, less) * (1 + 1e-12)


def test_the_largest_max_failures_fits_and_one_more_does_not() -> None:
    job = conditions(hours=48, deadline_seconds=60 * HOUR, outage_seconds=2 * HOUR, pending_timeout_seconds=HOUR)
    tolerated = max_failures_within(job)
    each = seconds_of_an_eviction(job)

    assert each == 720 + 930 + HOUR
    assert tolerated == 5
    assert on_demand_seconds_from_zero(job) + (tolerated + 1) * each <= 60 * HOUR
    assert on_demand_seconds_from_zero(job) + (tolerated + 2) * each > 60 * HOUR


def test_a_deadline_that_has_no_room_for_one_eviction_allows_no_count_at_all() -> None:
    assert max_failures_within(conditions(hours=48, deadline_seconds=50 * HOUR)) is None


def test_without_a_deadline_there_is_no_count_to_find() -> None:
    with pytest.raises(ValueError, match="deadline"):
        max_failures_within(conditions())


@given(job=ANY, timeout=st.floats(0, 7200))
def test_the_worst_case_is_longer_than_any_average_one(job: Conditions, timeout: float) -> None:
    assume(job.max_failures >= 0)
    bounded = conditions(
        max_failures=job.max_failures, outage_seconds=1800, pending_timeout_seconds=timeout, evictions_per_hour=2
    )

    assert worst_seconds(bounded) > on_demand_seconds_from_zero(bounded)
    assert worst_seconds(bounded) >= on_demand_seconds_from_zero(bounded) + bounded.max_failures * (
        seconds_of_an_eviction(bounded)
    )


def test_without_a_count_or_a_timeout_there_is_no_worst_case() -> None:
    assert worst_seconds(conditions()) == inf
    assert worst_seconds(conditions(max_failures=3)) == inf
    assert worst_seconds(conditions(max_failures=0)) == pytest.approx(48 * HOUR * 31 / 30 + 720 + 1860 + 720)


def test_the_guard_of_one_that_knows_no_more_keeps_two_restarts_and_what_two_evictions_lose() -> None:
    assert guard_seconds(conditions()) == 2 * (720 + 900 + 60)
