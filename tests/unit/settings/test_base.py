"""Durations and lists: what is written is what is meant."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.settings.base import parse_duration, render_duration

WHOLE_SECONDS = st.integers(min_value=1, max_value=99_999 * 3600).map(lambda seconds: timedelta(seconds=seconds))


@given(WHOLE_SECONDS)
def test_a_rendered_duration_reads_back_as_itself(duration: timedelta) -> None:
    assert parse_duration(render_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("1h1m1s", 3661), ("90m", 5400)]
)
def test_the_forms_of_a_duration(text: str, seconds: int) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "0s", "0h0m", "90", "1 h", "1h 30m", "30m1h", "-1h", "1.5h", "1d", "1H", "\u0661h", 90, None]
)
def test_what_is_no_duration_says_how_one_looks(text: object) -> None:
    with pytest.raises(ValueError, match="90s, 30m, 2h or 1h30m"):
        parse_duration(text)
