"""Counting: what of a job's losses is one interruption, what caused it, and what it is charged for.

An interruption begins with the first pod lost and ends when the gang is whole, however many pods and restarts it takes.
Each counts once, whatever is delivered twice, late or never: what has been accounted for stands in the TrainingRun, the
operator's counters as far as they have been accounted for beside it.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from spotproof.controller.causes import DRAIN_SECONDS, RANK, Evidence, in_words, settled, strongest
from spotproof.controller.gang import Gang
from spotproof.controller.jobs.contract import JobState
from spotproof.fallback.record import (
    KEPT_FAILURES,
    KEPT_RESTARTS,
    Cause,
    Counted,
    Interruption,
    RunFailure,
    RunTier,
    TrainingRunStatus,
)
from spotproof.fallback.run import Instant

UNSEEN: Final = in_words("Uncounted")
BEFORE: Final = in_words("EndedBefore")
SUSPENDED: Final = in_words("ResumedUnseen")
CHARGED: Final = ("eviction", "error")


class Loss(NamedTuple):
    """A pod that was lost, when, of which attempt, and what it tells."""

    uid: str
    attempt: str
    evidence: Evidence


class Facts(NamedTuple):
    """What is seen of a job at one moment.

    `losses` are those that are not accounted for; `short` is whether work counts as done whose pod is gone, while the
    rest of its Job goes on; `unseen` is whether pods of a gang that was whole are gone that nobody saw go; `placed` is
    whether the gang had its places when a process before this one last wrote. `spot` is whether the job's tier can be
    reclaimed, `fates` what became of spot nodes that an open interruption names.
    """

    now: Instant
    pool: str
    spot: bool
    state: JobState
    gang: Gang
    losses: Sequence[Loss] = ()
    fates: Sequence[str] = ()
    short: bool = False
    unseen: bool = False
    placed: bool = False


def account(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    """The status with everything that was lost accounted for."""
    status = _settle(status, facts._replace(state=_as_it_ended(status, facts.state)))
    # they are of what was open until now: what begins with this look was charged to its nodes, too
    facts = facts._replace(fates=())
    if status.interruption is None or status.interruption.over is not None:
        status = _begin(status, facts)
    elif later := _later_errors(status.interruption, facts):
        status = _again(status, facts, later)
    if status.interruption is not None and status.interruption.over is None:
        status = _settle(_again_restarted(_with_evidence(status, facts), facts), facts)
        if facts.gang.is_whole:
            status = _settle(_end(status, facts), facts)
    elif facts.gang.is_whole and _is_whole_anew(status.counted, facts.gang):
        status = status.model_copy(update={"counted": _counted(facts)})
    return status


def _is_whole_anew(counted: Counted, gang: Gang) -> bool:
    """Also once a role is done: when its node is gone too, nothing tells it from a role that was evicted."""
    return counted.whole_since is None or counted.whole_since < gang.done_at


def _as_it_ended(status: TrainingRunStatus, state: JobState) -> JobState:
    """The operator's counters without the errors that it counts once an interruption is over: they are of the next one.

    Had it counted one by then, that had been its word. The error of a Ray program whose worker somebody had deleted ten
    seconds before was one for the worker, and one for itself.
    """
    open_ = status.interruption
    if open_ is None or open_.over is None:
        return state
    return state._replace(errors=min(state.errors, open_.errors - 1))


def cut_off(status: TrainingRunStatus, state: JobState, spot: Container[str]) -> TrainingRunStatus:
    """The status with no interruption open, since a move has ended its attempt: what waits for evidence gets no more.

    Without it an error was charged to nobody whose job was moved within seconds (by clocks that were 20 minutes apart).
    `spot` are pools that can be reclaimed.
    """
    interruption = status.interruption
    if interruption is None or interruption.cause != "undecided":
        return _close(status)
    by_counter = _by_counter(interruption, _as_it_ended(status, state), spot=interruption.pool in spot)
    # the longest that anything is waited for
    return _close(_charge(status, settled(interruption.finding, DRAIN_SECONDS, by_counter=by_counter)))


def _begin(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    counted, gang, state = status.counted, facts.gang, facts.state
    ended = max(state.restarts - counted.restarts, 0)
    if missed := ended if gang.is_whole and not facts.losses else ended - 1:
        status = _missed(status, facts, missed) if missed > 0 else status
    lost = facts.losses or ended or facts.short or (counted.whole_since is not None and gang.is_missing_pods)
    if not lost or (gang.is_whole and not facts.losses):
        return _counters_taken(status, facts) if gang.is_whole and ended else status
    decided = status
    if status.interruption is not None:
        # its evidence did not come, and the next one is here
        decided = _close(_charge(status, "voluntary" if status.interruption.cause == "undecided" else None))
    taken = max(ended - 1, 0)
    excuse = "" if facts.losses or ended else _excuse(counted, facts)
    return decided.model_copy(
        update={
            "interruption": Interruption(
                attempt=min((loss.attempt for loss in facts.losses), default=counted.attempt) or state.attempt,
                pool=facts.pool,
                restarts=counted.restarts + taken + 1,
                errors=counted.errors + taken + 1,
                # a process that finds it later finds the role complete as of then
                since=facts.now if gang.left_early_at is None else min(facts.now, gang.left_early_at),
                cause="undecided",
                finding="voluntary" if excuse else "unexplained",
                # what is seen of the others may be the restart that followed, before the operator's own news of it
                evidence=excuse or (UNSEEN if facts.unseen else ""),
            ),
            "counted": counted.model_copy(update={"whole_since": None}),
        }
    )


def _excuse(counted: Counted, facts: Facts) -> str:
    """Why nobody is charged for pods of which nothing is seen, nor counted by the operator; empty where somebody is."""
    whole, heeded = counted.whole_since, facts.state.heeded
    if whole is None:
        # a gang that was not ours, or had no places yet
        return "" if facts.placed else BEFORE
    # a suspension has deleted them
    return SUSPENDED if heeded is not None and heeded > whole else ""


def _with_evidence(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    """The interruption with everything seen so far; what was seen before is not forgotten."""
    interruption = status.interruption
    assert interruption is not None  # noqa: S101 - for the type checker
    found = [loss.evidence for loss in facts.losses if not _went_with_the_restart(loss, facts.state)]
    nodes = sorted({*interruption.nodes, *(each.node for each in found if each.node)})
    finding, said = interruption.finding, interruption.evidence
    best = strongest(found)
    if best is not None and (not said or RANK[best.finding] > RANK[finding]):
        finding, said = best.finding, best.seen
    update = {"finding": finding, "evidence": said[:1024], "nodes": tuple(nodes[:64])}
    return status.model_copy(update={"interruption": interruption.model_copy(update=update)})


def _again_restarted(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    """How often its operator has started the job since: the interruption is one, the restarts are several."""
    interruption = status.interruption
    assert interruption is not None  # noqa: S101 - for the type checker
    again = max(interruption.again, facts.state.restarts - interruption.restarts)
    return status.model_copy(update={"interruption": interruption.model_copy(update={"again": again})})


def restarts(before: TrainingRunStatus, after: TrainingRunStatus) -> int:
    """How many restarts of the job one look has found: by its interruptions, and of one that goes on by its `again`."""
    old, new = before.interruption, after.interruption
    counted = after.evictions - before.evictions + after.errors - before.errors
    if new is None:
        return 0 if old is not None else max(counted, 0)
    if old is None or (old.attempt, old.since) != (new.attempt, new.since):
        return max(new.again + 1, counted)
    return new.again - old.again


def _went_with_the_restart(loss: Loss, state: JobState) -> bool:
    """Whether the pod tells nothing, and its operator has restarted the gang since: it went because of that.

    A process that began after the pods that were evicted had gone saw only the others, and took their deletion for
    somebody's choice.
    """
    return loss.evidence.finding == "unexplained" and loss.attempt.isdigit() and int(loss.attempt) < state.restarts


def _by_counter(interruption: Interruption, state: JobState, *, spot: bool) -> Cause:
    """What an interruption is that no pod explains: what the operator calls an error is one.

    Pods that were only deleted were deleted by somebody; of those that nobody saw the tier tells.
    """
    if state.errors >= interruption.errors:
        return "error"
    if interruption.evidence not in {"", UNSEEN} or _was_begun_anew(interruption, state):
        return "voluntary"
    return "eviction" if spot else "voluntary"


def _was_begun_anew(interruption: Interruption, state: JobState) -> bool:
    """Whether another attempt is there and the operator counts none that ended: somebody suspended and resumed it."""
    return state.attempt not in {"", interruption.attempt} and state.restarts < interruption.restarts


def _settle(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    """Decide what has its evidence, or has waited for it long enough."""
    interruption = status.interruption
    if interruption is None:
        return status
    if facts.fates and interruption.finding != "eviction":
        proven = {"finding": "eviction", "evidence": facts.fates[0][:1024]}
        interruption = interruption.model_copy(update=proven)
    by_counter = _by_counter(interruption, facts.state, spot=facts.spot)
    cause = settled(interruption.finding, facts.now - interruption.since, by_counter=by_counter)
    if cause == "undecided" and (_has_its_word(interruption, facts.state) or interruption.cause == "error"):
        # what is counted stays so until something else is proven
        cause = "error" if by_counter == "error" else cause
    if cause != "undecided" and not interruption.evidence:
        interruption = interruption.model_copy(update={"evidence": UNSEEN})
    status = _charge(status.model_copy(update={"interruption": interruption}), cause)
    return _close(status) if interruption.over is not None and cause != "undecided" else status


def _has_its_word(interruption: Interruption, state: JobState) -> bool:
    """Whether the operator has said what it holds an interruption for that no pod explains.

    It has once the gang is whole again; and KubeRay, where it is about to make the next attempt and no pod was lost
    before: waiting for evidence that is not to come had made one attempt more than the job's own limit allows.
    """
    if interruption.finding != "unexplained":
        return False
    return interruption.over is not None or (state.retrying and interruption.evidence in {"", UNSEEN})


def _later_errors(interruption: Interruption, facts: Facts) -> int:
    """Errors of attempts that followed the one that was lost, before the gang was whole: errors of their own."""
    state = facts.state
    counted = min(state.errors - interruption.errors, state.restarts - interruption.restarts)
    own = [loss for loss in facts.losses if _is_later(loss.attempt, interruption.attempt)]
    best = strongest(loss.evidence for loss in own)
    seen = best is not None and best.finding == "error"
    return max(counted, int(seen), 0)


def _is_later(attempt: str, than: str) -> bool:
    return attempt.isdigit() and than.isdigit() and int(attempt) > int(than)


def _again(status: TrainingRunStatus, facts: Facts, errors: int) -> TrainingRunStatus:
    """The attempt that was to recover failed by itself: that is another interruption, and another error."""
    interruption = status.interruption
    assert interruption is not None  # noqa: S101 - for the type checker
    status = _charge(status, "voluntary" if interruption.cause == "undecided" else None)
    for _ in range(errors - 1):
        status = _past(status, facts, "error", facts.pool)
    later = [loss for loss in facts.losses if _is_later(loss.attempt, interruption.attempt)]
    attempt = max((loss.attempt for loss in later), key=int, default=facts.state.attempt)
    ended = int(attempt) + 1 if attempt.isdigit() and later else facts.state.restarts
    counted = facts.state.restarts >= ended
    fresh = Interruption(
        finding="error",
        attempt=attempt,
        pool=facts.pool,
        restarts=max(ended, facts.state.restarts),
        errors=facts.state.errors + (0 if counted else 1),
        since=facts.now,
        cause="undecided",
        evidence="",
    )
    return _charge(_close(status).model_copy(update={"interruption": fresh}), "error")


def _missed(status: TrainingRunStatus, facts: Facts, count: int) -> TrainingRunStatus:
    """Interruptions that nobody saw: the operator's counters are all there is."""
    errors = min(max(facts.state.errors - status.counted.errors, 0), count)
    for _ in range(errors):
        status = _past(status, facts, "error", facts.pool)
    for _ in range(count - errors):
        status = _past(status, facts, "eviction" if facts.spot else "voluntary", facts.pool)
    return status


def _past(status: TrainingRunStatus, facts: Facts, cause: Cause, pool: str) -> TrainingRunStatus:
    at = min([facts.now, *(each.at - 1 for each in status.failures if each.at <= facts.now)])
    return _counting(status, at, pool, before="undecided", after=cause)


def _counters_taken(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    return status.model_copy(update={"counted": _counted(facts)})


def _counted(facts: Facts) -> Counted:
    """The operator's counters as they are, of a gang that is whole; no pod of it may look younger than that.

    A pod is as old as the API server says, whose clock may be ahead of ours.
    """
    state, whole = facts.state, max(facts.now, facts.gang.made_until, facts.gang.done_at)
    return Counted(attempt=state.attempt, restarts=state.restarts, errors=state.errors, whole_since=whole)


def _end(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
    """The gang is whole again; what is not decided yet stays until it is.

    Of the nodes that it is whole on one that goes now is the next interruption's, and counts once.
    """
    interruption = status.interruption
    assert interruption is not None  # noqa: S101 - for the type checker
    took = max(facts.now - interruption.since, 0)
    left = tuple(node for node in interruption.nodes if node not in facts.gang.outlived)
    return status.model_copy(
        update={
            "counted": _counted(facts),
            "attempt": status.attempt + 1,
            "restart_seconds": (*status.restart_seconds, took)[-KEPT_RESTARTS:],
            "interruption": interruption.model_copy(update={"over": facts.now, "nodes": left}),
        }
    )


def _close(status: TrainingRunStatus) -> TrainingRunStatus:
    return status.model_copy(update={"interruption": None})


def _charge(status: TrainingRunStatus, cause: Cause | None) -> TrainingRunStatus:
    """Write what the open interruption is taken for, and count it so; None leaves it as it is."""
    interruption = status.interruption
    if interruption is None or cause is None or cause == interruption.cause:
        return status
    counting = _counting(status, interruption.since, interruption.pool, before=interruption.cause, after=cause)
    return counting.model_copy(update={"interruption": interruption.model_copy(update={"cause": cause})})


def _counting(status: TrainingRunStatus, at: Instant, pool: str, *, before: Cause, after: Cause) -> TrainingRunStatus:
    failures = [each for each in status.failures if before not in CHARGED or (each.at, each.pool) != (at, pool)]
    if after in CHARGED:
        kind: Literal["eviction", "error"] = "eviction" if after == "eviction" else "error"
        failures.append(RunFailure(at=at, pool=pool, kind=kind))
    failures.sort(key=lambda each: each.at)
    evictions = (after == "eviction") - (before == "eviction")
    errors = (after == "error") - (before == "error")
    return status.model_copy(
        update={
            "failures": tuple(failures[-KEPT_FAILURES:]),
            "evictions": max(status.evictions + evictions, 0),
            "errors": max(status.errors + errors, 0),
            "tiers": tuple(_on_tier(status.tiers, pool, evictions, errors)),
        }
    )


def _on_tier(tiers: Iterable[RunTier], pool: str, evictions: int, errors: int) -> Iterable[RunTier]:
    found = False
    for each in tiers:
        if each.pool == pool:
            found = True
            counts = {"evictions": max(each.evictions + evictions, 0), "errors": max(each.errors + errors, 0)}
            yield each.model_copy(update=counts)
        else:
            yield each
    if not found:
        yield RunTier(pool=pool, evictions=max(evictions, 0), errors=max(errors, 0))
