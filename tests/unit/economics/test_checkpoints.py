"""The best checkpoint interval, and how much slower a job gets by evictions."""

from itertools import pairwise
from math import inf, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.economics.checkpoints import Cycle, daly, recommended_interval, young
from tests.unit.economics.conditions import CYCLES, HOUR

KNOWN = ((0.5, 0.12, 1.95), (1, 0.17, 1.47), (2, 0.25, 1.26), (4, 0.35, 1.15), (8, 0.51, 1.09), (24, 0.88, 1.05))
"""Hours between evictions, best interval in hours for a write of a minute, slowdown with a restart of 12 min."""


@pytest.mark.parametrize(("mtbf", "interval", "slowdown"), KNOWN)
def test_dalys_interval_and_the_slowdown_there_are_the_known_ones(
    mtbf: float, interval: float, slowdown: float
) -> None:
    best = daly(60, mtbf * HOUR)

    assert round(best / HOUR, 2) == interval
    assert round(Cycle(best, 60, 720).slowdown(1 / mtbf), 2) == slowdown


@given(write=st.floats(1, 600), mtbf_hours=st.floats(0.5, 100))
def test_no_other_interval_is_much_better_than_dalys(write: float, mtbf_hours: float) -> None:
    best = daly(write, mtbf_hours * HOUR)
    # Daly's series is exact to a third of a per cent while a write takes less than half the time between failures
    for other in (best / 2, best / 1.2, best * 1.2, best * 2):
        assert Cycle(best, write).slowdown(1 / mtbf_hours) <= Cycle(other, write).slowdown(1 / mtbf_hours) * 1.003


def test_a_write_of_twice_the_time_between_failures_is_made_once_between_failures() -> None:
    assert daly(1200, 600) == 600
    assert daly(1199.999, 600) != 600


@pytest.mark.parametrize(("write", "mtbf"), [(0, 3600), (60, 0), (-1, 3600)])
def test_without_a_write_time_or_failures_there_is_no_best_interval(write: float, mtbf: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        daly(write, mtbf)


def test_youngs_interval_is_a_little_longer_than_dalys() -> None:
    assert young(60, 4 * HOUR) == pytest.approx(1314.5, abs=0.1)
    assert daly(60, 4 * HOUR) < young(60, 4 * HOUR)


@pytest.mark.parametrize(
    ("write", "rate", "expected"),
    [(60, 0.25, daly(60, 4 * HOUR)), (1, 2.0, 300), (300, 0.01, 3600), (0, 0.5, 300), (60, 0, 3600)],
)
def test_the_recommended_interval_is_dalys_within_5_and_60_minutes(write: float, rate: float, expected: float) -> None:
    assert recommended_interval(write, rate) == expected


@given(cycle=CYCLES, rates=st.tuples(st.floats(0, 50), st.floats(0, 50)))
def test_a_job_gets_slower_the_more_it_is_evicted_and_never_faster_than_without(
    cycle: Cycle, rates: tuple[float, float]
) -> None:
    slow = [cycle.slowdown(rate) for rate in (0, *sorted(rates))]

    assert slow[0] == cycle.overhead
    assert all(one <= other * (1 + 1e-9) for one, other in pairwise(slow))


def test_a_slowdown_that_no_float_holds_is_infinite() -> None:
    assert Cycle(3600, 60, 720).slowdown(1000) == inf


def test_a_rate_next_to_nothing_loses_no_digits() -> None:
    assert isclose(Cycle(1800, 60, 720).slowdown(1e-12), 31 / 30, rel_tol=1e-9)
    assert Cycle(1800, 60, 720).slowdown(1e-305) == 31 / 30
