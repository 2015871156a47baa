"""The only place that reads the calendar."""

from datetime import UTC, date, datetime


def today() -> date:
    """The day in UTC, against which support dates are judged."""
    return datetime.now(tz=UTC).date()
