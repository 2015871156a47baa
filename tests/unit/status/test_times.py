"""Times as people say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.fallback.record import parse_instant
from spotproof.status.times import LATEST, hours, moment, span, stamp


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"), (3661, "1h1m"),
        (86399, "23h59m"), (86400, "1d"), (90000, "1d1h"), (14 * 86400 + 3599, "14d"),
    ],
)  # fmt: skip
def test_a_stretch_is_told_in_its_two_largest_units(seconds: int, said: str) -> None:
    assert span(seconds) == said


@pytest.mark.parametrize(("seconds", "said"), [(59, "59s"), (1800, "30m"), (48600, "13h30m"), (100800, "28h")])
def test_work_is_told_in_hours(seconds: int, said: str) -> None:
    assert hours(seconds) == said


@given(st.integers(0, LATEST))
def test_a_stamp_is_read_back(at: int) -> None:
    assert parse_instant(stamp(at)) == at


@pytest.mark.parametrize("at", [-(10**20), 10**20])
def test_a_moment_that_no_calendar_has_is_its_nearest(at: int) -> None:
    assert moment(at)
    assert stamp(at)
