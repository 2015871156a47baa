"""Whether a job is the controller's to move at the moment, and what is said where it is not."""

from pydantic import ValidationError

from spotproof.controller import concluding
from spotproof.controller.case import Case
from spotproof.controller.kinds import NAMESPACE, POLICY
from spotproof.controller.moving import annotation
from spotproof.controller.preflight import Finding, preflight
from spotproof.controller.templates import tiers_of
from spotproof.fallback.record import Move, TrainingRunStatus
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests.fallback_policy import read_policy
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, MANUAL_LABEL, PAUSED_LABEL, SYSTEM_NAMESPACE

HELD = frozenset({"Refused", "Suspended"})
"""Phases in which nothing is looked at; what comes after one of them begins with a clean slate."""


def frozen(case: Case) -> tuple[str, str] | None:
    """Why nothing may be done to the job, in a word and in a sentence; None where it may."""
    meta = case.job["metadata"]
    if meta.get("labels", {}).get(MANUAL_LABEL) == "true":
        return "Manual", f"label {MANUAL_LABEL}=true: the job is left alone until it is removed"
    for name in (SYSTEM_NAMESPACE, meta["namespace"]):
        namespace = case.cache.get(NAMESPACE, "", name)
        if namespace is not None and namespace["metadata"].get("labels", {}).get(PAUSED_LABEL) == "true":
            return "Paused", f"label {PAUSED_LABEL}=true on namespace {name}: nothing is moved until it is removed"
    return None


def freeze(case: Case, status: TrainingRunStatus, reason: str, message: str) -> TrainingRunStatus:
    """The record of a job that is left alone; a move that is under way stays where it is."""
    if status.move is not None:
        message = f"{message}; suspended in the middle of a move to {status.move.to}, which then goes on"
    held = concluding.in_phase(status, "Manual", reason, message)
    return concluding.with_condition(held, "Paused", holds=True, reason=reason, message=message, now=case.second)


def thaw(case: Case, status: TrainingRunStatus) -> TrainingRunStatus:
    """The record of a job that may be moved again. So is one that was handed back, once somebody has frozen it."""
    if status.phase != "Manual":
        return status
    free = concluding.without(status, "Paused", case.second, "Released")
    free = concluding.without(free, "HandedBack", case.second, "Released")
    return free.model_copy(update={"phase": "Pending"})


def policy_of_job(case: Case) -> ResolvedPolicy | Finding:
    """The policy that the job names, or what is wrong with it."""
    name = case.job["metadata"]["labels"][FALLBACK_POLICY_LABEL]
    label = f"metadata.labels['{FALLBACK_POLICY_LABEL}']"
    found = case.cache.policy(name)
    if found is None:
        known = ", ".join(sorted(each["metadata"]["name"] for each in case.cache.all(POLICY))) or "none is there"
        return Finding("UnknownPolicy", label, f"there is no FallbackPolicy {name}", f"Name one of: {known}")
    try:
        return read_policy(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return Finding("InvalidPolicy", f"FallbackPolicy {name}: spec.{where}", first["msg"], "Mend the policy")


def findings(case: Case, policy: ResolvedPolicy) -> tuple[Finding, ...]:
    """What forbids managing the job; looked at once for each version of job and policy."""
    meta, found = case.job["metadata"], case.cache.policy(policy.name)
    versions = (
        str(meta.get("generation")),
        str(sorted(meta.get("labels", {}).items())),
        str(sorted(meta.get("annotations", {}).items())),
        "" if found is None else found["metadata"]["resourceVersion"],
    )
    if case.memory.checked != versions:
        mates = case.cache.managed_in(meta["namespace"])
        others = [each for each in mates if each["metadata"]["uid"] != meta["uid"]]
        case.memory.findings, case.memory.checked = preflight(case.job, policy, others), versions
    return tuple(each for each in case.memory.findings if each.refuses)


def refuse(case: Case, status: TrainingRunStatus, found: tuple[Finding, ...]) -> TrainingRunStatus:
    """The record of a job that is left as it is, with all that has to be mended; its owner is told once."""
    message = " ".join(f"{each.field}: {each.message}. {each.remedy}." for each in found)
    for each in found:
        said = f"{each.field}: {each.message}"
        case.tell_once("Refused", f"{each.code}/{each.field}", message=said, remedy=each.remedy)
    held = concluding.in_phase(status, "Refused", found[0].code, message)
    return concluding.with_condition(
        held, "Accepted", holds=False, reason=found[0].code, message=message, now=case.second
    )


def accept(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """The record of a job that is managed; where it is seen for the first time it is where its templates say."""
    if status.phase in HELD:
        update = {"phase": "Pending", "waiting_since": None, "since": None, "counted": case.kind.baseline(case.job)}
        status = status.model_copy(update=update)
    if status.tier is None:
        status = status.model_copy(update={"tier": _first(case, policy), "attempt": 1})
    return concluding.with_condition(status, "Accepted", holds=True, reason="Managed", message="", now=case.second)


def adopt(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """A job that is suspended for a move of which its record knows nothing: somebody deleted the record. It goes on."""
    mark = annotation(case.job)
    if status.move is not None or mark is None or not case.state.suspended:
        return status
    tier = _first(case, policy)
    move = Move(
        id=mark,
        from_=status.tier or tier,
        to=tier,
        reason="Adopted",
        message="the job was found suspended for a move of which no record was left",
        step="Draining",
        since=case.second,
    )
    return status.model_copy(update={"move": move, "tier": status.tier or tier, "attempt": max(status.attempt, 1)})


def leave_suspended(status: TrainingRunStatus) -> TrainingRunStatus:
    """The record of a job that somebody else has suspended: nothing is done, and nothing counts, until they resume."""
    away = {"interruption": None, "waiting_since": None, "waiting_for": None, "nodes_held": 0}
    message = "suspended by somebody else: taken up again when they resume it"
    return concluding.in_phase(status.model_copy(update=away), "Suspended", "SuspendedElsewhere", message)


def _first(case: Case, policy: ResolvedPolicy) -> str:
    return next(iter(tiers_of(case.job, policy)), policy.tiers[0].pool)
