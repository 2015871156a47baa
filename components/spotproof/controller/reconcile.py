"""One job, looked at from its beginning: whose it is at the moment, what is under way, and what is next.

Level-triggered: nothing here asks what has just happened, only how things are. What has to be remembered stands in the
TrainingRun before anything is done about it.
"""

from collections.abc import Callable, Container
from itertools import chain
from typing import Final

from spotproof.controller import asking, concluding, standing
from spotproof.controller.api import Api
from spotproof.controller.cache import Cache
from spotproof.controller.carrying import AGAIN_SECONDS, arrive, carry_on, over, tell_counts
from spotproof.controller.case import Case
from spotproof.controller.gang import complete_without_pods, gang
from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import POD, POLICY, RUN, Object
from spotproof.controller.memory import Memory
from spotproof.controller.messages import BEGINS, NAME_TAKEN
from spotproof.controller.metrics import Observer, Unobserved
from spotproof.controller.moving import UNMARKING, Moving, advance, annotation, resuming, suspending
from spotproof.controller.pods import is_leaving
from spotproof.controller.policies import Policies, judged
from spotproof.controller.preflight import Finding
from spotproof.controller.recovery import end, ended, orphaned
from spotproof.controller.relations import MANAGED, Key, labels
from spotproof.controller.templates import moving
from spotproof.controller.visit import MADE_ANEW, Outcome, Visit, nodes_asked, past, stored, visit
from spotproof.controller.watched import PROJECTIONS, project_pod
from spotproof.controller.writing import create_run, read_status, spec_of, write_judgement, write_policy
from spotproof.fallback.reasons import phrase
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.fallback.run import Instant
from spotproof.kube.client import Refused
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, PROBE_IMAGE

GONE: Final = frozenset({404, 409})
CLOCKS_APART_SECONDS: Final = 60
"""An interruption begins by our clock, a Job is complete by that of kube-controller-manager."""
UNHEARD_SECONDS: Final = 60.0
"""How often a job is looked at of which no watch tells any more."""
FAILED_MARK: Final = "failed"
"""In place of a move's id on a job that the controller has ended."""


class Reconciler:
    """Looks at one job at a time. Called for one key by one thread at a time."""

    def __init__(  # noqa: PLR0913 - what it works with, and two with defaults
        self,
        api: Api,
        cache: Cache,
        *,
        clock: Callable[[], float],
        jitter: Callable[[], float],
        observer: Observer | None = None,
        probe_image: str = PROBE_IMAGE,
    ) -> None:
        """Prepare.

        Args:
            api: The API server.
            cache: What the watches deliver.
            clock: Seconds since 1970.
            jitter: A number from 0 to 1, another one each time.
            observer: Is told of moves and interruptions.
            probe_image: What pods run that ask whether a tier has room.
        """
        self._api, self._cache, self._clock, self._jitter = api, cache, clock, jitter
        self._memories: dict[Key, Memory] = {}
        self._policies = Policies()
        self._observer = observer or Unobserved()
        self._probe_image = probe_image

    def reconcile(self, key: Key) -> float | None:
        """Look at a job, and do what is to be done next.

        Returns:
            When to look again although nothing has happened, in seconds since 1970; None: only on news.

        Raises:
            Refused: the API server did not take something; the job is to be looked at again, later.
            Unreachable: it did not answer.
        """
        if key.kind == POLICY.kind:
            return self._judge(key.name)
        job = self._cache.job(key)
        if job is None or is_leaving(job):
            return self._leave(key)
        run = self._cache.run(key)
        if run is not None and run["spec"]["job"]["uid"] != job["metadata"]["uid"]:
            return self._clear_the_way(key, job, run)
        if run is None:
            run = create_run(self._api, self._cache, job)
        elif run["spec"]["policy"] != spec_of(job).policy:
            run = write_policy(self._api, self._cache, run, spec_of(job).policy)
        at = _look(self._case(key, job, run))
        self._withdraw_closed(key, job)
        return at

    def _withdraw_closed(self, key: Key, job: Object) -> None:
        """Whatever phase the job is in, and whoever died before it was done: no probe outlives its question."""
        run = self._cache.run(key) if self._cache.probes_of(key) else None
        if run is not None:
            asking.withdraw_closed(self._api, self._cache, key, job["metadata"]["uid"], read_status(run))

    def _judge(self, name: str) -> None:
        """Say on a policy whether it can be carried out, where that is not what it says."""
        policy = self._cache.policy(name)
        if policy is not None and (status := judged(self._policies, policy, int(self._clock()))) is not None:
            write_judgement(self._api, self._cache, policy, status)

    def _case(self, key: Key, job: Object, run: Object) -> Case:
        memory = self._memories.get(key)
        if memory is None or memory.uid != job["metadata"]["uid"]:
            memory = self._memories[key] = Memory(job["metadata"]["uid"], self._policies)
        kind = JOBS[key.kind]
        now, jitter = self._clock(), self._jitter()
        status, observer, image = read_status(run), self._observer, self._probe_image
        return Case(self._api, self._cache, key, kind, job, run, status, memory, now, jitter, observer, image)

    def _leave(self, key: Key) -> float | None:
        """The job is gone, or is not to be managed any more: nothing of the controller's is left on it.

        What is suspended is resumed, as a move ends: two attempts never run at once. Its TrainingRun stays until then.
        """
        asking.withdraw_all(self._api, self._cache, key)
        run = self._cache.run(key)
        if run is not None and run["spec"]["job"]["kind"] != key.kind:
            run = None
        if run is None and key not in self._memories:
            self._cache.departed.forget(key)
            return None  # nobody's, whose pods are watched with those of all others
        job = self._api.find(*JOBS[key.kind].kind, key.name, key.namespace)
        uid = self._memories[key].uid if run is None else run["spec"]["job"]["uid"]
        if job is not None and job["metadata"]["uid"] == uid and not is_leaving(job):
            if FALLBACK_POLICY_LABEL in labels(job):
                return self._clock() + AGAIN_SECONDS  # it has come back, and its watch has yet to say so
            if annotation(job) is not None:
                job = PROJECTIONS[JOBS[key.kind].kind](job)
                return _let_go(self._case(key, job, run or {"metadata": {}, "spec": {}}))
            if run is not None:
                self._delete(run)
        # otherwise its TrainingRun goes with it
        self._memories.pop(key, None)
        self._cache.departed.forget(key)
        return None

    def _delete(self, run: Object) -> None:
        meta = run["metadata"]
        try:
            self._api.delete(*RUN, meta["name"], meta["namespace"], uid=meta["uid"])
        except Refused as refused:
            if refused.status not in GONE:
                raise

    def _clear_the_way(self, key: Key, job: Object, run: Object) -> float | None:
        """The TrainingRun of the job's name is another's: of one that is gone, or of one of another kind."""
        meta, of = run["metadata"], run["spec"]["job"]
        other = self._cache.job(Key(of["kind"], key.namespace, of["name"])) if of["kind"] in MANAGED else None
        if other is not None and other["metadata"]["uid"] == of["uid"]:
            said = phrase(NAME_TAKEN.sentence, kind=of["kind"], name=meta["name"])
            self._case(key, job, run).tell_once("Refused", "NameTaken", message=said, remedy=NAME_TAKEN.remedy)
            return None
        self._delete(run)
        return self._clock() + AGAIN_SECONDS


def _let_go(case: Case) -> float:
    """A job that names no policy any more, with a mark of ours: its move is carried to its end, or it is resumed.

    One that has failed too often stays suspended. Nothing more is heard of any, so it is looked at until it is done.
    """
    status, mark = case.recorded, annotation(case.job)
    if standing.frozen(case):
        return case.now + UNHEARD_SECONDS
    if mark == FAILED_MARK:
        # suspended for good: nobody would count its errors any more, and its operator's own limit is for evictions
        case.patched([UNMARKING])
        return case.now + AGAIN_SECONDS
    move = status.move
    if move is None or move.id != mark:
        return _resume_as_it_is(case)
    if move.resume_at is not None:
        status = status.model_copy(update={"move": move.model_copy(update={"resume_at": None})})
    again = carry_on(case, status, standing.remembered(status, move))
    return case.now + UNHEARD_SECONDS if again is None else again


def _resume_as_it_is(case: Case) -> float:
    """Its mark is all that is known of it: it is resumed where its templates say, once nothing of it runs."""
    move = standing.unknown_move(case)
    step = advance(Moving(case, standing.remembered(case.recorded, move), move))
    if step.look_at is not None:
        return step.look_at
    case.patched([UNMARKING] if step.ended else resuming(case.kind))
    return case.now + AGAIN_SECONDS


def _look(case: Case) -> float | None:
    """Whose the job is, in this order: nobody's any more, its owner's, an operation's of ours, somebody's, ours."""
    status = standing.observed(case)
    if case.state.over:
        return over(case, status)
    if held := standing.frozen(case):
        # who pauses the cluster says nothing of jobs that have failed for good
        case.written(status if status.phase == "Failed" else standing.freeze(case, status, *held))
        return None
    if annotation(case.job) == FAILED_MARK and status.phase != "Failed":
        status = concluding.because(status, "FailedBefore")
    if status.phase == "Failed":
        return _failed(case, status)
    return _held_by_nobody(case, standing.thaw(case, status))


def _held_by_nobody(case: Case, status: TrainingRunStatus) -> float | None:
    if status.phase == "HandedBack":
        case.written(status)
        return None
    policy = standing.policy_of_job(case)
    if isinstance(policy, Finding):
        return _without_policy(case, status, policy)
    status = standing.adopt(case, standing.found(case, status, policy), policy)
    if status.move is not None:
        return carry_on(case, status, standing.remembering(policy, status))
    return _manage(case, status, policy)


def _without_policy(case: Case, status: TrainingRunStatus, problem: Finding) -> float | None:
    """A job whose policy cannot be carried out is left as it is, once the controller suspends it no more."""
    mark, move = annotation(case.job), status.move
    if mark is not None and move is not None and move.id == mark:
        return carry_on(case, status, standing.remembered(status, move))
    case = case.written(standing.refuse(case, standing.policy_invalid(case, status, problem), (problem,)))
    return _resume_as_it_is(case) if mark is not None and move is None and case.state.suspended else None


def _manage(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> float | None:
    if case.state.suspended:
        case.written(standing.leave_suspended(status))
        return None
    if found := standing.findings(case, standing.remembering(policy, status)):
        case.written(standing.refuse(case, status, found))
        return None
    return _visit(case, standing.accept(case, status, policy), policy)


def _failed(case: Case, status: TrainingRunStatus) -> float | None:
    """A job that failed too often by itself is suspended; who resumes it has it managed again."""
    if annotation(case.job) == FAILED_MARK:
        if case.state.suspended:
            case.written(status)
            return None
        counted = standing.afresh(case, status)
        # the record first: without the mark a record that still says Failed would have it suspended again
        case.written(concluding.because(counted, "Resumed")).patched([UNMARKING])
        return case.now + AGAIN_SECONDS
    if case.state.suspended:
        case.written(status)
        return None
    if not case.state.can_suspend:
        return case.now + AGAIN_SECONDS
    case.patched(suspending(case.kind, case.job, FAILED_MARK))
    case.tell("Failed", message=status.message)
    return None


def _visit(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> float | None:
    here = _visiting(case, status, policy)
    if orphans := orphaned(case.api, case.cache, (*here.gang.pods, *here.gang.older)):
        here = _visiting(case, status, policy, {pod["metadata"]["uid"] for pod in chain(*orphans.values())})
    outcome = visit(here, status)
    new = outcome.status
    case = case.written(new)
    stored(case)
    tell_counts(case, status, new)
    end(case.api, case.cache, orphans, case.now)
    for node in orphans:
        case.tell_once("NodeGone", node, node=node)
    if new.move is not None:
        case.tell(BEGINS[past(new.move).what], message=new.move.message, tier=new.move.to)
        return carry_on(case, new, standing.remembering(policy, new))
    if new.phase != "Failed" and (found := standing.put_elsewhere(case, new, policy)) is not None:
        return arrive(*found, new, standing.remembering(policy, new))
    _ask(here, outcome)
    if new.phase == "Failed":
        return _failed(case, new)
    return min((at for at in (outcome.look_at, case.counts_at) if at is not None), default=None)


def _visiting(
    case: Case, status: TrainingRunStatus, policy: ResolvedPolicy, orphans: Container[str] = frozenset()
) -> Visit:
    """The case with its gang; `orphans`, by their uids, are in it as they will be once they are ended."""
    tiers = {each.pool: each for each in standing.remembering(policy, status).tiers}
    there, gone = case.cache.pods(case.key), case.cache.departed.pods_of(case.key)
    pods = [ended(each, case.now) if each["metadata"]["uid"] in orphans else each for each in there]
    fields = {name: getattr(case, name) for name in Case.__dataclass_fields__}
    children, memory = case.cache.children(case.key), case.memory
    if memory.is_new and (after := _unwatched_after(case.recorded)) is not None:
        ours = [each for each in children if not case.kind.is_awaited(case.job, each)]
        memory.left_early |= complete_without_pods(ours, pods, after)
    tier = tiers.get(status.tier or "")
    found = gang(case.kind, case.job, pods, gone, tier, children=children, left_early=memory.left_early)
    return Visit(**fields, gang=found, policy=policy, rule=case.memory.policies.rule(policy), tiers=tiers)


def _unwatched_after(status: TrainingRunStatus) -> Instant | None:
    """After when a role may be complete by an eviction that no process has written down; None: at no time."""
    open_, whole = status.interruption, status.counted.whole_since
    if open_ is None or open_.over is not None:
        begun = max((each.at for each in status.history if each.what in MADE_ANEW), default=0)
        return begun if whole is None else whole
    return None if open_.finding == "error" else open_.since - CLOCKS_APART_SECONDS


def _ask(here: Visit, outcome: Outcome) -> None:
    """Send the probes out; so are those that a process before this one had only written down."""
    templates, image = moving(here.job, here.policy), here.probe_image
    for each in outcome.status.tiers:
        if (since := each.asking_since) is None or each.pool not in here.tiers:
            continue
        uid = here.job["metadata"]["uid"]
        there = {pod["metadata"]["name"] for pod in asking.probes_of(here.cache, here.key, uid, each.pool, since)}
        missing = [name for name in asking.names(uid, each.pool, since, nodes_asked(here)) if name not in there]
        tier = here.tiers[each.pool]
        for made in asking.ask(here.api, here.key, tier, templates, missing, image=image):
            here.cache.put(POD, project_pod(made))
