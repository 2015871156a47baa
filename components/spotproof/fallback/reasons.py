"""Why a decision was taken: a code with its numbers, and the sentence its owner reads."""

import enum
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from spotproof.settings.base import render_duration


class Code(enum.Enum):
    """One word for each answer; the sentence is in SENTENCES, with what its numbers mean."""

    RUNNING = "Running"
    PLACED = "Placed"
    WAITING = "Waiting"
    DRY = "DryMarket"
    FAILURES = "TooManyFailures"
    USED_UP = "NowhereToGo"
    TIMEOUT = "PendingTimeout"
    EQUAL = "EqualTierAnswered"
    OTHER = "OtherTierAnswered"
    RETURN = "CheaperTierAnswered"
    MIN_STAY = "MinStay"
    ASKED = "Asking"
    BRAKE = "TooManyMoves"
    GUARD = "DeadlineGuard"
    LATE = "DeadlineMissed"
    SPOT_THERE = "SpotIsThere"
    SPARE_WAIT = "SpareTimeToWait"
    SPARE_PAY = "NoSpareTimeToWait"
    SPARE_LEAVE = "SpareTimeToLeave"
    SPARE_KEEP = "NoSpareTimeToLeave"
    PREMIUM_WAIT = "WorthWaitingForCheaper"


class Reason(NamedTuple):
    """A code and the numbers it was decided on: seconds, counts, thousandths or names, as SENTENCES reads them.

    `nodes_held` are nodes that are billed while the job waits.
    """

    code: Code
    numbers: tuple[int | str, ...] = ()
    nodes_held: int = 0


def _time(seconds: Any) -> str:
    """A duration as the settings write it; under a minute in seconds, else in whole minutes."""
    whole = max(int(seconds), 0)
    return render_duration(timedelta(seconds=whole if whole < 60 else whole - whole % 60))  # noqa: PLR2004


def _share(thousandths: Any) -> str:
    return f"{int(thousandths) / 10:.0f} %"


def _times(count: Any) -> str:
    return "once" if count == 1 else f"{count} times"


SENTENCES: Final[Mapping[Code, Callable[..., str]]] = {
    Code.RUNNING: lambda pool: f"runs on {pool}",
    Code.PLACED: lambda pool: f"{pool} has room, the job is being placed there",
    Code.WAITING: lambda pool, waited, limit: f"waiting for {pool} for {_time(waited)}, of {_time(limit)} at most",
    Code.DRY: lambda pool, waited: (
        f"no capacity on {pool}, the last tier, for {_time(waited)}: waiting as long as it takes, and asking every "
        "other tier"
    ),
    Code.FAILURES: lambda pool, count, limit, after: (
        f"{pool} failed the job {_times(count)}, and maxFailures is {limit}: moving to {after}"
    ),
    Code.USED_UP: lambda pool, count, limit: (
        f"{pool} failed the job {_times(count)}, and maxFailures is {limit}, but no tier comes after it: staying"
    ),
    Code.TIMEOUT: lambda pool, waited, limit, after: (
        f"no place on {pool} for {_time(waited)}, and pendingTimeout is {_time(limit)}: moving to {after}"
    ),
    Code.EQUAL: lambda pool, after: f"no place on {pool}, and {after} has one for the same price: moving there",
    Code.OTHER: lambda pool, waited, after: f"no place on {pool} for {_time(waited)}, and {after} has one: moving there",
    Code.RETURN: lambda pool, after: f"{after} has room and is cheaper than {pool}: returning",
    Code.MIN_STAY: lambda pool, stayed, least: (
        f"stays on {pool} for at least {_time(least)} before a return, {_time(stayed)} so far"
    ),
    Code.ASKED: lambda pool: f"asking whether {pool} has room",
    Code.BRAKE: lambda moves, limit: f"moved {_times(moves)} within the hour, and maxMovesPerHour is {limit}: staying",
    Code.GUARD: lambda left, work, restart, pool: (
        f"{_time(left)} is left for {_time(work)} of work and a restart of {_time(restart)}: {pool} is needed now to "
        "be ready in time"
    ),
    Code.LATE: lambda left, work, pool: (
        f"{_time(left)} is left for {_time(work)} of work, so the deadline cannot be met any more: {pool} ends soonest"
    ),
    Code.SPOT_THERE: lambda pool: f"spot is there: taking {pool}",
    Code.SPARE_WAIT: lambda share, kept: (
        f"waiting for spot: {_share(share)} of the time left is spare, {_share(kept)} is kept in an outage of this age"
    ),
    Code.SPARE_PAY: lambda share, kept, pool: (
        f"taking {pool}: {_share(share)} of the time left is spare, and {_share(kept)} is kept in an outage of this age"
    ),
    Code.SPARE_LEAVE: lambda share, needed, pool, age: (
        f"taking {pool}: it has been up for {_time(age)}, {_share(share)} of the time left is spare, and "
        f"{_share(needed)} is enough to try"
    ),
    Code.SPARE_KEEP: lambda share, needed, pool: (
        f"staying on {pool}: {_share(share)} of the time left is spare, and {_share(needed)} is needed to try a "
        "cheaper tier"
    ),
    Code.PREMIUM_WAIT: lambda pool, share, kept: (
        f"waiting for a tier cheaper than {pool}: {_share(share)} of the time left is spare, {_share(kept)} is kept "
        "for a saving of this size"
    ),
}


def sentence(reason: Reason) -> str:
    """The reason as its owner reads it."""
    text = SENTENCES[reason.code](*reason.numbers)
    if not reason.nodes_held:
        return text
    nodes = "1 node is" if reason.nodes_held == 1 else f"{reason.nodes_held} nodes are"
    return f"{text}; {nodes} held and billed meanwhile"
