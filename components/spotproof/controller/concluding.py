"""What a visit comes to, as the job's owner reads it: phase, reason, conditions."""

from typing import Final

from spotproof.controller import deciding
from spotproof.controller.annotations import backoff_limit_of
from spotproof.controller.gang import Gang
from spotproof.controller.kinds import Object
from spotproof.controller.messages import condition
from spotproof.controller.phases import REASONS, ROLE_MISSING, why
from spotproof.controller.said import Said, Want
from spotproof.fallback.reasons import Code, sentence
from spotproof.fallback.record import KEPT_HISTORY, Past, RunCondition, RunPhase, TrainingRunStatus
from spotproof.fallback.run import Decision, Instant

ACCEPTED: Final = "Accepted"
LAST_TIER: Final = frozenset({Code.LAST, Code.DRY, Code.DRY_ALONE})
LAST_WAITS: Final = "LastTierWaits"
HANDS_OFF: Final = frozenset({"Suspended", "HandedBack", "Manual", "Refused", "Succeeded", "Failed"})
"""Phases of a job that is in other hands, or over: what it waits for and holds there is no news of ours, and would be
taken for a wait of hours once it is back."""
STALLED: Final = 5
"""Restarts in a row without progress after which the owner is told (design, section 6)."""


def conditioned(status: TrainingRunStatus, kind: str, reason: str, now: Instant, **values: object) -> TrainingRunStatus:
    """The status with what a condition says now (messages.CONDITIONS); its time changes only with its answer.

    One that would only say that all is well is not brought up.
    """
    answer, reason, message = condition(kind, reason, **values)
    known = next((each for each in status.conditions if each.type == kind), None)
    if known is None and answer == "False" and kind != ACCEPTED:
        return status
    made = RunCondition(
        type=kind,
        status=answer,
        observed_generation=status.observed_generation,
        last_transition_time=known.last_transition_time if known is not None and known.status == answer else now,
        reason=str(values.get("code", reason)),
        message=message,
    )
    if made == known:
        return status
    kept = {each.type: each for each in status.conditions}
    return status.model_copy(update={"conditions": tuple({**kept, kind: made}.values())})


def in_phase(status: TrainingRunStatus, phase: RunPhase, reason: str, message: str) -> TrainingRunStatus:
    """The status in a phase that no clock runs in, and in which no tier is asked."""
    tiers = tuple(each.model_copy(update={"asking_since": None}) for each in status.tiers)
    said = {"phase": phase, "reason": reason, "message": message[:1024], "next_decision_time": None}
    waits = deciding.NOT_WAITING if phase in HANDS_OFF else {}
    return status.model_copy(update={**said, **waits, "tiers": tiers})


def because(status: TrainingRunStatus, reason: str, **values: object) -> TrainingRunStatus:
    """The status in the phase of one of the controller's own reasons (phases.REASONS)."""
    return in_phase(status, REASONS[reason].phase, reason, why(reason, **values))


def failed_too_often(before: TrainingRunStatus, after: TrainingRunStatus, job: Object) -> TrainingRunStatus | None:
    """The status of a job that has just failed by itself more often than its own limit; None where it has not.

    One that was resumed after that has more errors than its limit, and goes on until the next.
    """
    limit = backoff_limit_of(job)
    if limit is None or after.errors <= limit or after.errors == before.errors:
        return None
    return because(after, "TooManyErrors", errors=after.errors, limit=limit)


def decided(  # noqa: PLR0913 - what is known of a job that stays
    status: TrainingRunStatus,
    decision: Decision,
    gang: Gang,
    waits_for: Said | None,
    now: Instant,
    *,
    patience: float,
) -> TrainingRunStatus:
    """The status after the rule has answered that the job stays where it is.

    `waits_for` is what the scheduler, Karpenter or the cloud says is missing, `patience` the tier's pendingTimeout in
    seconds, after which its owner is told where no tier comes next.
    """
    waiting = deciding.waits_since(status) is not None and decision.reason.code is not Code.PLACED
    said, reason = sentence(decision.reason), decision.reason.code.value
    role = waiting and waits_for is not None and waits_for.want is Want.ROLE
    if role:
        # nothing is dry: whatever the market, EC2 starts none until somebody makes the role
        said, reason = why(ROLE_MISSING, tier=status.tier), ROLE_MISSING
    status = status.model_copy(
        update={
            "phase": _phase(status, gang, waiting=waiting),
            "reason": reason,
            "message": said[:1024],
            "waiting_for": waits_for.text[:1024] if waiting and waits_for else None,
        }
    )
    if decision.reason.code is Code.PLACED and not gang.is_placed:
        # between two tries for the last tier there is no pod that could say that it waits
        return status
    if not waiting or decision.reason.code not in LAST_TIER:
        return conditioned(status, LAST_WAITS, "Placed", now)
    if role:
        return conditioned(status, LAST_WAITS, ROLE_MISSING, now, tier=status.tier)
    if holding(status, LAST_WAITS) or now - (status.waiting_since or now) >= patience:
        return conditioned(status, LAST_WAITS, "NoRoom", now, message=said)
    return status


def holding(status: TrainingRunStatus, kind: str) -> RunCondition | None:
    """A condition that is True; None where it is not."""
    return next((each for each in status.conditions if each.type == kind and each.status == "True"), None)


def _phase(status: TrainingRunStatus, gang: Gang, *, waiting: bool) -> RunPhase:
    if waiting:
        return "Waiting"
    if status.interruption is not None and status.interruption.over is None:
        return "Restarting"
    return "Running" if gang.is_placed or gang.is_whole else "Pending"


def remembering(status: TrainingRunStatus, *past: Past) -> TrainingRunStatus:
    """The history with something more; the newest entries are kept."""
    return status.model_copy(update={"history": (*status.history, *past)[-KEPT_HISTORY:]})


def counting(before: TrainingRunStatus, after: TrainingRunStatus, now: Instant) -> TrainingRunStatus:
    """The history with what was counted just now, and without what turned out to be something else."""
    said = after.interruption or before.interruption
    message = "" if said is None else said.evidence
    lost = Past(at=now, what="Evicted", from_=after.tier, reason="Eviction", message=message)
    changes = (
        (lost, after.evictions - before.evictions),
        (lost.model_copy(update={"what": "Failed", "reason": "Error"}), after.errors - before.errors),
        (lost.model_copy(update={"what": "Disrupted", "reason": "Voluntary"}), disruptions(before, after)),
    )
    found = [each for each, count in changes for _ in range(count)]
    withdrawn = {each.what: -count for each, count in changes if count < 0}
    after = after.model_copy(update={"history": _without(after.history, withdrawn)}) if withdrawn else after
    return remembering(after, *found) if found else after


def _without(history: tuple[Past, ...], withdrawn: dict[str, int]) -> tuple[Past, ...]:
    """The history without the newest so many of each word."""
    kept = list[Past]()
    for each in reversed(history):
        if withdrawn.get(each.what, 0) > 0:
            withdrawn[each.what] -= 1
        else:
            kept.append(each)
    return tuple(reversed(kept))


def disruptions(before: TrainingRunStatus, after: TrainingRunStatus) -> int:
    """How many interruptions were found to be nobody's fault just now; -1 where one of before turned out to be."""
    old, new = before.interruption, after.interruption
    same = old is not None and new is not None and (old.attempt, old.since) == (new.attempt, new.since)
    if old is not None and new is not None and same:
        return (new.cause == "voluntary") - (old.cause == "voluntary")
    charged = after.evictions > before.evictions or after.errors > before.errors
    found = int(new is not None and new.cause == "voluntary")
    if old is not None and charged:
        return found - (new is None and old.cause == "voluntary")
    return found + (old is not None and old.cause == "undecided")


def arrived(status: TrainingRunStatus, now: Instant) -> TrainingRunStatus:
    """The last change of place is over: how long it took belongs to it."""
    if not status.history or status.history[-1].what not in {"Moved", "Restarted"}:
        return status
    *before, last = status.history
    if last.seconds is not None:
        return status
    return status.model_copy(update={"history": (*before, last.model_copy(update={"seconds": max(now - last.at, 0)}))})


def progressing(status: TrainingRunStatus, saved: int, now: Instant, *, restarts: int = 1) -> TrainingRunStatus:
    """Count restarts that saved nothing; at the fifth in a row the owner is told, and the job goes on."""
    stalled = status.stalled_restarts + restarts if saved <= status.progress_seconds else restarts - 1
    status = status.model_copy(
        update={"stalled_restarts": stalled, "progress_seconds": max(saved, status.progress_seconds)}
    )
    if stalled >= STALLED:
        return conditioned(status, "NoProgress", "Stalled", now, count=stalled)
    return conditioned(status, "NoProgress", "Progressing", now)
