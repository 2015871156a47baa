"""What a job's author and its trainer tell the controller, as annotations: read once, strictly, by what is said here.

The readers of a job (`deadline_of` and its like) give None for what is not there or cannot be read: a job with text
that cannot be read is refused by the preflight, with the words of the parsers below, before any of them matters.
"""

import re
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from spotproof.controller.kinds import Object
from spotproof.fallback.record import PROGRESS_PATTERN, parse_instant
from spotproof.fallback.run import Instant
from spotproof.settings.base import DURATION_PATTERN, parse_duration
from spotproof.settings.errors import shown
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION, DEADLINE_ANNOTATION, PROGRESS_ANNOTATION, WORK_ANNOTATION

TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)
"""RFC 3339: seconds and zone are part of it. `datetime` alone would also take dates, weeks and times of no zone."""
HOURS: Final = re.compile(r"\d{1,5}(\.\d{1,4})?", re.ASCII)
WHOLE: Final = re.compile(r"\d{1,9}", re.ASCII)
PROGRESS: Final = re.compile(PROGRESS_PATTERN)

TIME_FORM: Final = "a time with its zone, as in 2026-11-21T18:00:00Z, or a duration from the job's creation, as in 36h"
WORK_FORM: Final = "hours, as in 12 or 12.5, or a duration, as in 12h30m"
LIMIT_FORM: Final = "a whole number from 0, as in 3"
PROGRESS_FORM: Final = "whole seconds of work from 0, as in 5400"

SECONDS_AN_HOUR: Final = 3600
FIRST: Final = 0
LAST: Final = 253_402_300_799
"""9999-12-31T23:59:59Z: a later time, or one of a year before 1000, has no RFC 3339 text that could be stored."""


def parse_deadline(text: str, created: Instant) -> Instant:
    """When a job must be ready: RFC 3339 with a zone, or a duration (`36h`, `1h30m`) from its creation.

    Raises:
        ValueError: it is neither.
    """
    if re.fullmatch(DURATION_PATTERN, text, re.ASCII):
        if not (seconds := _seconds(text)):
            raise ValueError(f"is {shown(text)}, no later than the job itself")
        return _written_in_full(created + seconds, text)
    if not TIME.fullmatch(text):
        raise ValueError(f"is {shown(text)}, neither a time with its zone nor a duration")
    try:
        at = int(datetime.fromisoformat(text.upper()).timestamp())
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is {shown(text)}, a time that no calendar has") from error
    return _written_in_full(at, text)


def _written_in_full(at: Instant, text: str) -> Instant:
    if not FIRST <= at <= LAST:
        raise ValueError(f"is {shown(text)}, not in the years 1970 to 9999 of UTC")
    return at


def parse_work(text: str) -> int:
    """Seconds of useful running: hours (`12`, `12.5`), or a duration (`12h`, `12h30m`).

    A bare number is hours, as the annotation says; a duration is taken too, since every other time is written so.

    Raises:
        ValueError: it is neither, or no time at all.
    """
    if re.fullmatch(DURATION_PATTERN, text, re.ASCII):
        seconds = _seconds(text)
    elif HOURS.fullmatch(text):
        seconds = int((Decimal(text) * SECONDS_AN_HOUR).to_integral_value(ROUND_HALF_UP))
    else:
        raise ValueError(f"is {shown(text)}, neither hours nor a duration")
    if not seconds:
        raise ValueError(f"is {shown(text)}, no work at all")
    return seconds


def _seconds(duration: str) -> int:
    """Of a duration that has the form of one; 0 for one of nothing, which settings have no use for."""
    return int(parse_duration(duration).total_seconds()) if re.search("[1-9]", duration) else 0


def parse_backoff_limit(text: str) -> int:
    """How many software errors a job may restart from; one more ends it.

    Raises:
        ValueError: it is no whole number from 0.
    """
    if not WHOLE.fullmatch(text):
        raise ValueError(f"is {shown(text)}, no whole number from 0")
    return int(text)


def parse_progress(text: str) -> int:
    """Seconds of work in the newest complete checkpoint, as the trainer writes it.

    Raises:
        ValueError: it is no whole number from 0.
    """
    if not PROGRESS.fullmatch(text):
        raise ValueError(f"is {shown(text)}, no whole number of seconds")
    return int(text)


def created_of(job: Object) -> Instant:
    """When the API server took the job."""
    return parse_instant(job["metadata"]["creationTimestamp"])


def text_of(thing: Object, annotation: str) -> str | None:
    """An annotation without blanks around it, or None."""
    text = (thing["metadata"].get("annotations") or {}).get(annotation)
    return None if text is None else str(text).strip()


def deadline_of(job: Object) -> Instant | None:
    """When the job must be ready."""
    text = text_of(job, DEADLINE_ANNOTATION)
    try:
        return None if text is None else parse_deadline(text, created_of(job))
    except ValueError:
        return None


def work_of(job: Object) -> int | None:
    """Useful running the job needs in all, seconds."""
    text = text_of(job, WORK_ANNOTATION)
    try:
        return None if text is None else parse_work(text)
    except ValueError:
        return None


def backoff_limit_of(job: Object) -> int | None:
    """How many software errors the job may restart from; None: the operator's own limit."""
    text = text_of(job, BACKOFF_LIMIT_ANNOTATION)
    try:
        return None if text is None else parse_backoff_limit(text)
    except ValueError:
        return None


def progress_of(run: Object) -> int | None:
    """Work in the newest complete checkpoint of a TrainingRun's job, seconds; None where nobody says so readably."""
    text = text_of(run, PROGRESS_ANNOTATION)
    try:
        return None if text is None else parse_progress(text)
    except ValueError:
        return None


def unreadable_progress(run: Object) -> str | None:
    """Why what a trainer wrote as its progress is ignored, for its owner; None where it is not."""
    text = text_of(run, PROGRESS_ANNOTATION)
    if text is None:
        return None
    try:
        parse_progress(text)
    except ValueError as error:
        return f"annotation {PROGRESS_ANNOTATION} {error}: write {PROGRESS_FORM}"
    return None
