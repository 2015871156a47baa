"""The number of evictions: exact, and right where numbers get large or small."""

from itertools import islice, pairwise
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.economics.checkpoints import Cycle
from spotproof.economics.evictions import MEASURED_PER_HOUR, Prior, Spread, gang_rate, learned_rate, stay
from tests.unit.economics.conditions import CYCLES, HOUR


def convolved(rate: float, cycles: int, cycle: Cycle, length: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The same chances by brute force: one cycle's, folded with themselves."""
    attempt, repetition = (
        exp(-rate / HOUR * (cycle.every + cycle.write)),
        exp(-rate / HOUR * (cycle.restart + cycle.every + cycle.write)),
    )
    one = np.array([attempt, *((1 - attempt) * (1 - repetition) ** k * repetition for k in range(length - 1))])
    folded = np.array([1.0])
    for _ in range(cycles):
        folded = np.convolve(folded, one)[:length]
    return folded


@given(rate=st.floats(0.01, 4), cycles=st.integers(1, 40), cycle=CYCLES)
def test_the_chances_are_those_of_one_cycle_folded_with_themselves(rate: float, cycles: int, cycle: Cycle) -> None:
    found = [each.exactly for each in islice(Spread(rate, cycles * cycle.every, cycle), 60)]

    assert found == pytest.approx(convolved(rate, cycles, cycle, 60)[: len(found)], rel=1e-6, abs=1e-12)


@given(rate=st.floats(0, 1), hours=st.floats(0.1, 200), cycle=CYCLES)
def test_the_chances_add_up_and_their_mean_is_the_rate_times_the_running_time(
    rate: float, hours: float, cycle: Cycle
) -> None:
    spread = Spread(rate, hours * HOUR, cycle)
    chances = list(spread)

    assert sum(each.exactly for each in chances) == pytest.approx(1, abs=1e-8)
    assert sum(each.more for each in chances) == pytest.approx(spread.mean, rel=1e-6, abs=1e-12)
    assert all(one.more >= other.more - 1e-12 for one, other in pairwise(chances))


def test_a_job_whose_chance_of_no_eviction_is_below_any_float_is_counted_all_the_same() -> None:
    spread = Spread(20, 100 * HOUR, Cycle(300, 10, 60))
    chances = list(spread)

    assert chances[0].exactly == 0
    assert sum(each.exactly for each in chances) == pytest.approx(1, abs=1e-9)
    assert sum(each.more for each in chances) == pytest.approx(spread.mean)


def test_a_job_that_is_hardly_ever_evicted_loses_no_digits() -> None:
    spread = Spread(1e-10, HOUR, Cycle(1800, 0, 720))

    assert sum(each.more for each in spread) == pytest.approx(spread.mean, rel=1e-9)


@pytest.mark.parametrize("tolerated", [0, 1, 3, 10])
def test_m_are_tolerated_and_the_one_after_them_ends_the_stay(tolerated: int) -> None:
    spread = Spread(0.5, 24 * HOUR, Cycle(1800, 60, 720))
    chances = list(spread)

    ends = stay(spread, tolerated)

    assert ends.to_the_end == pytest.approx(1 - chances[tolerated].more)
    assert ends.evictions == pytest.approx(sum(each.more for each in chances[: tolerated + 1]))
    assert ends.waits == pytest.approx(sum(each.more for each in chances[:tolerated]))


def test_a_stay_without_a_limit_is_the_limit_of_long_ones() -> None:
    spread = Spread(0.5, 24 * HOUR, Cycle(1800, 60, 720))

    for leaves in (0.0, 1e-9, 0.2, 1.0):
        assert stay(spread, -1, leaves) == pytest.approx(stay(spread, 5000, leaves), rel=1e-7)


def test_an_outage_that_always_outlasts_the_timeout_ends_the_stay_at_the_first_eviction() -> None:
    spread = Spread(0.5, 24 * HOUR, Cycle(1800, 60, 720))

    assert stay(spread, 7, 1.0)[:2] == pytest.approx(stay(spread, 0)[:2])
    assert stay(spread, 7, 1.0).waits == pytest.approx(stay(spread, 7, 1.0).evictions)


def test_a_gang_is_evicted_at_least_as_often_as_a_node_and_at_most_as_all_of_them() -> None:
    assert gang_rate(0.1, 8) == (0.1, 0.8)


def test_a_learned_rate_begins_at_the_belief_and_ends_at_what_was_seen() -> None:
    assert learned_rate(0, 0) == MEASURED_PER_HOUR
    assert learned_rate(30, 10, Prior(2, 4)) == 32 / 14
    assert learned_rate(3000, 1000) == pytest.approx(3, rel=1e-2)
