"""Conditions of a TrainingRun that are not as they should be, each with what its reader can do."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from spotproof.controller.messages import CONDITIONS, FINDING, NOTHING
from spotproof.fallback.record import RunCondition
from spotproof.status.salvage import Run

ACCEPTED: Final = "Accepted"
"""The only condition that is well when it is true; the others tell of something that is not."""
TOLD: Final = {ACCEPTED: "Refused", "HandedBack": "HandedBack", "Paused": "Manual", "LastTierWaits": "Waiting"}
"""Condition -> the phase that says the same, with the status's own message."""
JOB: Final = "<kind> <name>"
"""As the controller's remedies name the job, which are told to everybody."""


class Trouble(NamedTuple):
    """A condition that is not as wanted, or that this version does not know; `remedy` is empty where there is none."""

    type: str
    status: str
    message: str
    remedy: str


def troubles(run: Run) -> Iterator[Trouble]:
    """The conditions that are not as wanted, in the order of the status."""
    for each in run.status.conditions:
        if each.type not in CONDITIONS or each.status != wanted(each.type):
            yield Trouble(each.type, each.status, each.message, _remedy(run, each))


def wanted(condition: str) -> str:
    """The status of a condition where all is well."""
    return "True" if condition == ACCEPTED else "False"


def _remedy(run: Run, condition: RunCondition) -> str:
    if condition.type not in CONDITIONS:
        return ""
    states = CONDITIONS[condition.type].states
    # of a refused job the reason is the finding's own word
    state = states.get(condition.reason) or (states[FINDING] if condition.type == ACCEPTED else None)
    if state is None or state.remedy == NOTHING:
        return ""
    return state.remedy.replace(JOB, f"-n {run.namespace} {run.kind.lower()} {run.name}")
