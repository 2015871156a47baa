"""Why a decision was taken: a code with its numbers, and the sentence its owner reads."""

import enum
from collections.abc import Callable, Mapping
from datetime import timedelta
from string import Formatter
from typing import Any, Final, NamedTuple

from spotproof.settings.base import render_duration


class Code(enum.Enum):
    """One word for each answer; the sentence is in SENTENCES, with what its numbers mean."""

    RUNNING = "Running"
    PLACED = "Placed"
    WAITING = "Waiting"
    LAST = "WaitingForLastTier"
    DRY = "DryMarket"
    DRY_ALONE = "OnlyTierIsDry"
    FAILURES = "TooManyFailures"
    USED_UP = "NowhereToGo"
    TIMEOUT = "PendingTimeout"
    EQUAL = "EqualTierAnswered"
    OTHER = "OtherTierAnswered"
    RETURN = "CheaperTierAnswered"
    MIN_STAY = "MinStay"
    ASKED = "Asking"
    GONE = "TierIsGone"
    BRAKE = "TooManyMoves"
    GUARD = "DeadlineGuard"
    GUARD_DRY = "OnDemandIsDry"
    LATE = "DeadlineMissed"
    LATE_STAY = "TooLateToMove"
    SPOT_THERE = "SpotIsThere"
    SPARE_WAIT = "SpareTimeToWait"
    SPARE_DECLINE = "SpareTimeToWaitForCheaper"
    SPARE_PAY = "NoSpareTimeToWait"
    SPARE_LEAVE = "SpareTimeToLeave"
    SPARE_KEEP = "NoSpareTimeToLeave"
    NO_SPOT = "SpotIsGone"


class Reason(NamedTuple):
    """A code and the numbers it was decided on: seconds, counts, thousandths or names, in the order of SENTENCES.

    `nodes_held` are nodes that are billed while the job waits.
    """

    code: Code
    numbers: tuple[int | str, ...] = ()
    nodes_held: int = 0


SENTENCES: Final[Mapping[Code, str]] = {
    Code.RUNNING: "runs on {0}",
    Code.PLACED: "{0} has room, the job is being placed there",
    Code.WAITING: "waiting for {0} for {1:time}, of {2:time} at most",
    Code.LAST: "waiting for {0}, the last tier, for {1:time}",
    Code.DRY: "no capacity on {0}, the last tier, for {1:time}: waiting as long as it takes, asking all other tiers",
    Code.DRY_ALONE: "no capacity on {0}, the only tier, for {1:time}: waiting as long as it takes",
    Code.FAILURES: "{0} failed the job {1:times}, and maxFailures is {2}: moving to {3}",
    Code.USED_UP: "{0} failed the job {1:times}, and maxFailures is {2}, but no tier comes after it: staying",
    Code.TIMEOUT: "no place on {0} for {1:time}, and pendingTimeout is {2:time}: moving to {3}",
    Code.EQUAL: "no place on {0}, and {1} has one for the same price: moving there",
    Code.OTHER: "no place on {0} for {1:time}, and {2} has one: moving there",
    Code.RETURN: "{1} has room and is cheaper than {0}: returning",
    Code.MIN_STAY: "stays on {0} for at least {2:time} before a return, {1:time} so far",
    Code.ASKED: "asking whether {0} has room",
    Code.GONE: "{0} is no tier of the policy any more: the next attempt is on {1}",
    Code.BRAKE: "moved {0:times} within the hour, and maxMovesPerHour is {1}: staying",
    Code.GUARD: "{0:time} is left for {1:time} of work and a restart of {2:time}: {3} is needed now to end in time",
    Code.GUARD_DRY: (
        "{0:time} is left for {1:time} of work and a restart of {2:time}, and {3} had no room when it was needed: "
        "going on here, asking it again"
    ),
    Code.LATE: (
        "{0:time} is left for {1:time} of work and a restart of {2:time}, so the deadline cannot be met any more: "
        "{3} ends soonest"
    ),
    Code.LATE_STAY: (
        "{0:time} is left for {1:time} of work, and with a restart of {2:time} {3} would be late for certain: staying"
    ),
    Code.SPOT_THERE: "spot is there: taking {0}",
    Code.SPARE_WAIT: "waiting for spot: {0:share} of the time left is spare, {1:share} is kept in an outage so old",
    Code.SPARE_DECLINE: (
        "waiting for a tier cheaper than {2}: {0:share} of the time left is spare, {1:share} is kept for such a saving"
    ),
    Code.SPARE_PAY: "taking {2}: {0:share} of the time left is spare, and {1:share} is kept in an outage so old",
    Code.SPARE_LEAVE: (
        "taking {2}: it has been up for {3:time}, {0:share} of the time left is spare, and {1:share} is enough to try"
    ),
    Code.SPARE_KEEP: (
        "staying on {2}: {0:share} of the time left is spare, and {1:share} is needed to try a cheaper tier"
    ),
    Code.NO_SPOT: "staying on {0}: no spot tier is known to have room",
}
"""What is said, by code; `time` are seconds, `share` thousandths, `times` a count, the rest is written as it is."""
NODES_HELD: Final = "; {nodes:nodes} held and billed meanwhile"
"""What follows on any of them, where nodes are."""


def sentence(reason: Reason) -> str:
    """The reason as its owner reads it."""
    text = phrase(SENTENCES[reason.code], *reason.numbers)
    if not reason.nodes_held:
        return text
    return text + phrase(NODES_HELD, nodes=reason.nodes_held)


def phrase(template: str, *numbers: object, **named: object) -> str:
    """A sentence with its numbers in our words: `{0:time}`, `{count:times}`, `{spare:share}`; names as they are.

    Raises:
        LookupError: a number of the sentence is not given.
    """
    return _Formatter().vformat(template, numbers, named)


def _time(seconds: int) -> str:
    """As the settings write it: from a minute up in whole minutes."""
    whole = max(seconds, 0)
    return render_duration(timedelta(seconds=whole - whole % 60 if whole >= MINUTE else whole))


def _share(thousandths: int) -> str:
    return f"{thousandths / 10:.0f} %"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _nodes(count: int) -> str:
    return "1 node is" if count == 1 else f"{count} nodes are"


MINUTE: Final = 60
FORMATS: Final[Mapping[str, Callable[[int], str]]] = {
    "time": _time,
    "share": _share,
    "times": _times,
    "nodes": _nodes,
}


class _Formatter(Formatter):
    """Python's own format strings, with our words for what a number is."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return FORMATS[format_spec](value) if format_spec else str(value)
