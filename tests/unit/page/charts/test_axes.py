import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spotproof.page.charts.axes import Scale, number_ticks, rounded, time_ticks

values = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)
spans = st.floats(min_value=1e-3, max_value=1e6)


@given(values, spans, st.integers(min_value=2, max_value=15))
def test_ticks_are_few_even_inside_and_steps_of_one_two_or_five(low: float, span: float, most: int) -> None:
    assume(span > abs(low) * 1e-6)
    ticks = number_ticks(low, low + span, most).values
    steps = [b - a for a, b in itertools.pairwise(ticks)]

    assert len(ticks) <= most
    assert all(low - span * 1e-6 <= tick <= low + span * (1 + 1e-6) for tick in ticks)
    for step in steps:
        assert step == pytest.approx(steps[0], rel=1e-6)
        assert round(step / 10 ** math.floor(math.log10(step) + 1e-9), 3) in {1, 2, 5}


@given(values, spans, st.integers(min_value=2, max_value=15))
def test_no_two_ticks_are_written_alike(low: float, span: float, most: int) -> None:
    assume(span > abs(low) * 1e-6)
    labels = number_ticks(low, low + span, most).labels

    assert len(set(labels)) == len(labels)


@given(values, spans)
def test_a_rounded_range_holds_the_range_and_is_less_than_a_step_wider(low: float, span: float) -> None:
    assume(span > abs(low) * 1e-6)
    start, end = rounded(low, low + span, 6)

    assert start <= low + span * 1e-6
    assert end >= low + span * (1 - 1e-6)
    assert end - start <= span * 3


def test_a_range_of_nothing_still_has_ticks() -> None:
    assert rounded(0, 0, 6) == (0, 1)
    assert rounded(5, 5, 6) == (0, 5)


def test_ticks_are_written_with_the_decimals_that_tell_them_apart() -> None:
    assert number_ticks(0, 1, 6).labels == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert number_ticks(0, 2500, 6).labels == ["0", "500", "1,000", "1,500", "2,000", "2,500"]
    assert number_ticks(-60, 60, 8).labels == ["-60", "-40", "-20", "0", "20", "40", "60"]


@pytest.mark.parametrize(
    ("last", "labels", "unit"),
    [
        (60, ["0", "12", "24", "36", "48", "60"], "h"),
        (7, ["0", "1", "2", "3", "4", "5", "6", "7"], "h"),
        (200, ["0", "48", "96", "144", "192"], "h"),
        (1.5, ["0", "20", "40", "60", "80"], "min"),
        (0.05, ["0", "30", "60", "90", "120", "150", "180"], "s"),
    ],
)
def test_time_is_counted_by_the_steps_of_a_clock(last: float, labels: list[str], unit: str) -> None:
    ticks = time_ticks(0, last, 8)

    assert (ticks.labels, ticks.unit) == (labels, unit)


def test_a_century_has_ticks_too() -> None:
    assert 2 <= len(time_ticks(0, 876_000, 8).values) <= 8


def test_a_scale_maps_its_ends_and_turns_over_where_they_do() -> None:
    scale = Scale(0, 10, 300, 100)

    assert (scale(0), scale(10), scale(5)) == (300, 100, 200)
    assert scale.shows(10)
    assert not scale.shows(10.1)
