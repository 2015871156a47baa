"""Half-placed gangs: a job that holds some nodes and cannot get the rest gives them back, and tries again later.

Two jobs that hold half of a pool each would wait for each other for ever. The oldest of a tier keeps what it has while
a younger one can give; a job that is alone gives back too, because idle nodes are billed. Who gave back comes again
after a while that no other job shares, and after those that are older.
"""

import math
from typing import TYPE_CHECKING, Final

from spotproof.controller.deciding import waits_since
from spotproof.controller.kinds import Object
from spotproof.controller.writing import read_status
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.resolved import ResolvedTier
from spotproof.fallback.run import NEVER, Action, Decision, Instant
from spotproof.fallback.view import ANSWER

if TYPE_CHECKING:
    from spotproof.controller.visit import Visit

__all__ = ["ANSWER", "due", "patience", "resume_at"]

LEAST: Final = 0.5
"""Of pendingTimeout: how soon a job comes again at the earliest; three times as late at the latest."""
APART_SECONDS: Final = 10
"""Between two that come again: the pods of the older one are before the scheduler by then. Of a short pendingTimeout a
tenth."""


def patience(here: "Visit", status: TrainingRunStatus) -> float:
    """How long the job may wait on its tier, in seconds; for ever on one of which no policy says it."""
    tier = here.tiers.get(status.tier or "")
    return math.inf if tier is None else tier.pending_timeout.total_seconds()


def due(here: "Visit", status: TrainingRunStatus) -> float | None:
    """When a half-placed job is to give back; None where it is none.

    Not while a question is open that was asked before that: another tier may have room for all of it, and a question
    ends with the nodes. Of several tiers that answer as slowly as they are asked one always is.
    """
    since = waits_since(status)
    if since is None or not status.nodes_held or (at := since + patience(here, status)) == math.inf:
        return None
    return max([at, *(asked + ANSWER for each in status.tiers if (asked := each.asking_since) and asked < at)])


def instants(here: "Visit", status: TrainingRunStatus) -> list[float]:
    """When a job that waits is to be looked at again: as its patience ends, and for nodes that it holds.

    The oldest of several keeps its nodes for now, and looks again once the next of the others should have given back.
    """
    since, at = waits_since(status), due(here, status)
    found = [] if since is None else [since + patience(here, status), *([] if at is None else [at])]
    if at is not None and at <= here.now:
        theirs = [_gives_back(here, run) for run in _others(here, status)]
        found.append(max(min(theirs, default=here.now), here.now) + APART_SECONDS)
    return [each for each in found if here.now < each < math.inf]


def _gives_back(here: "Visit", run: Object) -> float:
    """When another job of the tier has given its nodes back, or comes again after it has."""
    if (at := _comes_again(run)) is not None:
        return at
    status = read_status(run)
    return (status.waiting_since or here.second) + patience(here, status)


def resume_at(here: "Visit", status: TrainingRunStatus, decision: Decision) -> Instant | None:
    """When the job is to come again, if it gives its nodes back now; None if it keeps them."""
    at = due(here, status)
    if at is None or here.now < at or decision.action is not Action.WAIT or _is_the_oldest_of_several(here, status):
        return None
    tier = here.tiers[status.tier or ""]
    pause = int(tier.pending_timeout.total_seconds() * (LEAST + here.jitter)) + 1
    wanted = _in_order_of_age(here, status, here.second + pause, tier)
    return wanted if decision.next_at >= NEVER else max(min(wanted, decision.next_at), here.second + 1)


def _in_order_of_age(here: "Visit", status: TrainingRunStatus, wanted: Instant, tier: ResolvedTier) -> Instant:
    """Not before those that are older and wait outside as this one does, and before those that are younger."""
    apart = int(min(APART_SECONDS, tier.pending_timeout.total_seconds() / 10)) + 1
    outside = [
        (_age(run), at) for run in here.cache.waiting(status.tier or "") if (at := _comes_again(run)) is not None
    ]
    older = [at for age, at in outside if age < _age(here.run)]
    younger = [at for age, at in outside if age > _age(here.run)]
    return max([min([wanted, *(at - apart for at in younger)]), here.second + 1, *(at + apart for at in older)])


def _comes_again(run: Object) -> Instant | None:
    move = read_status(run).move
    return None if move is None else move.resume_at


def _is_the_oldest_of_several(here: "Visit", status: TrainingRunStatus) -> bool:
    others = _others(here, status)
    return bool(others) and all(_age(here.run) < _age(other) for other in others)


def _others(here: "Visit", status: TrainingRunStatus) -> list[Object]:
    """The other jobs that hold some of the tier's nodes and wait for more."""
    return [run for run in here.cache.half_placed(status.tier or "") if not _is_same(run, here.run)]


def _is_same(one: Object, other: Object) -> bool:
    return one["metadata"]["uid"] == other["metadata"]["uid"]


def _age(run: Object) -> tuple[str, str]:
    return run["metadata"]["creationTimestamp"], run["metadata"]["uid"]
