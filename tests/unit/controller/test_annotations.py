"""What authors and trainers write as annotations is read as it is meant, or not at all, with a reason."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.controller.annotations import (
    backoff_limit_of,
    deadline_of,
    parse_backoff_limit,
    parse_deadline,
    parse_progress,
    parse_work,
    progress_of,
    unreadable_progress,
    work_of,
)
from spotproof.fallback.record import render_instant
from spotproof.settings.base import render_duration
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION, DEADLINE_ANNOTATION, PROGRESS_ANNOTATION, WORK_ANNOTATION

CREATED = "2026-11-21T10:00:00Z"
CREATED_AT = int(datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp())

ZONES = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(datetime(1971, 1, 1), datetime(9000, 1, 1), timezones=ZONES)  # noqa: DTZ001 - hypothesis adds it


def thing(**annotations: str) -> dict[str, Any]:
    return {"metadata": {"name": "demo", "creationTimestamp": CREATED, "annotations": annotations}}


@given(at=TIMES)
def test_a_time_with_its_zone_is_that_instant(at: datetime) -> None:
    whole = at.replace(microsecond=0)
    assert parse_deadline(whole.isoformat(), CREATED_AT) == int(whole.timestamp())
    assert parse_deadline(at.isoformat(timespec="milliseconds"), CREATED_AT) == int(whole.timestamp())


@given(seconds=st.integers(1, 99_999 * 3600))
def test_a_duration_counts_from_the_jobs_creation(seconds: int) -> None:
    assert parse_deadline(render_duration(timedelta(seconds=seconds)), CREATED_AT) == CREATED_AT + seconds


@pytest.mark.parametrize("text", ["2026-11-21T18:00:00Z", "2026-11-21t18:00:00z", "2026-11-21 19:00:00+01:00", "8h"])
def test_a_deadline_in_any_form_is_one_instant(text: str) -> None:
    assert deadline_of(thing(**{DEADLINE_ANNOTATION: f" {text}\n"})) == CREATED_AT + 8 * 3600


@pytest.mark.parametrize(
    "text",
    [
        *("", "tomorrow", "8 h", "0s", "-8h", "8", "٨h"),
        *("2026-11-21", "2026-11-21T18:00Z", "2026-11-21T18:00:00", "20261121T180000Z", "2026-W47-6"),
        *("2026-02-30T18:00:00Z", "2026-11-21T24:30:00Z", "0000-11-21T18:00:00Z"),
    ],
)
def test_a_deadline_that_leaves_room_for_doubt_is_none_and_says_so(text: str) -> None:
    assert deadline_of(thing(**{DEADLINE_ANNOTATION: text})) is None
    with pytest.raises(ValueError, match=r"neither a time with|a time that no calendar has|no later than"):
        parse_deadline(text, CREATED_AT)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("12", 43_200), ("12.5", 45_000), ("0.25", 900), ("007", 25_200), ("0.0002", 1), ("99999.9999", 360_000_000)),
        *(("12h", 43_200), ("12h30m", 45_000), ("90m", 5400)),
    ],
)
def test_work_is_hours_or_a_duration(text: str, seconds: int) -> None:
    assert work_of(thing(**{WORK_ANNOTATION: text})) == seconds


@given(tenths=st.integers(1, 999_999))
def test_work_in_tenths_of_an_hour_is_exact(tenths: int) -> None:
    assert parse_work(f"{tenths // 10}.{tenths % 10}") == tenths * 360


@pytest.mark.parametrize(
    "text", ["", "0", "0.0", "0.0001", "0h", "-1", "+1", "1e3", "1,5", "12 hours", "12hours", "nan"]
)
def test_work_that_leaves_room_for_doubt_is_none_and_says_so(text: str) -> None:
    assert work_of(thing(**{WORK_ANNOTATION: text})) is None
    with pytest.raises(ValueError, match=r"neither hours nor a duration|no work at all"):
        parse_work(text)


@given(count=st.integers(0, 999_999_999))
def test_whole_numbers_are_read_as_they_are(count: int) -> None:
    assert parse_backoff_limit(str(count)) == parse_progress(str(count)) == count
    assert backoff_limit_of(thing(**{BACKOFF_LIMIT_ANNOTATION: str(count)})) == count
    assert progress_of(thing(**{PROGRESS_ANNOTATION: f"{count}\n"})) == count


NO_NUMBERS = ["", "-1", "+1", "1.5", "many", "1_000", "٣", "9" * 11, "0x10"]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_limit_that_is_no_number_is_none_and_says_so(text: str) -> None:
    assert backoff_limit_of(thing(**{BACKOFF_LIMIT_ANNOTATION: text})) is None
    with pytest.raises(ValueError, match="no whole number from 0"):
        parse_backoff_limit(text)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_progress_that_is_no_number_is_ignored_with_a_reason(text: str) -> None:
    run = thing(**{PROGRESS_ANNOTATION: text})
    assert progress_of(run) is None
    reason = unreadable_progress(run)
    assert reason is not None
    assert reason.startswith("annotation spotproof.dev/progress is ")
    assert "5400" in reason


@given(text=st.text(max_size=40))
def test_no_text_of_a_trainer_does_more_than_be_ignored(text: str) -> None:
    run = thing(**{PROGRESS_ANNOTATION: text})
    assert (progress_of(run) is None) == (unreadable_progress(run) is not None)


@given(text=st.text(max_size=40), annotation=st.sampled_from([DEADLINE_ANNOTATION, WORK_ANNOTATION]))
def test_no_text_of_an_author_raises(text: str, annotation: str) -> None:
    job = thing(**{annotation: text, BACKOFF_LIMIT_ANNOTATION: text})
    for value in (deadline_of(job), work_of(job), backoff_limit_of(job)):
        assert value is None or isinstance(value, int)


def test_what_is_not_there_is_none() -> None:
    for job in (thing(), {"metadata": {"creationTimestamp": CREATED}}, {"metadata": {"annotations": None}}):
        read = (deadline_of(job), work_of(job), backoff_limit_of(job), progress_of(job), unreadable_progress(job))
        assert read == (None,) * 5


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-01:00", "0999-01-01T00:00:00Z", "1969-12-31T23:59:59Z"])
def test_a_deadline_that_could_not_be_written_down_is_refused(text: str) -> None:
    assert deadline_of(thing(**{DEADLINE_ANNOTATION: text})) is None
    with pytest.raises(ValueError, match="not in the years 1970 to 9999"):
        parse_deadline(text, CREATED_AT)


def test_the_last_second_that_can_be_written_down_is_a_deadline() -> None:
    at = parse_deadline("9999-12-31T23:59:59Z", CREATED_AT)
    assert render_instant(at) == "9999-12-31T23:59:59Z"
