"""Whether the decisions of the controller have a cause: what the world knows of a job, held against every move.

It knows what was done to the gang (its ledger), where its pods had places and since when, which probes found room,
what the policy said at which time, and the clock. It asks the controller's rule nothing. Where the controller did not
hear everything it is lenient: what may have been is cause enough.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from spotproof.controller.annotations import parse_deadline, parse_work
from spotproof.controller.kinds import JOBSET, NAMESPACE, NODE_CLAIM, POD, POLICY, RAYJOB, RUN, Object
from spotproof.fallback.record import parse_instant
from spotproof.vocabulary import (
    BACKOFF_LIMIT_ANNOTATION,
    DEADLINE_ANNOTATION,
    FALLBACK_POLICY_LABEL,
    POOL_LABEL,
    PROBE_LABEL,
    PROBE_OF_ANNOTATION,
    WORK_ANNOTATION,
)
from tests.world.judge import ask, is_over, tiers_of
from tests.world.ledger import Bounds
from tests.world.rules import RuledTier, Rules, rules
from tests.world.store import Change
from tests.world.things import annotations, condition, ended, is_true, labels, leaves, name, namespace, node_of, uid

if TYPE_CHECKING:
    from tests.world.managed import Managed

HOUR: Final = 3600.0
FRESH_SECONDS: Final = 30.0
"""How old an answer may be on which a job is moved by a controller that heard everything."""
SLACK_SECONDS: Final = 2.0
"""Between what is and what can be seen of it, and what whole seconds of objects leave out."""
GRACE_SECONDS: Final = 30.0
"""How long a controller that hears everything may take to do what is due: the evidence of an exit code takes ten."""


@dataclass
class Course:
    """What a job has gone through, by what the world saw.

    `pool` is the tier that its pods came to at `arrived`, and `among` when they came to tiers of its price. `moved` is
    each time at which the controller took it elsewhere. `unplaced` is since when some of its pods have no place, None
    where all have, `refused` since when some are told that there is none; `changed` when a pod of its last changed,
    `broken` how long its longest time without a whole gang was.
    """

    born: float
    arrived: float
    among: float
    unplaced: float | None
    moved: list[float] = field(default_factory=list[float])
    pending: tuple[str, str, str] | None = None
    """A move that is under way: from, to, and its cause."""
    refused: float | None = None
    changed: float = 0.0
    broken: float = 0.0
    released: bool = False
    """Whether somebody else has resumed it: then one that failed too often goes on."""


class Moves:
    """Raises where a job is moved without a cause, or is not moved although there is one."""

    def __init__(self, world: "Managed") -> None:
        self._world = world
        self._courses: dict[str, Course] = {}
        self._answers: dict[tuple[str, str], float] = {}
        self._policies: list[tuple[float, Rules]] = []
        self._ruled_at = 0.0
        """When a policy or a namespace last changed."""
        self.causes: list[str] = []
        """Of every move that was judged, for whoever wants to know what worlds come to."""
        tell = world.store.tell
        tell(POLICY, self._policy)
        tell(NAMESPACE, self._edited)
        tell(RUN, self._run)
        for kind in (JOBSET, RAYJOB):
            tell(kind, self._job)
        tell(POD, self._answer)
        tell(NODE_CLAIM, self._answer)
        tell(POD, self._pod)

    # what is seen

    def _policy(self, change: Change, policy: Object, old: Object | None) -> None:
        del change, old
        self._edited()
        self._policies.append((self._world.now, rules(policy["spec"])))

    def _edited(self, *_: object) -> None:
        self._ruled_at = self._world.now

    def _known_rules(self) -> list[Rules]:
        """Policies that the controller may know at the moment, the newest first."""
        *before, newest = self._policies
        if not self._world.process.hears_of(POLICY):
            return [newest[1], *(each for _, each in reversed(before))]
        late = self._world.now - newest[0] < SLACK_SECONDS
        return [newest[1], *([before[-1][1]] if before and late else [])]

    @property
    def rules(self) -> Rules:
        """The policy as it is."""
        return self._policies[-1][1]

    def course(self, job: Object) -> Course:
        """What a job has gone through."""
        born = parse_instant(job["metadata"]["creationTimestamp"])
        return self._courses.setdefault(uid(job), Course(born, born, born, born))

    def _answer(self, change: Change, thing: Object, old: Object | None) -> None:
        """A probe's pod gets a node, or a claim is launched, whoever it is for."""
        if change == "DELETED":
            return
        if thing["kind"] == NODE_CLAIM.kind and is_true(thing, "Launched") and not (old and is_true(old, "Launched")):
            self._answers["", labels(thing)[POOL_LABEL]] = self._world.now
        if PROBE_LABEL in labels(thing) and node_of(thing) and not (old and node_of(old)):
            self._answers[annotations(thing)[PROBE_OF_ANNOTATION], labels(thing)[PROBE_LABEL]] = self._world.now

    def _pod(self, change: Change, pod: Object, old: Object | None) -> None:
        if POOL_LABEL not in pod["spec"].get("nodeSelector", {}) or PROBE_LABEL in labels(pod):
            return
        if change == "MODIFIED" and old is not None and pod["status"] is old["status"] and leaves(pod) == leaves(old):
            return
        for job in self._world.managed():
            self._placed(job)

    def _placed(self, job: Object) -> None:
        course, now = self.course(job), self._world.now
        pods = [pod for pod in self._world.gang(name(job)) if not leaves(pod) and pod["status"]["phase"] != "Failed"]
        course.changed = now
        if len(pods) >= self._world.size(name(job)) and all(map(node_of, pods)):
            course.broken = max(course.broken, now - (now if course.unplaced is None else course.unplaced))
            course.unplaced = course.refused = None
            return
        course.unplaced = now if course.unplaced is None else course.unplaced
        if not any(condition(pod, "PodScheduled").get("status") == "False" for pod in pods):
            course.refused = None
        elif course.refused is None:
            course.refused = now

    def _job(self, change: Change, job: Object, old: Object | None) -> None:
        if change != "MODIFIED" or old is None:
            return
        course, now = self.course(job), self._world.now
        (was, *_), (tier, *_) = tiers_of(old), tiers_of(job)
        if was != tier and self._world.process.line.acts:
            self._taken(job, course, tier)
        if was != tier or (old["spec"].get("suspend") and not job["spec"].get("suspend")):
            course.unplaced, course.refused = now, None
        if labels(job) != labels(old) or job["spec"] is not old["spec"]:
            course.changed = now
        if old["spec"].get("suspend") and not job["spec"].get("suspend") and not self._world.process.line.acts:
            course.released = True

    def _taken(self, job: Object, course: Course, tier: str) -> None:
        """The templates of a job are given another tier."""
        now = self._world.now
        ask(course.pending is not None and course.pending[1] == tier, f"taken to {tier}, which nobody decided", job)
        assert course.pending is not None
        source, _, cause = course.pending
        course.moved.append(now)
        limit = max(each.most_moves for each in self._known_rules())
        recent = [at for at in course.moved if at > now - HOUR + self._world.process.drift + SLACK_SECONDS]
        braked = cause not in {"guard", "gone"}
        ask(not braked or len(recent) <= limit, f"moved {len(recent)} times within the hour, of {limit}", job)
        tiers = {pool: each for _, known in self._policies for pool, each in known.tiers.items()}
        course.arrived = now
        if source not in tiers or not tiers[source].equals(tiers[tier]):
            course.among = now
        self._answers = {key: at for key, at in self._answers.items() if key[0] not in {"", _asked(job)}}
        self._world.ledger(name(job)).moved()
        self.causes.append(cause)

    # what is due

    def overdue(self, job_name: str) -> None:
        """A controller that has heard everything for a while has done what was to be done.

        Raises:
            BrokenRuleError: the job failed more often than it may, or runs or waits on a tier that it was to leave.
        """
        job, world = self._world.job(job_name), self._world
        if not job or is_over(job) or not self._is_in_our_hands(job):
            return
        course, known, ledger = self.course(job), self.rules, world.ledger(job_name)
        limit, phase = int(annotations(job)[BACKOFF_LIMIT_ANNOTATION]), world.phase(job_name)
        stands = world.now - max(ledger.last, course.changed) >= GRACE_SECONDS
        failed = stands and ledger.errors.least > limit and not course.released
        ask(not failed or phase == "Failed", f"not failed after {ledger.errors} errors, of {limit}", job)
        if stands:
            self._tells_of_nodes(job)
        here = known.tiers.get(tiers_of(job)[0])
        if here is None or phase == "Failed" or known.deadline == "pace" or not known.has_next(here):
            return
        hour = HOUR + world.process.drift + GRACE_SECONDS
        if sum(at > world.now - hour for at in course.moved) >= known.most_moves:
            return
        failures = self._failures(known, job, here)
        spent = stands and failures.least > here.max_failures >= 0 and course.unplaced is None
        ask(not spent, f"still runs on {here.pool} after {failures}, of {here.max_failures}\n{self._told(job)}", job)
        waited = 0.0 if course.refused is None else world.now - course.refused - world.process.drift
        late = waited > here.timeout + GRACE_SECONDS
        ask(not late, f"still waits for {here.pool}, for {waited:g} s\n{self._told(job)}", job)

    def _tells_of_nodes(self, job: Object) -> None:
        """Of a gang that waits the record says how many nodes it holds."""
        status = self._world.status(name(job))
        if status.waiting_since is None or status.move is not None:
            return
        held = {node_of(pod) for pod in self._world.gang(name(job)) if node_of(pod) and not ended(pod)}
        ask(status.nodes_held == len(held), f"said to hold {status.nodes_held} nodes, not {len(held)}", job)

    def _is_in_our_hands(self, job: Object) -> bool:
        """Whether the controller has heard everything for a while, and may do with the job what it wants."""
        world, phase = self._world, self._world.phase(name(job))
        heard = world.process.was_watching(GRACE_SECONDS) and world.now - self._ruled_at >= GRACE_SECONDS
        managed = FALLBACK_POLICY_LABEL in labels(job) and not world.frozen(name(job))
        if job["spec"].get("suspend") and not world.suspended_by_us(name(job)):
            return False
        return heard and managed and phase not in {"HandedBack", "Refused", "Suspended", "Manual"}

    # what is decided

    def _run(self, change: Change, run: Object, old: Object | None) -> None:
        job = self._world.job(name(run))
        if not job or run["spec"]["job"]["uid"] != uid(job):
            return
        if change == "DELETED":
            course = self.course(job)
            course.moved, course.pending = [], None
            course.arrived = course.among = course.born
            self._world.ledger(name(job)).forget()
            return
        was, now = ((each or {}).get("status", {}) for each in (old, run))
        self._counted(job, now)
        move = now.get("move")
        if move and move["from"] != move["to"] and move["id"] != was.get("move", {}).get("id"):
            cause = self._cause(job, move["from"], move["to"])
            said = f"moved from {move['from']} to {move['to']} without a cause ({now.get('reason')})"
            ask(cause, f"{said}\n{self._told(job)}", job)
            self.course(job).pending = (move["from"], move["to"], cause)
        if was.get("tier") and now.get("tier") != was["tier"]:
            ask(now["tier"] == tiers_of(job)[0], f"said to be on {now['tier']}, which it is not", job)
        if now.get("phase") == "Failed" != was.get("phase") and not is_over(job):
            errors, limit = self._world.ledger(name(job)).errors, int(annotations(job)[BACKOFF_LIMIT_ANNOTATION])
            ask(errors.most > limit, f"failed after {errors} errors, of {limit}", job)

    def _counted(self, job: Object, status: dict[str, Any]) -> None:
        """More than was done to a gang is counted at no moment."""
        ledger = self._world.ledger(name(job))
        for what, bounds in (("evictions", ledger.evictions), ("errors", ledger.errors)):
            count = status.get(what, 0)
            ask(count <= bounds.most, f"{count} {what} are counted, of {bounds}\n{self._told(job)}", job)

    def _told(self, job: Object) -> str:
        entries = "\n".join(self._world.ledger(name(job)).entries)
        return f"at {self._world.now % 100_000:.2f}, drift {self._world.process.drift:g}\n{entries}\n{self.course(job)}"

    def _cause(self, job: Object, source: str, to: str) -> str:
        """The first cause that the world knows for a move; empty where it knows none."""
        found = (self._cause_by(known, job, source, to) for known in self._known_rules())
        return next(filter(None, found), "")

    def _cause_by(self, known: Rules, job: Object, source: str, to: str) -> str:
        here, after = known.tiers.get(source), known.tiers.get(to)
        if after is None:
            return ""
        if here is None:
            return "gone" if after == known.first else ""
        answered = self._is_answered(job, after)
        if here.spot and not after.spot and self._is_short(known, job):
            return "guard"
        if known.deadline == "pace":
            return "pace" if answered or here.spot or not after.spot else ""
        return self._cause_of(known, job, (here, after), answered=answered)

    def _cause_of(self, known: Rules, job: Object, way: tuple[RuledTier, RuledTier], *, answered: bool) -> str:
        (here, after), course = way, self.course(job)
        if known.is_next(here, after) and self._failures(known, job, here).most > here.max_failures >= 0:
            return "failures"
        if known.is_next(here, after) and self._waited(course) >= here.timeout:
            return "timeout"
        if answered and course.unplaced is not None and (here.equals(after) or here == known.last):
            return "answer"
        stayed = self._world.now - course.arrived + self._world.process.drift + SLACK_SECONDS
        returns = known.min_stay is not None and stayed >= known.min_stay
        return "return" if answered and returns and after.usd < here.usd else ""

    def _is_answered(self, job: Object, tier: RuledTier) -> bool:
        """Whether a probe had a place there since the job was last moved; just now, if the controller heard all."""
        answers = [at for of in ("", _asked(job)) if (at := self._answers.get((of, tier.pool))) is not None]
        sure = self._world.process.was_watching(FRESH_SECONDS)
        return bool(answers) and (not sure or self._world.now - max(answers) <= FRESH_SECONDS)

    def _failures(self, known: Rules, job: Object, here: RuledTier) -> Bounds:
        """How many failures of its tier count: at the most all since it came there, at the least the window's."""
        ledger, since = self._world.ledger(name(job)), self.course(job).among
        bounds = ledger.failures(here.pool, since, errors=known.count_errors)
        if known.window is None:
            return bounds
        young = max(since, self._world.now - known.window + self._world.process.drift + GRACE_SECONDS)
        return bounds._replace(least=ledger.failures(here.pool, young, errors=known.count_errors).least)

    def _waited(self, course: Course) -> float:
        """How long it has been without a place, at the most."""
        if course.unplaced is None:
            return 0.0
        return self._world.now - course.unplaced + self._world.process.drift + SLACK_SECONDS

    def _is_short(self, known: Rules, job: Object) -> bool:
        """Whether the deadline may be too near for another interruption.

        Never while all the work, what an interruption takes, and the longest restart so far would still end in time.
        """
        notes = annotations(job)
        if known.deadline == "off" or DEADLINE_ANNOTATION not in notes:
            return False
        course = self.course(job)
        at = parse_deadline(notes[DEADLINE_ANNOTATION], int(course.born))
        restart = max(known.restart, course.broken, self._world.now - (course.unplaced or self._world.now))
        needed = parse_work(notes[WORK_ANNOTATION]) + known.checkpoint + restart + known.margin
        return self._world.now + needed + self._world.process.drift + GRACE_SECONDS >= at


def _asked(job: Object) -> str:
    return f"{job['kind']}/{namespace(job)}/{name(job)}"
