"""Whether a job is the controller's to move at the moment, and what is said where it is not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from spotproof.controller import concluding
from spotproof.controller.annotations import progress_of, unreadable_progress
from spotproof.controller.case import Case
from spotproof.controller.gang import cut_short, tiers_selected, under_way
from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import NAMESPACE, POLICY, Object
from spotproof.controller.memory import Beside
from spotproof.controller.messages import FINDING, WARNING
from spotproof.controller.moving import annotation
from spotproof.controller.phases import UNDER_WAY, why
from spotproof.controller.pods import is_to_stay
from spotproof.controller.policies import problem_of, version_of
from spotproof.controller.preflight import Finding, invalid_policy, no_workspace, preflight, unknown_policy
from spotproof.controller.relations import Key, holdings
from spotproof.controller.rivals import accepted
from spotproof.controller.templates import tiers_of
from spotproof.fallback.reasons import phrase
from spotproof.fallback.record import Move, TrainingRunStatus, parse_instant
from spotproof.fallback.resolved import NO_PRICE, ResolvedPolicy, ResolvedTier
from spotproof.fallback.run import Instant
from spotproof.vocabulary import (
    DEADLINE_ANNOTATION,
    FALLBACK_POLICY_LABEL,
    MANUAL_LABEL,
    ON_DEMAND,
    PAUSED_LABEL,
    POOL_LABEL,
    RUN_LABEL,
    SYSTEM_NAMESPACE,
    WORK_ANNOTATION,
    WORKSPACE_LABEL,
    Capacity,
)

CONDITION_OF: Final[Mapping[str, str]] = MappingProxyType(
    {"NoCheckpoint": "CheckpointUnknown", "DeadlineIncomplete": "DeadlineIncomplete"}
)
"""Findings that do not refuse and have a condition of their own; the others stand together in `Warned`."""
HELD: Final = frozenset({"Refused", "Suspended"})
"""Phases in which nothing is looked at; what comes after one of them begins with a clean slate."""

TAKEOVER_SECONDS: Final = 60
"""Four leases: for so long nobody may have led when a job was made, and what is lost in it counts."""
UNKNOWN: Final = "unknown"
"""In place of a tier."""


def frozen(case: Case) -> tuple[str, str] | None:
    """Why nothing may be done to the job, and by which namespace; None where it may."""
    meta = case.job["metadata"]
    if meta.get("labels", {}).get(MANUAL_LABEL) == "true":
        return "Manual", ""
    for name in (SYSTEM_NAMESPACE, meta["namespace"]):
        namespace = case.cache.get(NAMESPACE, "", name)
        if namespace is not None and namespace["metadata"].get("labels", {}).get(PAUSED_LABEL) == "true":
            return "Paused", name
    return None


def freeze(case: Case, status: TrainingRunStatus, reason: str, namespace: str) -> TrainingRunStatus:
    """The record of a job that is left alone; a move that is under way stays where it is."""
    held = concluding.because(status, reason, namespace=namespace)
    held = held.model_copy(update={"in_other_hands": was_in_other_hands(status)})
    if status.move is not None:
        held = held.model_copy(update={"message": held.message + phrase(UNDER_WAY, to=status.move.to)})
    if reason == "Manual":
        # on the job itself: this is how its owner gives back one that was handed back
        held = concluding.conditioned(held, "HandedBack", "Released", case.second)
    return concluding.conditioned(held, "Paused", reason, case.second, namespace=namespace)


def thaw(case: Case, status: TrainingRunStatus) -> TrainingRunStatus:
    """The record of a job that nobody holds any more; one that was handed back stays so through a pause."""
    if status.phase != "Manual":
        return status
    free = concluding.conditioned(status, "Paused", "Released", case.second)
    handed = concluding.holding(status, "HandedBack")
    if handed is not None and status.reason == "Paused":
        return concluding.in_phase(free, "HandedBack", "ForeignWriter", handed.message)
    free = concluding.conditioned(free, "HandedBack", "Released", case.second)
    return free.model_copy(
        update={"phase": "Suspended" if status.in_other_hands else "Pending", "in_other_hands": False}
    )


def was_in_other_hands(status: TrainingRunStatus) -> bool:
    """Whether nothing was looked at when this was recorded, or when a job that is frozen was frozen.

    An eviction just before somebody suspended a job was counted twice where they resumed it and froze it at once.
    """
    return status.phase in HELD or (status.phase == "Manual" and status.in_other_hands)


def found(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """The record of a job that its owner has put on another tier meanwhile: as one that was in other hands."""
    there = _where(case, remembering(policy, status))
    moved = status.tier is not None and bool(there) and status.tier not in there
    if case.recorded.phase != "Manual" or status.move is not None or not moved:
        return status
    return status.model_copy(update={"phase": "Suspended"})


def put_elsewhere(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> tuple[Case, Move] | None:
    """The job as it is stored, and how it came to a tier where nobody of ours has put it: its pods select that one.

    A manifest that is applied again says where a job began. JobSet takes that while a job is suspended, KubeRay at any
    time, for the next cluster. The API server is asked as well: a watch that lags shows pods that a move has ended.
    """
    if status.move is not None or status.tier is None:
        return None
    tiers = remembering(policy, status).tiers
    tier = _of_pods(case, tiers, case.cache.pods(case.key))
    if tier is None or tier.pool == status.tier or (live := case.read_again()) is None:
        return None
    move = Move(
        id="",
        from_=status.tier,
        to=tier.pool,
        selector=dict(tier.node_selector),
        capacity=tier.capacity,
        reason="PutElsewhere",
        message=why("PutElsewhere", tier=tier.pool),
        step="Suspending",
        since=case.second,
    )
    pods = case.kind.leftovers(case.api, live.job, move)
    if _of_pods(live, tiers, pods) is not tier:
        return None
    made = (parse_instant(pod["metadata"]["creationTimestamp"]) for pod in under_way(live.kind, live.job, pods))
    # what was there before a move is lost with it: of these pods nothing is
    return live, move.model_copy(update={"since": min(made) - 1})


def _of_pods(case: Case, tiers: Sequence[ResolvedTier], pods: Iterable[Object]) -> ResolvedTier | None:
    """The one tier that the newest attempt's pods select."""
    found = tiers_selected(case.kind, case.job, pods, tiers)
    return found[0] if len(found) == 1 and not case.state.suspended else None


def observed(case: Case) -> TrainingRunStatus:
    """What is recorded, of the generation that is acted on now."""
    generation = int(case.run["metadata"].get("generation", 0))
    return case.recorded.model_copy(update={"observed_generation": generation})


def policy_invalid(case: Case, status: TrainingRunStatus, problem: Finding) -> TrainingRunStatus:
    """The record with what is wrong with its policy."""
    name = case.job["metadata"]["labels"][FALLBACK_POLICY_LABEL]
    reason = "Gone" if problem.code == "UnknownPolicy" else "Unreadable"
    said = {"policy": name, "error": problem.message}
    return concluding.conditioned(status, "PolicyInvalid", reason, case.second, **said)


def policy_of_job(case: Case) -> ResolvedPolicy | Finding:
    """The policy that the job names, or what is wrong with it."""
    name = case.job["metadata"]["labels"][FALLBACK_POLICY_LABEL]
    found = case.cache.policy(name)
    if found is None:
        return unknown_policy(name, [each["metadata"]["name"] for each in case.cache.all(POLICY)])
    try:
        return case.memory.policies.read(found)
    except ValidationError as error:
        return invalid_policy(name, problem_of(error))


def remembering(policy: ResolvedPolicy, status: TrainingRunStatus) -> ResolvedPolicy:
    """The policy with the tiers the job is on and goes to, should they have been edited out: templates select them."""
    move = status.move
    wanted: list[tuple[str | None, Mapping[str, str], Capacity | None]]
    wanted = [(status.tier, status.selector, status.capacity)]
    if move is not None:
        wanted.append((move.to, move.selector, move.capacity))
    for pool, selector, capacity in wanted:
        if pool is not None and selector and all(each.pool != pool for each in policy.tiers):
            policy = policy.model_copy(update={"tiers": (*policy.tiers, _ghost(policy, pool, selector, capacity))})
    return policy


def remembered(status: TrainingRunStatus, move: Move) -> ResolvedPolicy:
    """As much of a policy that is not there as a move needs to come to its end: the tiers it is between."""
    known: dict[str, tuple[Mapping[str, str], Capacity | None]] = {move.to: (move.selector, move.capacity)}
    if status.tier is not None:
        known = {status.tier: (status.selector, status.capacity), **known}
    tiers = [
        ResolvedTier(
            pool=pool,
            node_selector=dict(selector) or {POOL_LABEL: pool},
            capacity=capacity or ON_DEMAND,
            tolerations=(),
            accelerator=None,
            usd_per_node_hour=None,
            price_source=NO_PRICE,
        )
        for pool, (selector, capacity) in known.items()
    ]
    return ResolvedPolicy(name="remembered", tiers=tuple(tiers))


def unknown_move(case: Case) -> Move:
    """The move of which only the mark on the job is left."""
    return Move(
        id=annotation(case.job) or "",
        from_=UNKNOWN,
        to=UNKNOWN,
        reason="Adopted",
        message=why("Adopted"),
        step="Draining",
        since=case.second,
    )


def _ghost(policy: ResolvedPolicy, pool: str, selector: Mapping[str, str], capacity: Capacity | None) -> ResolvedTier:
    """A tier of which only its nodes are known; without a price it is equal to no other."""
    known = {"pool": pool, "node_selector": dict(selector), "capacity": capacity or ON_DEMAND}
    return policy.tiers[-1].model_copy(
        update={**known, "tolerations": (), "usd_per_node_hour": None, "price_source": NO_PRICE}
    )


def on_tier(status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """The status with what its tier is, as long as the policy knows it."""
    tier = next((each for each in policy.tiers if each.pool == status.tier), None)
    if tier is None:
        return status
    return status.model_copy(update={"selector": dict(tier.node_selector), "capacity": tier.capacity})


def findings(case: Case, policy: ResolvedPolicy) -> tuple[Finding, ...]:
    """What forbids managing the job; looked at once for whatever it depends on."""
    meta, memory = case.job["metadata"], case.memory
    home = case.cache.get(NAMESPACE, "", meta["namespace"])
    if home is not None and WORKSPACE_LABEL not in home["metadata"].get("labels", {}):
        return (no_workspace(meta["namespace"]),)
    versions, spot = _versions(case, policy), memory.policies.spot(case.cache.all(POLICY))
    beside = _beside(case, versions)
    checked = (versions, tuple(map(_seen, beside.others)), beside.managed, spot)
    if memory.checked != checked:
        memory.findings = preflight(case.job, policy, beside.others, managed=beside.managed, spot=spot)
        memory.checked = checked
    return tuple(each for each in memory.findings if each.refuses)


def _versions(case: Case, policy: ResolvedPolicy) -> tuple[str, ...]:
    meta, found = case.job["metadata"], case.cache.policy(policy.name)
    return (
        str(meta.get("generation")),
        str(sorted(meta.get("labels", {}).items())),
        str(sorted(meta.get("annotations", {}).items())),
        "" if found is None else version_of(found),
    )


def _beside(case: Case, versions: tuple[str, ...]) -> Beside:
    """The jobs that have something of the job's; looked up again where one of any jobs has become another's rival."""
    # the count is read first: what happens meanwhile is looked up the next time
    of = (versions, case.cache.encounters)
    if case.memory.beside.of != of:
        others = tuple(case.cache.rivals(case.key, holdings(case.job)))
        managed = frozenset(_managed(case, (case.job, *others) if others else ()))
        case.memory.beside = Beside(of, others, managed)
    return case.memory.beside


def _managed(case: Case, jobs: Iterable[Object]) -> Iterator[str]:
    """The uids of those that their records say are managed."""
    for job in jobs:
        meta = job["metadata"]
        if accepted(case.cache.run(Key(job["kind"], meta["namespace"], meta["name"]))) == meta["uid"]:
            yield meta["uid"]


def _seen(other: Object) -> tuple[object, ...]:
    """What the preflight of a job reads of another one."""
    meta = other["metadata"]
    run = meta.get("labels", {}).get(RUN_LABEL)
    return meta["uid"], meta.get("generation"), run, JOBS[other["kind"]].has_ended(other)


def refuse(case: Case, status: TrainingRunStatus, found: tuple[Finding, ...]) -> TrainingRunStatus:
    """The record of a job that is left as it is, with all that has to be mended; its owner is told once."""
    message = " ".join(map(str, found))
    for each in found:
        said = f"{each.field}: {each.message}"
        case.tell_once("Refused", f"{each.code}/{each.field}", message=said, remedy=f"{each.remedy}.")
    held = concluding.in_phase(status, "Refused", found[0].code, message)
    return concluding.conditioned(held, concluding.ACCEPTED, FINDING, case.second, message=message, code=found[0].code)


def accept(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """The record of a job that is managed; where it is seen for the first time it is where its pods are."""
    if status.phase in HELD:
        there = _first(_where(case, remembering(policy, status)), policy)
        if status.phase == "Refused":
            # whoever breaks it again is told again
            case.memory.told = ()
        status = afresh(case, status).model_copy(update={"phase": "Pending", "tier": there})
    if status.tier is None:
        update = {"tier": _first(_where(case, policy), policy), "attempt": 1}
        counted = case.kind.baseline(case.job) if _was_there_before(case) else status.counted
        status = status.model_copy(update={**update, "counted": counted})
    status = on_tier(status, policy)
    status = concluding.conditioned(status, concluding.ACCEPTED, "Managed", case.second, policy=policy.name)
    status = concluding.conditioned(status, "PolicyInvalid", "Valid", case.second, policy=policy.name)
    return warned(case, status, policy)


def afresh(case: Case, status: TrainingRunStatus) -> TrainingRunStatus:
    """The record of a job that was in other hands: what was lost there counts for nobody."""
    pods = case.cache.pods(case.key)
    case.memory.left_early |= cut_short((*pods, *case.cache.departed.pods_of(case.key)))
    case.memory.accounted |= {pod["metadata"]["uid"] for pod in pods if not is_to_stay(pod)}
    case.cache.departed.forget(case.key)
    return status.model_copy(update={"since": None, "counted": case.kind.baseline(case.job)})


def _was_there_before(case: Case) -> bool:
    """Whether the job is older than its record by more than it takes another replica to take over.

    What it lived through before that was not managed, and is charged to nobody.
    """
    if case.run.get("status"):
        return False
    job, run = (parse_instant(each["metadata"]["creationTimestamp"]) for each in (case.job, case.run))
    return run - job > TAKEOVER_SECONDS


def warned(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """The record with what its owner should know although the job is managed, who is told each of it once."""
    now, warnings = case.second, [each for each in case.memory.findings if not each.refuses]
    recorded = {each.type: each.message for each in case.recorded.conditions if each.status == "True"}
    for each in warnings:
        own = CONDITION_OF.get(each.code)
        if not (own in recorded if own else str(each) in recorded.get("Warned", "")):
            said = f"{each.field}: {each.message}"
            case.tell_once("Warned", f"{each.code}/{each.field}", message=said, remedy=f"{each.remedy}.")
    codes = {each.code for each in warnings}
    unknown = "NoCheckpointUri" if "NoCheckpoint" in codes else "Known"
    status = concluding.conditioned(status, "CheckpointUnknown", unknown, now)
    carried = case.job["metadata"].get("annotations", {})
    missing = " and ".join(key for key in (DEADLINE_ANNOTATION, WORK_ANNOTATION) if key not in carried)
    incomplete = "AnnotationMissing" if "DeadlineIncomplete" in codes else "Complete"
    mode = policy.deadline.mode
    status = concluding.conditioned(status, "DeadlineIncomplete", incomplete, now, missing=missing, mode=mode)
    status = _with_others(status, [each for each in warnings if each.code not in CONDITION_OF], now)
    if mode == "off" or missing:
        return concluding.conditioned(status, "ProgressAssumed", "Reported", now)
    why = unreadable_progress(case.run)
    assumed = "Unreadable" if why else "NotReported" if progress_of(case.run) is None else "Reported"
    return concluding.conditioned(status, "ProgressAssumed", assumed, now, why=why)


def _with_others(status: TrainingRunStatus, warnings: Sequence[Finding], now: Instant) -> TrainingRunStatus:
    """The record with all that has no condition of its own; the reason is the first one's word."""
    if not warnings:
        return concluding.conditioned(status, "Warned", "Nothing", now)
    message, code = " ".join(map(str, warnings)), warnings[0].code
    return concluding.conditioned(status, "Warned", WARNING, now, message=message, code=code)


def adopt(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> TrainingRunStatus:
    """A job that is suspended for a move of which its record knows nothing: somebody deleted the record. It goes on."""
    mark = annotation(case.job)
    if status.move is not None or mark is None or not case.state.suspended:
        return status
    tier = _first(tiers_of(case.job, policy), policy)
    move = _aimed(unknown_move(case).model_copy(update={"from_": status.tier or tier, "to": tier}), policy)
    return status.model_copy(update={"move": move, "tier": status.tier or tier, "attempt": max(status.attempt, 1)})


def _aimed(move: Move, policy: ResolvedPolicy) -> Move:
    tier = next(each for each in policy.tiers if each.pool == move.to)
    return move.model_copy(update={"selector": dict(tier.node_selector), "capacity": tier.capacity})


def leave_suspended(status: TrainingRunStatus) -> TrainingRunStatus:
    """The record of a job that somebody else has suspended: nothing is done, and nothing counts, until they resume."""
    return concluding.because(status.model_copy(update={"interruption": None}), "SuspendedElsewhere")


def _where(case: Case, policy: ResolvedPolicy) -> Sequence[str]:
    """The tiers on which a job is: as its pods say, and where it has none yet, its templates."""
    pods = tiers_selected(case.kind, case.job, case.cache.pods(case.key), policy.tiers)
    return [tier.pool for tier in pods] or tiers_of(case.job, policy)


def _first(there: Sequence[str], policy: ResolvedPolicy) -> str:
    return next(iter(there), policy.tiers[0].pool)
