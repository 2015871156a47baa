"""How a move ends: done, or taken out of the controller's hands."""

from collections.abc import Callable, Mapping
from typing import Final

from spotproof.controller import concluding, deciding, interruptions
from spotproof.controller.gang import under_way
from spotproof.controller.messages import ENDS
from spotproof.controller.moving import UNMARKING, Ended, Moving, annotation
from spotproof.controller.phases import PLACING
from spotproof.controller.visit import past
from spotproof.fallback.policy import policy_of
from spotproof.fallback.reasons import phrase
from spotproof.fallback.record import Past, TrainingRunStatus
from spotproof.vocabulary import SPOT


def _done(here: Moving, status: TrainingRunStatus) -> TrainingRunStatus:
    """The job is on its tier, as far as the controller can do anything for it; its gang is still to be placed."""
    case, move = here.case, here.move
    spot = {each.pool for each in here.policy.tiers if each.capacity == SPOT}
    before = status
    status = concluding.counting(before, interruptions.cut_off(status, case.state, spot), case.second)
    status = deciding.moved(status, policy_of(here.policy), case.job, move, case.second)
    # taken before the resume; an attempt that ended by itself is counted as it ends here
    counted = status.counted if move.step == "Resuming" else case.kind.baseline(case.job)
    status = status.model_copy(update={"selector": move.selector, "capacity": move.capacity, "counted": counted})
    if move.from_ != move.to:
        status = concluding.conditioned(status, concluding.LAST_WAITS, "Placed", case.second)
    status = status.model_copy(update={"attempt": status.attempt + 1, "since": case.second, **deciding.NOT_WAITING})
    case.cache.departed.forget(case.key)
    # what has ended is left where it is, and is no loss of the attempt that begins
    pods = case.cache.pods(case.key)
    new = {each["metadata"]["uid"] for each in under_way(case.kind, case.job, pods)}
    case.memory.accounted = {each["metadata"]["uid"] for each in pods} - new
    entry = past(move)
    case.tell(ENDS[entry.what], message=move.message, tier=move.to)
    status = concluding.remembering(status, entry)
    placing = concluding.in_phase(status, "Pending", move.reason, move.message + phrase(PLACING, to=move.to))
    return concluding.failed_too_often(before, status, case.job) or placing


def _foreign_suspend(_: Moving, status: TrainingRunStatus) -> TrainingRunStatus:
    """Somebody else has suspended the job: theirs to resume, and the move is off."""
    return concluding.because(status, "SuspendedElsewhere")


def _foreign_resume(here: Moving, status: TrainingRunStatus) -> TrainingRunStatus:
    """Somebody else has resumed the job in the middle of a move: it is theirs from now on."""
    case = here.case
    if annotation(case.job) is not None:
        case.patched([UNMARKING])
    case.tell("HandedBack", tier=here.move.to)
    status = concluding.because(status, "ForeignWriter", to=here.move.to)
    entry = Past(at=case.second, what="HandedBack", reason="ForeignWriter", message=status.message)
    status = concluding.remembering(status, entry)
    return concluding.conditioned(status, "HandedBack", "ResumedByOthers", case.second, tier=here.move.to)


ENDINGS: Final[Mapping[Ended, Callable[[Moving, TrainingRunStatus], TrainingRunStatus]]] = {
    "done": _done,
    "foreign-suspend": _foreign_suspend,
    "foreign-resume": _foreign_resume,
}
"""`over` is not here: what is over is looked at as such."""


def end(here: Moving, status: TrainingRunStatus, ended: Ended) -> TrainingRunStatus:
    """The record once a move has ended."""
    return ENDINGS[ended](here, status.model_copy(update={"move": None}))
