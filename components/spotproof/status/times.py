"""Times as people say them."""

from datetime import UTC, datetime
from typing import Final

from spotproof.fallback.run import Instant

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
LATEST: Final = 253_402_300_799
"""The end of the year 9999, after which Python has no dates."""


def span(seconds: int) -> str:
    """A stretch of time in its two largest units: `45s`, `12m`, `3h20m`, `2d4h`."""
    whole = max(seconds, 0)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m"
    large, small, words = (DAY, HOUR, "dh") if whole >= DAY else (HOUR, MINUTE, "hm")
    rest = whole % large // small
    return f"{whole // large}{words[0]}{f'{rest}{words[1]}' if rest else ''}"


def hours(seconds: int) -> str:
    """An amount of work, in hours however many: `13h30m`, `28h`."""
    whole = max(seconds, 0)
    rest = whole % HOUR // MINUTE
    return span(whole) if whole < HOUR else f"{whole // HOUR}h{f'{rest}m' if rest else ''}"


def moment(at: Instant) -> str:
    """A moment with its day, in UTC."""
    kept = min(max(at, 0), LATEST)
    return datetime.fromtimestamp(kept, UTC).strftime("%Y-%m-%d %H:%M UTC")


def stamp(at: Instant) -> str:
    """A moment as Kubernetes writes it."""
    kept = min(max(at, 0), LATEST)
    return datetime.fromtimestamp(kept, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
