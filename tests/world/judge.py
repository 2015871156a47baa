"""An independent judge: told of every write to a world, by whom, it says at once what must never be.

It knows the objects and who wrote them, nothing of what the controller thinks.
"""

from collections.abc import Iterable
from typing import Any, Final

from spotproof.controller.kinds import JOBSET, NODE, NODE_CLAIM, POD, RAY_CLUSTER, RAYJOB, RUN, Object
from spotproof.controller.templates import templates
from spotproof.fallback.record import TrainingRunStatus
from spotproof.vocabulary import MANUAL_LABEL, MOVE_ANNOTATION, POOL_LABEL, PROBE_LABEL, PROBE_OF_ANNOTATION, SPOT
from tests.world.jobset import ATTEMPT
from tests.world.process import Process
from tests.world.store import Change
from tests.world.things import (
    annotations,
    ended,
    is_true,
    labels,
    leaves,
    name,
    namespace,
    node_of,
    owner,
    ready,
    uid,
)
from tests.world.world import World

OVER: Final = frozenset({"Complete", "Failed", "ValidationFailed"})


class BrokenRuleError(AssertionError):
    """Something is that must never be."""


class Judge:
    """Raises where it is told of a write that breaks a rule. `said` is what it has seen of moves, for whoever reads."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self.resumed = 0
        self._answered: set[tuple[str, str]] = set()
        for kind in (POD, NODE_CLAIM):
            world.store.tell(kind, self._answer)
        for kind in (JOBSET, RAYJOB):
            world.store.tell(kind, self._job)
        world.store.tell(RUN, self._run)
        world.store.tell(POD, self._pod)

    def _job(self, change: Change, job: Object, old: Object | None) -> None:
        if change != "MODIFIED" or old is None or not self._process.line.acts:
            return
        self._ask(
            labels(old).get(MANUAL_LABEL) != "true" or labels(job) != labels(old), "a frozen job is written to", job
        )
        spec_changed = job["spec"] != old["spec"]
        self._ask(not (is_over(old) and spec_changed), "a job that is over is changed", job)
        was, now = (bool(each["spec"].get("suspend")) for each in (old, job))
        ours, left = MOVE_ANNOTATION in annotations(old), MOVE_ANNOTATION in annotations(job)
        if was:
            self._ask(ours or not spec_changed, "a job that somebody else has suspended is changed", job)
        if was and not now:
            self._ask(ours and not left, "resumed without taking the mark away", job)
            alive = [pod for pod in self.pods_of(job) if not ended(pod)]
            self._ask(not alive, f"resumed with pods left: {', '.join(map(name, alive))}", job)
            self.resumed += 1
        if now and not was:
            self._ask(left, "suspended without a mark", job)
        self._returns_on_an_answer(job, old)
        self._ask(len(set(tiers_of(job))) == 1, "the roles that move are on several tiers", job)

    def _returns_on_an_answer(self, job: Object, old: Object) -> None:
        """From on-demand to spot only where a probe had a place there since the job was last moved."""
        (was, *_), (now, *_) = tiers_of(old), tiers_of(job)
        if was == now:
            return
        pools, asked = self._world.pools, f"{job['kind']}/{namespace(job)}/{name(job)}"
        answered = {(asked, now), ("", now)} & self._answered
        returns = pools[now].capacity == SPOT and pools[was].capacity != SPOT
        self._ask(answered or not returns, f"taken back to {now}, which has not answered", job)
        self._answered = {each for each in self._answered if each[0] not in {"", asked}}

    def _answer(self, change: Change, thing: Object, old: Object | None) -> None:
        """A probe's pod gets a node, or a claim is launched, whoever it is for."""
        if change == "DELETED":
            return
        if thing["kind"] == NODE_CLAIM.kind and is_true(thing, "Launched") and not (old and is_true(old, "Launched")):
            self._answered.add(("", labels(thing)[POOL_LABEL]))
        if PROBE_LABEL in labels(thing) and node_of(thing) and not (old and node_of(old)):
            self._answered.add((annotations(thing)[PROBE_OF_ANNOTATION], labels(thing)[PROBE_LABEL]))

    def _run(self, change: Change, run: Object, old: Object | None) -> None:
        del old
        if change == "MODIFIED":
            TrainingRunStatus.model_validate(run.get("status", {}))

    def _pod(self, change: Change, pod: Object, old: Object | None) -> None:
        if change == "MODIFIED" and old is not None and ready(pod) and not ready(old) and ATTEMPT in labels(pod):
            attempt = (labels(pod)[ATTEMPT], _made_by(pod))
            for other in self._world.store.all(POD):
                if ATTEMPT in labels(other) and namespace(other) == namespace(pod) and not ended(other):
                    same_job = labels(other).get("jobset.sigs.k8s.io/jobset-uid") == labels(pod).get(
                        "jobset.sigs.k8s.io/jobset-uid"
                    )
                    older = labels(other)[ATTEMPT] != attempt[0]
                    self._ask(not (same_job and older), f"{name(other)} of another attempt still runs", pod)
        if old is not None and self._process.line.acts and POOL_LABEL not in labels(pod):
            self._ended_by_us(pod)

    def _ended_by_us(self, pod: Object) -> None:
        """The controller ends pods of nodes that are gone, and probes; no others."""
        if "spotproof.dev/probe" in labels(pod):
            return
        node = self._world.store.get(NODE, ("", node_of(pod)))
        claims = [
            each for each in self._world.store.all(NODE_CLAIM) if each.get("status", {}).get("nodeName") == node_of(pod)
        ]
        self._ask(node is None and not claims, "a pod is ended whose node is there", pod)

    def pods_of(self, job: Object) -> list[Object]:
        """All pods of a job, of every attempt, submitters included."""
        return [pod for pod in self._world.store.all(POD) if self._is_of(pod, job)]

    def _is_of(self, pod: Object, job: Object) -> bool:
        if namespace(pod) != namespace(job):
            return False
        if job["kind"] == JOBSET.kind:
            return labels(pod).get("jobset.sigs.k8s.io/jobset-uid") == uid(job)
        cluster = self._world.store.get(RAY_CLUSTER, (namespace(pod), labels(pod).get("ray.io/cluster", "")))
        of = owner(cluster, RAYJOB.kind) if cluster is not None else None
        prefix = f"{name(job)}-"
        mine = labels(pod).get("job-name") == name(job) or labels(pod).get("ray.io/cluster", "").startswith(prefix)
        return (of is not None and of["uid"] == uid(job)) or mine

    @staticmethod
    def _ask(holds: object, said: str, about: Object) -> None:
        if not holds:
            raise BrokenRuleError(f"{said}: {about['kind']} {namespace(about)}/{name(about)}")


def is_over(job: Object) -> bool:
    """Whether a job has come to its end."""
    if job["kind"] == JOBSET.kind:
        return is_true(job, "Completed") or is_true(job, "Failed")
    return job.get("status", {}).get("jobDeploymentStatus") in OVER


def tiers_of(job: Object) -> list[str]:
    """Pools that the roles select which move."""
    return [
        each.selector[POOL_LABEL]
        for each in templates(job)
        if not each.stays and each.selector.get(POOL_LABEL, "cpu") != "cpu"
    ]


def is_whole(pods: Iterable[Object], size: int) -> bool:
    """Whether a gang is whole and ready."""
    return sum(ready(pod) and not leaves(pod) for pod in pods) >= size


def _made_by(pod: Object) -> Any:
    return (owner(pod, "Job") or {}).get("uid")
