"""Moves: the whole job is suspended, given another tier's selector, and resumed once nothing of it runs any more.

Every step is written into the TrainingRun before it is begun, and can be repeated. What is on the job itself
(`suspend` and the annotation with the move's id) is written and removed by one patch that holds only for the version
that was read. So a process that is killed anywhere, or that has lost its lease without knowing, cannot do a step twice
or out of turn: the second patch is refused, and what it would have done is read from the job.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from spotproof.controller.case import Case
from spotproof.controller.gang import tiers_selected
from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.kinds import Kind, Object
from spotproof.controller.pods import has_ended, is_leaving
from spotproof.controller.recovery import recover
from spotproof.controller.templates import Template, moving, selects, tiers_of
from spotproof.fallback.record import Move, Step
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier
from spotproof.kube.client import Refused
from spotproof.vocabulary import MOVE_ANNOTATION

LOOK_SECONDS: Final = 15.0
"""How soon a step is looked at again without news: watches tell of every change, so this is for what they missed."""
SOON_SECONDS: Final = 2.0
"""The same for pods that a live answer still shows and the watches no longer do, or never did: a submitter's."""
GONE: Final = frozenset({404, 409})
ANNOTATION: Final = f"/metadata/annotations/{MOVE_ANNOTATION.replace('/', '~1')}"

UNMARKING: Final[Object] = {"op": "remove", "path": ANNOTATION}

Ended = Literal["done", "foreign-suspend", "foreign-resume", "over"]


@dataclass(frozen=True)
class Moving:
    """One look at a move that is under way; the job is read from the API server, not from the cache."""

    case: Case
    policy: ResolvedPolicy
    move: Move

    @property
    def job(self) -> Object:
        """The job as it is stored now."""
        return self.case.job


class Progress(NamedTuple):
    """How a step went: what is to be written before the next, or when to look again, or how the move ended."""

    update: Mapping[str, object] | None = None
    look_at: float | None = None
    ended: Ended | None = None
    baseline: bool = False
    """Whether the operator's counters are to be taken as they are now."""


def advance(here: Moving) -> Progress:
    """Do what the move's step says, once.

    Raises:
        Refused: the API server did not take it; the step is tried again.
        Unreachable: it did not answer; what it has done is seen when the step is tried again.
    """
    state, ours = here.case.state, annotation(here.job) == here.move.id
    if state.over:
        return Progress(ended="over")
    if here.move.step == "Suspending":
        if not ours:
            return _suspend(here)
        return Progress(update={"step": "Draining"}) if state.suspended else Progress(ended="foreign-resume")
    if not state.suspended:
        # the patch that resumes takes the annotation away: with it there, somebody else has resumed the job
        resumed = not ours and here.move.step == "Resuming"
        return Progress(ended="done" if resumed else "foreign-resume")
    return STEPS[here.move.step](here) if ours else Progress(ended="foreign-suspend")


def annotation(job: Object) -> str | None:
    """The move a job is suspended for."""
    return job["metadata"].get("annotations", {}).get(MOVE_ANNOTATION)


def _suspend(here: Moving) -> Progress:
    state, job = here.case.state, here.job
    if state.suspended:
        return Progress(ended="foreign-suspend")
    tier = next(each for each in here.policy.tiers if each.pool == here.move.to)
    if state.retrying:
        if change := selecting(job, here.policy, tier):
            here.case.patched(change)
        return Progress(ended="done")
    if here.move.from_ != here.move.to and _is_there(here):
        return Progress(ended="done")
    if not state.can_suspend:
        return Progress(look_at=here.case.now + LOOK_SECONDS)
    here.case.patched([*suspending(here.case.kind, job, here.move.id), *selecting(job, here.policy, tier)])
    return Progress(update={"step": "Draining"})


def _is_there(here: Moving) -> bool:
    """Whether the job is on its new tier already: its next attempt was made of changed templates meanwhile.

    What its templates say is not enough: KubeRay takes a change at any time, for the next cluster alone.
    """
    case, move = here.case, here.move
    if there := tiers_selected(case.kind, here.job, case.cache.pods(case.key), here.policy.tiers):
        return [tier.pool for tier in there] == [move.to]
    return tiers_of(here.job, here.policy) == (move.to,) and case.state.attempt != move.cluster


def _drain(here: Moving) -> Progress:
    case = here.case
    for node in recover(case.api, case.cache, case.cache.pods(case.key), case.now):
        case.tell_once("NodeGone", node, node=node)
    children = case.cache.children(case.key)
    if not all(map(has_ended, case.cache.pods(case.key))) or not case.kind.is_quiet(here.job, children):
        return Progress(look_at=case.now + LOOK_SECONDS)
    if case.kind.leftovers(case.api, here.job, here.move):
        return Progress(look_at=case.now + SOON_SECONDS)
    old = case.kind.old_children(children)
    jobs = (*here.move.jobs, *(each["metadata"]["uid"] for each in old))
    return Progress(update={"step": "Rebuilding", "jobs": jobs})


def _rebuild(here: Moving) -> Progress:
    case = here.case
    children, kind = case.cache.children(case.key), case.kind.members.children
    for each in children:
        old = each["metadata"]["uid"] in here.move.jobs or case.kind.is_outdated(here.job, each)
        if kind and old and not is_leaving(each):
            _delete(case, kind, each)
    if not case.kind.is_rebuilt(here.job, children, here.move):
        return Progress(look_at=case.now + LOOK_SECONDS)
    return Progress(update={"step": "Resuming"}, baseline=True)


def _delete(case: Case, kind: Kind, child: Object) -> None:
    meta = child["metadata"]
    try:
        case.api.delete(*kind, meta["name"], meta["namespace"], uid=meta["uid"])
    except Refused as refused:
        if refused.status not in GONE:
            raise


def _resume(here: Moving) -> Progress:
    case, move = here.case, here.move
    if move.resume_at is not None and case.now < move.resume_at:
        return Progress(look_at=float(move.resume_at))
    if case.kind.leftovers(case.api, here.job, move):
        return Progress(look_at=case.now + SOON_SECONDS)
    case.patched([{"op": "test", "path": ANNOTATION, "value": move.id}, *resuming(case.kind)])
    return Progress(ended="done")


STEPS: Final[Mapping[Step, Callable[[Moving], Progress]]] = {
    "Draining": _drain,
    "Rebuilding": _rebuild,
    "Resuming": _resume,
}
"""By the step that is written; the first, `Suspending`, is the one before the job is ours."""


def selecting(job: Object, policy: ResolvedPolicy, tier: ResolvedTier) -> list[Object]:
    """Operations that give every template that moves the tier's labels in place of its present one's.

    Its other labels are left alone.
    """
    changes = ((each, {**_without_tier(each, policy), **tier.node_selector}) for each in moving(job, policy))
    return [_selector(each, new) for each, new in changes if new != each.selector]


def _without_tier(template: Template, policy: ResolvedPolicy) -> dict[str, str]:
    """What it selects beside its tier: of a key that another tier does not have, the old value would stay."""
    keys = {key for tier in policy.tiers if selects(template, tier) for key in tier.node_selector}
    return {key: value for key, value in template.selector.items() if key not in keys}


def _selector(template: Template, value: Mapping[str, str]) -> Object:
    return {"op": "add", "path": template.pointer("spec", "nodeSelector"), "value": dict(value)}


def suspending(kind: JobKind, job: Object, mark: str) -> list[Object]:
    """Operations that suspend a job and say in the same write who has done it."""
    if job["metadata"].get("annotations"):
        marked: Object = {"op": "add", "path": ANNOTATION, "value": mark}
    else:
        marked = {"op": "add", "path": "/metadata/annotations", "value": {MOVE_ANNOTATION: mark}}
    # `add` replaces what is there
    return [marked, {"op": "add", "path": kind.suspend, "value": True}]


def resuming(kind: JobKind) -> list[Object]:
    """Operations that resume a job which we have suspended."""
    return [UNMARKING, {"op": "add", "path": kind.suspend, "value": False}]
