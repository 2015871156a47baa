"""A move that is under way, carried on as far as it goes now; what was counted is told; a job that is over ends all."""

from typing import Final

from spotproof.controller import asking, concluding, standing
from spotproof.controller.case import Case
from spotproof.controller.endings import end
from spotproof.controller.moving import UNMARKING, Ended, Moving, advance, annotation
from spotproof.controller.phases import why
from spotproof.fallback.record import Move, TrainingRunStatus
from spotproof.fallback.resolved import ResolvedPolicy

AGAIN_SECONDS: Final = 2.0
"""After something was asked for that the watches have yet to show."""
STEPS_AT_ONCE: Final = 6
"""Of a move: as many as can follow one another without anybody else."""
LIVE_STEPS: Final = frozenset({"Suspending", "Resuming"})
"""Those that write to the job."""


def over(case: Case, status: TrainingRunStatus) -> None:
    """The job is over: nothing of ours is left behind, and its record stays as it was."""
    asking.withdraw_all(case.api, case.cache, case.key)
    if annotation(case.job) is not None:
        case.patched([UNMARKING])
    state = case.state
    if state.over is not None and status.phase != state.over:
        message = state.message or why(state.over)
        status = status.model_copy(update={"move": None, "interruption": None})
        status = concluding.in_phase(status, state.over, state.over, message)
    case.written(status)
    case.cache.departed.forget(case.key)


def tell_counts(case: Case, before: TrainingRunStatus, after: TrainingRunStatus) -> None:
    """What was counted."""
    said = after.interruption or before.interruption
    evidence, tier = ("", after.tier) if said is None else (said.evidence, said.pool)
    if after.evictions > before.evictions:
        case.tell("Evicted", message=evidence, tier=tier, count=after.evictions)
        case.observer.interrupted(case.key.kind, "eviction")
    if after.errors > before.errors:
        case.tell("Error", message=evidence, tier=tier, count=after.errors)
        case.observer.interrupted(case.key.kind, "error")
    if concluding.disruptions(before, after) > 0:
        case.tell("Disrupted", message=evidence, tier=tier)
        case.observer.interrupted(case.key.kind, "voluntary")
    if concluding.holding(after, concluding.LAST_WAITS) and not concluding.holding(before, concluding.LAST_WAITS):
        case.tell(concluding.LAST_WAITS, message=after.message)
    if after.stalled_restarts >= concluding.STALLED and before.stalled_restarts < concluding.STALLED:
        case.tell("NoProgress", count=after.stalled_restarts)


def carry_on(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> float | None:
    """Carry a move on as far as it goes now; each step is written before it is begun.

    What is written to the job, or ends the move, is decided on the job as it is stored; waiting goes by the cache.
    """
    live = False
    for _ in range(STEPS_AT_ONCE):
        move = status.move
        if move is None:
            break
        if live or move.step in LIVE_STEPS:
            found = case.read_again()
            if found is None:
                break
            case, live = found, True
            if held := standing.frozen(case):
                # the label is newer than the cache: every write below holds only for the job as it was read here
                case.written(standing.freeze(case, status, *held))
                return None
        here = Moving(case, policy, move)
        step = advance(here)
        if (step.ended is not None or step.baseline) and not live:
            # counters that the watch has yet to tell of would be counted against the tier after the move
            live = True
        elif step.ended == "over":
            return over(case, status)
        elif step.ended is not None:
            return _ended(here, status, step.ended)
        elif step.update is None:
            return step.look_at
        else:
            status = _stepped(case, status, move.model_copy(update=dict(step.update)), baseline=step.baseline)
            case, live = case.written(status), False
    return case.now + AGAIN_SECONDS


def arrive(case: Case, move: Move, status: TrainingRunStatus, policy: ResolvedPolicy) -> float:
    """A job is on another tier already: it counts there from now on, as after a move that has nothing left to do."""
    return _ended(Moving(case, policy, move), status, "done")


def _ended(here: Moving, status: TrainingRunStatus, ended: Ended) -> float:
    new = end(here, status, ended)
    tell_counts(here.case.written(new), status, new)
    if ended == "done":
        here.case.observer.moved(here.case.key.kind, here.move.reason)
    return here.case.now + AGAIN_SECONDS


def _stepped(case: Case, status: TrainingRunStatus, move: Move, *, baseline: bool) -> TrainingRunStatus:
    counted = {"counted": case.kind.baseline(case.job)} if baseline else {}
    status = status.model_copy(update={"move": move, **counted})
    if move.step == "Resuming" and move.resume_at is not None:
        parked = concluding.in_phase(status, "Parked", move.reason, move.message)
        return parked.model_copy(update={"next_decision_time": move.resume_at})
    return status
