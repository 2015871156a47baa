"""What each condition of a TrainingRun should be, and what helps where it is not."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from spotproof.status.salvage import Run


class Wanted(NamedTuple):
    """The status a condition has where all is well, and what to do where it has not: `{job}` is its kubectl name.

    `remedy` is empty where there is nothing to do.
    """

    status: str
    remedy: str


WANTED: Final = {
    "Accepted": Wanted(
        "True",
        "mend what is named above; the controller looks again by itself. What the operator does not let you change "
        "needs the job deleted and submitted again",
    ),
    "HandedBack": Wanted(
        "False",
        "the controller leaves the job alone. To give it back: `kubectl label {job} spotproof.dev/manual=true`, then "
        "`kubectl label {job} spotproof.dev/manual-`",
    ),
    "Paused": Wanted(
        "False",
        "`kubectl label {job} spotproof.dev/manual-` where the job has that label; otherwise take label "
        "spotproof.dev/paused off namespace {namespace} or spotproof-system",
    ),
    "NoProgress": Wanted(
        "False",
        "see in the log of an attempt that it finds its newest checkpoint at CHECKPOINT_URI, and in the store that new "
        "ones come",
    ),
    "ProgressAssumed": Wanted(
        "False", "have the trainer report what is saved: docs/how-to/run-a-job.md, Report progress"
    ),
    "DeadlineIncomplete": Wanted(
        "False", "write both annotations on the job, spotproof.dev/deadline and spotproof.dev/work"
    ),
    "CheckpointUnknown": Wanted(
        "False", "set CHECKPOINT_URI in every container that trains, or render the job by `spotproof render`"
    ),
    "LastTierWaits": Wanted("False", ""),
    "PolicyInvalid": Wanted("False", "`kubectl describe fallbackpolicy {policy}` says what is wrong in it"),
}


TOLD: Final = {"Accepted": "Refused", "HandedBack": "HandedBack", "Paused": "Manual", "LastTierWaits": "Waiting"}
"""Condition -> the phase that says the same, with the status's own message."""


class Trouble(NamedTuple):
    """A condition that is not as wanted, or that this version does not know."""

    type: str
    status: str
    message: str
    remedy: str


def troubles(run: Run) -> Iterator[Trouble]:
    """The conditions that are not as wanted, in the order of the status."""
    for each in run.status.conditions:
        if (wanted := WANTED.get(each.type)) is None:
            yield Trouble(each.type, each.status, each.message, "")
        elif each.status != wanted.status and not (each.status == "Unknown" and not each.message):
            yield Trouble(each.type, each.status, each.message, _remedy(run, wanted.remedy))


def _remedy(run: Run, remedy: str) -> str:
    job = f"-n {run.namespace} {run.kind.lower() or 'jobset'} {run.name}"
    return remedy.format(job=job, namespace=run.namespace, policy=run.policy)
