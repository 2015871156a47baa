"""An independent judge: told of every write to a world, by whom, it says at once what must never be.

It knows the objects and who wrote them, nothing of what the controller thinks.
"""

from typing import Final

from spotproof.controller.kinds import JOBSET, NODE, NODE_CLAIM, POD, RAY_CLUSTER, RAYJOB, RUN, Object
from spotproof.controller.templates import templates
from spotproof.fallback.record import TrainingRunStatus
from spotproof.vocabulary import MANUAL_LABEL, MOVE_ANNOTATION, POOL_LABEL
from tests.world.process import Process
from tests.world.store import Change
from tests.world.things import (
    annotations,
    ended,
    is_true,
    labels,
    name,
    namespace,
    node_of,
    owner,
    uid,
)
from tests.world.world import World
from tests.world.writers import Writers

OVER: Final = frozenset({"Complete", "Failed", "ValidationFailed"})


class BrokenRuleError(AssertionError):
    """Something is that must never be."""


class Judge:
    """Raises where it is told of a write that breaks a rule. `said` is what it has seen of moves, for whoever reads."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self.resumed = 0
        self.writers = Writers(world.store, lambda said, pod: ask(False, said, pod))  # noqa: FBT003  # it is broken
        for kind in (JOBSET, RAYJOB):
            world.store.tell(kind, self._job)
        world.store.tell(RUN, self._run)
        world.store.tell(POD, self._pod)

    def _job(self, change: Change, job: Object, old: Object | None) -> None:
        if change != "MODIFIED" or old is None or not self._process.line.acts:
            return
        ask(labels(old).get(MANUAL_LABEL) != "true" or labels(job) != labels(old), "a frozen job is written to", job)
        spec_changed = job["spec"] != old["spec"]
        ask(not (is_over(old) and spec_changed), "a job that is over is changed", job)
        was, now = (bool(each["spec"].get("suspend")) for each in (old, job))
        ours, left = MOVE_ANNOTATION in annotations(old), MOVE_ANNOTATION in annotations(job)
        if was:
            ask(ours or not spec_changed, "a job that somebody else has suspended is changed", job)
        if was and not now:
            ask(ours and not left, "resumed without taking the mark away", job)
            alive = [pod for pod in self.pods_of(job) if not ended(pod)]
            ask(not alive, f"resumed with pods left: {', '.join(map(name, alive))}", job)
            self.resumed += 1
        if now and not was:
            ask(left, "suspended without a mark", job)
        ask(len(set(tiers_of(job))) == 1, "the roles that move are on several tiers", job)

    def _run(self, change: Change, run: Object, old: Object | None) -> None:
        del old
        if change == "MODIFIED":
            TrainingRunStatus.model_validate(run.get("status", {}))

    def _pod(self, change: Change, pod: Object, old: Object | None) -> None:
        del change
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
        ask(node is None and not claims, "a pod is ended whose node is there", pod)

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


def ask(holds: object, said: str, about: Object) -> None:
    """Hold an object to a rule.

    Raises:
        BrokenRuleError: it does not hold.
    """
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
