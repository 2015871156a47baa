"""One visit to a job that is under way: see what was lost, count it, ask the rule, and begin what it says."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotproof.controller import asking, concluding, deciding, parking
from spotproof.controller.case import Case
from spotproof.controller.causes import DRAIN_SECONDS, LOOK_SECONDS, Evidence, evidence, fate, in_words
from spotproof.controller.gang import Gang, is_on, owners
from spotproof.controller.interruptions import Facts, Loss, account, restarts
from spotproof.controller.kinds import NODE_CLAIM, Object
from spotproof.controller.phases import HALF_PLACED, SILENT_HANG, why
from spotproof.controller.pods import disrupted_at, ended_at, is_leaving, is_true, node_of
from spotproof.controller.said import UNBOUGHT, Said, Want, of_claims, of_pods, said_first
from spotproof.controller.standing import was_in_other_hands
from spotproof.controller.templates import moving
from spotproof.fallback import history
from spotproof.fallback.decide import decide
from spotproof.fallback.policy import Policy
from spotproof.fallback.reasons import sentence
from spotproof.fallback.record import Interruption, Move, Past, TrainingRunStatus, parse_instant
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier
from spotproof.fallback.rules.dry import LAUNCH
from spotproof.fallback.run import NEVER, Action, Decision, Instant, Observation, Phase, Sight
from spotproof.vocabulary import SPOT

NO_CAPACITY: Final = "insufficient capacity"
NONE_FITS: Final = frozenset({Want.TAINT, Want.SELECTOR, Want.NODE, Want.RESOURCES})
"""What the scheduler says where no node that is there fits: of one that is to be bought that says nothing."""
NO_CLAIM_SECONDS: Final = 30
"""After which a tier for which Karpenter has made no NodeClaim is taken for dry: it batches pods for up to 10 s."""
REFUSED_SECONDS: Final = 180
"""For which Karpenter asks for no offering that was refused, so that nothing but the last refusal says why."""
MADE_ANEW: Final = frozenset({"Moved", "Restarted", "Parked"})
"""After which no pod is there that was there before."""


@dataclass(frozen=True)
class Visit(Case):
    """A case with its gang and its policy, which is `rule` as the rule reads it.

    `tiers` has the tier it is on even where the policy has it no more.
    """

    gang: Gang
    policy: ResolvedPolicy
    rule: Policy
    tiers: Mapping[str, ResolvedTier]


@dataclass(frozen=True)
class Outcome:
    """The record after a visit, and when to look again."""

    status: TrainingRunStatus
    look_at: float | None = None


def visit(here: Visit, status: TrainingRunStatus) -> Outcome:
    """Everything but writing: the record as it is to be, and what is to be done about probes."""
    status = status.model_copy(update={"observed_generation": int(here.run["metadata"].get("generation", 0))})
    before = status
    seen = _seen_before(here, status)
    status = concluding.counting(status, _counted(here, status), here.second)
    if found := restarts(before, status):
        if before.interruption is None:
            status = deciding.saved(status, here.rule, here.job, seen, here.second)
        done = status.done_seconds if seen.progress is None else seen.progress
        status = concluding.progressing(status, done, here.second, restarts=found)
    status = deciding.placed(status, here.gang, here.second, unwatched=here.memory.is_new)
    if here.gang.is_whole:
        status = concluding.arrived(status, here.second)
    if (failed := concluding.failed_too_often(before, status, here.job)) is not None:
        return Outcome(failed)
    if _hangs(here, status):
        return Outcome(_begun(here, status, status.tier or "", (SILENT_HANG, why(SILENT_HANG))))
    return _decided(here, _answered(here, status))


def _seen_before(here: Visit, status: TrainingRunStatus) -> Observation:
    """The job as the record has it: what was running when an interruption is found now."""
    since = status.since or here.second
    seen = deciding.observation(status, here.gang, here.run, here.second)
    running = status.phase == "Running" and status.waiting_since is None
    return seen._replace(phase=Phase.RUNNING if running else Phase.WAITING, since=since)


def _counted(here: Visit, status: TrainingRunStatus) -> TrainingRunStatus:
    tier = here.tiers.get(status.tier or "")
    spot = tier is not None and tier.capacity == SPOT
    unseen = _replaced_unseen(here, status, spot=spot)
    lost = _unaccounted(here, status)
    outlived = here.gang.outlived
    found = [(pod, evidence(here.cache, pod, on_spot=spot, outlived=node_of(pod) in outlived)) for pod in lost]
    losses = [Loss(pod["metadata"]["uid"], here.kind.attempt_of(pod), tells) for pod, tells in found] + unseen
    open_ = status.interruption
    fates = [] if open_ is None else _fates(here, open_)
    short, missed = _is_short_of_done_pods(here), _has_missed_a_loss(here, status)
    placed = here.memory.is_new and here.recorded.phase == "Running"
    facts = Facts(here.second, status.tier or "", spot, here.state, here.gang, losses, fates, short, missed, placed)
    status = account(status, facts)
    is_over = status.interruption is None or status.interruption.over is not None
    here.memory.in_doubt = {loss.uid for loss in losses} if is_over else set()
    return status


def _fates(here: Visit, open_: Interruption) -> list[str]:
    """What becomes of the nodes that an interruption names."""
    going = (node for node in open_.nodes if node not in here.gang.outlived)
    return [said for node in going if (said := fate(here.cache, node))]


def stored(case: Case) -> None:
    """The record of a visit is stored: what it accounts for need not be seen again.

    Not before: of a write that fails, what only a first look finds and losses that were over within one look are lost.
    """
    memory = case.memory
    memory.is_new = False
    memory.accounted |= memory.in_doubt
    case.cache.departed.forget(case.key, memory.in_doubt)
    memory.in_doubt = set()


def _has_missed_a_loss(here: Visit, status: TrainingRunStatus) -> bool:
    """Whether pods of a gang that was whole, or had its places, were gone before this process began to watch."""
    was_there = status.counted.whole_since is not None or here.recorded.phase == "Running"
    if not here.memory.is_new or not was_there:
        return False
    gone = [pod for pod in here.gang.gone if here.kind.attempt_of(pod) == here.state.attempt]
    return len(here.gang.pods) + len(gone) < here.gang.size


def _replaced_unseen(here: Visit, status: TrainingRunStatus, *, spot: bool) -> list[Loss]:
    """Pods that the operator has made anew, one by one, while nobody looked: they are younger than the whole gang.

    KubeRay counts no lost worker, so that its age is all that tells of the one before it. The tier says what it was.
    """
    if not here.memory.is_new or not here.kind.replaces_alone:
        return []
    whole, tier = _whole_before(here, status), here.tiers.get(status.tier or "")
    if whole is None or tier is None:
        return []
    younger = [
        pod
        for pod in here.gang.pods
        if is_on(pod, tier) and parse_instant(pod["metadata"]["creationTimestamp"]) > whole
    ]
    # the pod that was lost has no name any more; its successor is not lost
    finding = "eviction" if spot else "voluntary"
    return [
        Loss("", here.state.attempt, Evidence(finding, in_words("MadeAnew", pod=pod["metadata"]["name"])))
        for pod in younger
    ]


def _whole_before(here: Visit, status: TrainingRunStatus) -> Instant | None:
    """Since when the gang was whole: as recorded, or as its operator has it if a process ended before it recorded that.

    Not of a job that was in somebody else's hands: what was lost there counts for nobody.
    """
    counted, attempt = status.counted, here.state.attempt
    if counted.whole_since is not None:
        return counted.whole_since if counted.attempt == attempt else None
    if status.interruption is not None or counted.attempt not in {"", attempt} or was_in_other_hands(here.recorded):
        return None
    recorded = status.since or parse_instant(here.run["metadata"]["creationTimestamp"])
    whole = here.kind.first_whole(here.job, here.cache.get)
    return whole if whole is not None and recorded <= whole else None


def _unaccounted(here: Visit, status: TrainingRunStatus) -> Sequence[Object]:
    memory, lost = here.memory, {pod["metadata"]["uid"]: pod for pod in here.gang.lost}
    unsure = lost.keys() if memory.is_new else lost.keys() & memory.in_doubt
    memory.accounted |= {uid for uid in unsure if _is_old(here, status, lost[uid])}
    return [pod for uid, pod in lost.items() if uid not in memory.accounted]


def _is_old(here: Visit, status: TrainingRunStatus, pod: Object) -> bool:
    """Whether a pod was lost before the record began, as those of a namesake, or before what it accounts for.

    A process that waits for the lease sees pods go that the one before it accounts for.
    """
    if not here.run.get("status"):
        return True
    made = parse_instant(pod["metadata"]["creationTimestamp"])
    if any(made <= each.at for each in status.history if each.what in MADE_ANEW):
        return True
    counted, lost = status.counted, _lost_at(pod)
    if counted.whole_since is None or lost is None:
        return False
    # of the gang that was whole nothing was lost before that: a second has room for both
    is_of_the_whole = not here.kind.replaces_alone and here.kind.attempt_of(pod) == counted.attempt
    return lost < counted.whole_since if is_of_the_whole else lost <= counted.whole_since


def _lost_at(pod: Object) -> Instant | None:
    """When a pod was lost, as it says itself; one that is deleted, when its grace ends."""
    times = ended_at(pod)
    if (evicted := disrupted_at(pod)) is not None:
        times.append(evicted)
    if is_leaving(pod):
        times.append(parse_instant(pod["metadata"]["deletionTimestamp"]))
    return min(times, default=None)


def _hangs(here: Visit, status: TrainingRunStatus) -> bool:
    """Whether a pod of the present attempt was evicted and counts as done, and the operator does nothing about it."""
    open_ = status.interruption
    if open_ is None or open_.over is not None or status.tier not in here.tiers:
        return False
    ending = any(pod["status"].get("phase") == "Failed" or is_leaving(pod) for pod in here.gang.pods)
    waited = here.second - open_.since >= LOOK_SECONDS
    return _is_short_of_done_pods(here) and waited and not ending


def _is_short_of_done_pods(here: Visit) -> bool:
    """Whether work of the present attempt counts as done whose pod is not there.

    An evicted pod that ended with 0 is gone a moment later, and a process that has just started never saw it: the
    counter of its Job is what stays to be seen.
    """
    early, attempt = here.gang.left_early, here.state.attempt
    jobs = (each for each in here.cache.children(here.key) if here.kind.attempt_of(each) == attempt)
    under_way = (each for each in jobs if each["metadata"]["uid"] in early or not is_true(each, "Complete"))
    there = owners(here.gang.finished)
    done = ((int(each["status"].get("succeeded", 0)), there[each["metadata"]["uid"]]) for each in under_way)
    return here.gang.is_missing_pods and any(counted > seen for counted, seen in done)


def nodes_asked(here: Visit) -> int:
    """How many probes a question of the job has."""
    return sum(each.pods for each in moving(here.job, here.policy)) if here.policy.probe.nodes == "all" else 1


def _answered(here: Visit, status: TrainingRunStatus) -> TrainingRunStatus:
    """Take the answers of probes that are out."""
    for each in status.tiers:
        tier = here.tiers.get(each.pool)
        if (since := each.asking_since) is None:
            continue
        probes = asking.probes_of(here.cache, here.key, here.job["metadata"]["uid"], each.pool, since)
        nodes = nodes_asked(here)
        yes = False if tier is None else asking.answer(here.cache, tier, probes, since, here.second, nodes=nodes)
        if yes is None:
            continue
        known = Sight(each.there, each.up, each.down, each.asked)
        sight = (history.seen_up if yes else history.seen_down)(known, here.second, asked=True)
        told = deciding.tier_of(deciding.with_sight(status, each.pool, sight), each.pool)
        status = deciding.with_tier(status, told.model_copy(update={"asking_since": None}))
    return status


def _launching_until(here: Visit, status: TrainingRunStatus) -> float | None:
    """Until when the pods that find no node may be waiting for nodes that are being made; None where they are not.

    A healthy launch takes up to 15 min (Karpenter gives a node that long to register). A NodeClaim that came to nothing
    says that the market is dry; so does, after half a minute, that none was made. Where nodes are not Karpenter's,
    nobody says so, and a launch is given the time of an answer to a probe.
    """
    tier, since = here.tiers.get(status.tier or ""), deciding.waits_since(status)
    if since is None or tier is None:
        return None
    refused = here.cache.departed.refused_at(tier.pool)
    if refused and parse_instant(refused) >= since:
        return None
    if here.cache.coming(tier.pool):
        patience = LAUNCH
    else:
        patience = NO_CLAIM_SECONDS if here.cache.serves(NODE_CLAIM) else parking.ANSWER
    until = since + min(patience, tier.pending_timeout.total_seconds())
    return until if here.now < until else None


def _decided(here: Visit, status: TrainingRunStatus) -> Outcome:
    policy = here.rule
    decision = None
    launching = _launching_until(here, status)
    for _ in range(len(policy.tiers) + 1):
        seen = deciding.observation(status, here.gang, here.run, here.second, launching=launching is not None)
        decision = decide(policy, deciding.state_of(status, here.job), seen, here.second)
        if decision.action is not Action.ASK:
            break
        asked = deciding.tier_of(status, decision.tier).model_copy(update={"asking_since": here.second})
        status = deciding.with_tier(status, asked)
    assert decision is not None  # noqa: S101 - for the type checker: the loop runs at least once
    seen = deciding.observation(status, here.gang, here.run, here.second)
    look = deciding.outlook(policy, deciding.state_of(status, here.job), seen, here.second)
    status = status.model_copy(update={"deadline": look})
    if decision.action is Action.MOVE:
        return _moving(here, status, decision)
    patience = parking.patience(here, status)
    status = concluding.decided(status, decision, here.gang, _missing(here, status), here.second, patience=patience)
    if resume_at := parking.resume_at(here, status, decision):
        message = why(HALF_PLACED, nodes=status.nodes_held, tier=status.tier)
        parked = _begun(here, status, status.tier or "", (HALF_PLACED, message), resume_at=resume_at)
        return Outcome(parked)
    status = _without_moot(status)
    instants = _instants(here, status, decision, *([] if launching is None else [launching]))
    look_at = min((at for at in instants if at > here.now), default=None)
    status = status.model_copy(update={"next_decision_time": None if look_at is None else math.ceil(look_at)})
    return Outcome(status, here.now + 1 if look_at is None and instants else look_at)


def _missing(here: Visit, status: TrainingRunStatus) -> Said | None:
    """What the job waits for, as the scheduler, Karpenter or the cloud says it."""
    if (since := deciding.waits_since(status)) is None or status.tier is None:
        return None
    refused = here.cache.departed.refused(status.tier)
    oldest = min(since, here.second - REFUSED_SECONDS)
    fresh = [each for each in refused if parse_instant(each["metadata"]["creationTimestamp"]) >= oldest]
    coming = here.cache.coming(status.tier)
    words = (*of_claims((*coming, *fresh)), *of_pods(here.gang.waiting))
    last = here.cache.departed.refused_at(status.tier)
    if last and parse_instant(last) >= since:
        # Karpenter may delete a claim before it has written why; its event alone says it
        words = (*words, NO_CAPACITY)
    found = said_first(words, status.tier)
    bought = here.cache.serves(NODE_CLAIM) and not coming
    if bought and found is not None and found.want in NONE_FITS and _launching_until(here, status) is None:
        return Said(found.want, UNBOUGHT.format(tier=status.tier))
    return found


def _without_moot(status: TrainingRunStatus) -> TrainingRunStatus:
    """The record without questions that were asked while the job waited, which it does no more."""
    if status.phase != "Running" or (runs := status.since) is None:
        return status
    for each in status.tiers:
        if each.asking_since is not None and each.asking_since < runs:
            status = deciding.with_tier(status, each.model_copy(update={"asking_since": None}))
    return status


def _moving(here: Visit, status: TrainingRunStatus, decision: Decision) -> Outcome:
    seen = _seen_before(here, status)
    status = deciding.saved(status, here.rule, here.job, seen, here.second)
    status = _begun(here, status, decision.tier, (decision.reason.code.value, sentence(decision.reason)))
    return Outcome(status)


def _begun(
    here: Visit, status: TrainingRunStatus, to: str, said: tuple[str, str], *, resume_at: Instant | None = None
) -> TrainingRunStatus:
    """The record with a move that is to be carried out; nothing has been done to the job yet."""
    source, (reason, message) = status.tier or to, said
    uid = here.job["metadata"]["uid"]
    name = hashlib.sha256(f"{uid}/{here.now}/{source}/{to}".encode()).hexdigest()[:12]
    move = Move(
        id=name,
        from_=source,
        to=to,
        selector=dict(here.tiers[to].node_selector),
        capacity=here.tiers[to].capacity,
        reason=reason,
        message=message[:1024],
        step="Suspending",
        since=here.second,
        cluster=here.state.attempt or None,
        jobs=tuple(sorted(here.gang.left_early)),
        resume_at=resume_at,
    )
    return concluding.in_phase(status.model_copy(update={"move": move}), "Moving", reason, message)


def _instants(here: Visit, status: TrainingRunStatus, decision: Decision, *more: float) -> list[float]:
    found: list[float] = [*more] if decision.next_at >= NEVER else [*more, float(decision.next_at)]
    found += [float(each.asking_since + parking.ANSWER) for each in status.tiers if each.asking_since is not None]
    if (open_ := status.interruption) is not None and open_.cause == "undecided":
        found += [float(open_.since + wait) for wait in (LOOK_SECONDS, DRAIN_SECONDS) if open_.since + wait > here.now]
    elif open_ is not None and open_.over is None and _is_short_of_done_pods(here):
        found.append(float(open_.since + LOOK_SECONDS))
    return [*found, *parking.instants(here, status)]


def past(move: Move) -> Past:
    """A move that is over, for the history."""
    what = "Parked" if move.reason == HALF_PLACED else "Restarted" if move.from_ == move.to else "Moved"
    return Past(at=move.since, what=what, from_=move.from_, to=move.to, reason=move.reason, message=move.message)
