"""One job, looked at from its beginning: whose it is at the moment, what is under way, and what is next.

Level-triggered: nothing here asks what has just happened, only how things are. What has to be remembered stands in the
TrainingRun before anything is done about it.
"""

from collections.abc import Callable
from typing import Final

from spotproof.controller import asking, concluding, standing
from spotproof.controller.api import Api
from spotproof.controller.cache import Cache
from spotproof.controller.case import Case
from spotproof.controller.endings import end
from spotproof.controller.gang import complete_without_pods, gang
from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import POD, RUN, Object
from spotproof.controller.memory import Memory
from spotproof.controller.messages import BEGINS
from spotproof.controller.metrics import Observer, Unobserved
from spotproof.controller.moving import UNMARKING, Ended, Moving, advance, annotation, resuming, suspending
from spotproof.controller.phases import why
from spotproof.controller.pods import is_leaving
from spotproof.controller.policies import Policies
from spotproof.controller.preflight import Finding
from spotproof.controller.recovery import recover
from spotproof.controller.relations import MANAGED, Key
from spotproof.controller.templates import moving
from spotproof.controller.visit import MADE_ANEW, Outcome, Visit, nodes_asked, past, stored, visit
from spotproof.controller.watched import project_pod
from spotproof.controller.writing import create_run, read_status, spec_of, write_policy
from spotproof.fallback.record import Move, TrainingRunStatus
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.fallback.run import Instant
from spotproof.kube.client import Refused
from spotproof.vocabulary import PROBE_IMAGE

GONE: Final = frozenset({404, 409})
AGAIN_SECONDS: Final = 2.0
"""After something was asked for that the watches have yet to show."""
STEPS_AT_ONCE: Final = 6
"""Of a move: as many as can follow one another without anybody else."""
LIVE_STEPS: Final = frozenset({"Suspending", "Resuming"})
"""Those that write to the job."""
CLOCKS_APART_SECONDS: Final = 60
"""An interruption begins by our clock, a Job is complete by that of kube-controller-manager."""
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

    def _case(self, key: Key, job: Object, run: Object) -> Case:
        memory = self._memories.get(key)
        if memory is None or memory.uid != job["metadata"]["uid"]:
            memory = self._memories[key] = Memory(job["metadata"]["uid"], self._policies)
        kind = JOBS[key.kind]
        now, jitter = self._clock(), self._jitter()
        status, observer, image = read_status(run), self._observer, self._probe_image
        return Case(self._api, self._cache, key, kind, job, run, status, memory, now, jitter, observer, image)

    def _leave(self, key: Key) -> None:
        """The job is gone, or is not to be managed any more: nothing of the controller's is left on it."""
        self._memories.pop(key, None)
        self._cache.departed.forget(key)
        asking.withdraw_all(self._api, self._cache, key)
        run = self._cache.run(key)
        if run is None or run["spec"]["job"]["kind"] != key.kind:
            return
        kind = JOBS[key.kind]
        job = self._api.find(*kind.kind, key.name, key.namespace)
        if job is None or job["metadata"]["uid"] != run["spec"]["job"]["uid"] or is_leaving(job):
            return  # its TrainingRun goes with it
        if annotation(job) is not None:
            self._case(key, job, run).patched(resuming(kind))
        self._delete(run)

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
            said = f"metadata.name: a {of['kind']} of the same name has the TrainingRun {meta['name']}"
            remedy = "Give one of the two another name."
            self._case(key, job, run).tell_once("Refused", "NameTaken", message=said, remedy=remedy)
            return None
        self._delete(run)
        return self._clock() + AGAIN_SECONDS


def _look(case: Case) -> float | None:
    """Whose the job is, in this order: nobody's any more, its owner's, an operation's of ours, somebody's, ours."""
    status = case.recorded
    if case.state.over:
        return _over(case, status)
    if held := standing.frozen(case):
        case.written(standing.freeze(case, status, *held))
        return None
    if status.phase == "Failed":
        return _failed(case, status)
    policy = standing.policy_of_job(case)
    if isinstance(policy, Finding):
        case.written(standing.refuse(case, status, (policy,)))
        return None
    status = standing.adopt(case, standing.thaw(case, status), policy)
    if status.move is not None:
        return _move(case, status, standing.remembering(policy, status))
    return _manage(case, status, policy)


def _manage(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> float | None:
    if status.phase == "HandedBack":
        return None
    if case.state.suspended:
        case.written(standing.leave_suspended(status))
        return None
    if found := standing.findings(case, standing.remembering(policy, status)):
        case.written(standing.refuse(case, status, found))
        again = any(each.code in standing.BY_OTHERS for each in found)
        return case.now + standing.BY_OTHERS_SECONDS if again else None
    return _visit(case, standing.accept(case, status, policy), policy)


def _over(case: Case, status: TrainingRunStatus) -> None:
    """The job is over: nothing of ours is left behind, and its record stays as it was."""
    asking.withdraw_all(case.api, case.cache, case.key)
    if annotation(case.job) is not None:
        case.patched([UNMARKING])
    state = case.state
    if state.over is not None and status.phase != state.over:
        message = state.message or why(state.over)
        none = {"move": None, "interruption": None, "waiting_since": None, "waiting_for": None, "nodes_held": 0}
        ended = status.model_copy(update=none)
        case.written(concluding.in_phase(ended, state.over, state.over, message))
    case.cache.departed.forget(case.key)


def _failed(case: Case, status: TrainingRunStatus) -> float | None:
    """A job that failed too often by itself is suspended; who resumes it has it managed again."""
    if annotation(case.job) == FAILED_MARK:
        if case.state.suspended:
            return None
        case = case.patched([UNMARKING])
        counted = status.model_copy(update={"counted": case.kind.baseline(case.job), "since": None})
        case.written(concluding.because(counted, "Resumed"))
        return case.now + AGAIN_SECONDS
    if case.state.suspended:
        return None
    if not case.state.can_suspend:
        return case.now + AGAIN_SECONDS
    case.patched(suspending(case.kind, case.job, FAILED_MARK))
    case.tell("Failed", message=status.message)
    return None


def _visit(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> float | None:
    here = _visiting(case, status, policy)
    if gone := recover(case.api, case.cache, (*here.gang.pods, *here.gang.older), case.now):
        for node in gone:
            case.tell_once("NodeGone", node, node=node)
        here = _visiting(case, status, policy)
    outcome = visit(here, status)
    new = outcome.status
    case = case.written(new)
    stored(case)
    _tell(case, status, new)
    if new.move is not None:
        case.tell(BEGINS[past(new.move).what], message=new.move.message, tier=new.move.to)
        return _move(case, new, standing.remembering(policy, new))
    _ask(here, outcome)
    return _failed(case, new) if new.phase == "Failed" else outcome.look_at


def _visiting(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> Visit:
    tiers = {each.pool: each for each in standing.remembering(policy, status).tiers}
    pods, gone = case.cache.pods(case.key), case.cache.departed.pods_of(case.key)
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


def _tell(case: Case, before: TrainingRunStatus, after: TrainingRunStatus) -> None:
    """What was counted."""
    said = after.interruption or before.interruption
    evidence, tier = ("", after.tier) if said is None else (said.evidence, said.pool)
    if after.evictions > before.evictions:
        case.tell("Evicted", message=evidence, tier=tier, count=after.evictions)
        case.observer.interrupted(case.key.kind, "eviction")
    if after.errors > before.errors:
        case.tell("Error", message=evidence, tier=tier, count=after.errors)
        case.observer.interrupted(case.key.kind, "error")
    if after.stalled_restarts >= concluding.STALLED and before.stalled_restarts < concluding.STALLED:
        case.tell("NoProgress", count=after.stalled_restarts)


def _move(case: Case, status: TrainingRunStatus, policy: ResolvedPolicy) -> float | None:
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
            return _over(case, status)
        elif step.ended is not None:
            return _ended(here, status, step.ended)
        elif step.update is None:
            return step.look_at
        else:
            status = _stepped(case, status, move.model_copy(update=dict(step.update)), baseline=step.baseline)
            case, live = case.written(status), False
    return case.now + AGAIN_SECONDS


def _ended(here: Moving, status: TrainingRunStatus, ended: Ended) -> float:
    new = end(here, status, ended)
    _tell(here.case.written(new), status, new)
    if ended == "done":
        here.case.observer.moved(here.case.key.kind, here.move.reason)
    return here.case.now + AGAIN_SECONDS


def _stepped(case: Case, status: TrainingRunStatus, move: Move, *, baseline: bool) -> TrainingRunStatus:
    counted = {"counted": case.kind.baseline(case.job)} if baseline else {}
    status = status.model_copy(update={"move": move, **counted})
    if move.step == "Resuming" and move.resume_at is not None:
        return concluding.in_phase(status, "Parked", move.reason, move.message)
    return status
