"""Which pods wait for a node, whose they are, and what was said of them."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from spotproof.controller.jobs import JOBS
from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.kinds import JOB, POD
from spotproof.controller.said import of_pods
from spotproof.fallback.run import Instant
from spotproof.status.jobs import state_of
from spotproof.status.reading import Object, condition, instant, name_of, text
from spotproof.status.world import EVENT, World

JOB_NAME: Final = "batch.kubernetes.io/job-name"
"""On pods of a Job, by the Job controller since Kubernetes 1.27."""

RECENT: Final = 600
"""Seconds: Karpenter asks again every few of them, after 3 min at the latest."""

Whose = tuple[str, str, str]
"""Kind, namespace and name of a job."""


class Pods:
    """Pods without a node, by job."""

    def __init__(self, world: World) -> None:
        """Find whose each pod is."""
        self._apart = {kind: _by_attempt(kind, world) for kind in JOBS.values() if kind.members.owner != kind.kind}
        self._waiting: dict[Whose, list[Object]] = defaultdict(list)
        for pod in world.all(POD):
            whose = self._whose(pod)
            if whose and text(condition(pod, "PodScheduled"), "status") == "False":
                self._waiting[whose].append(pod)
        self._recent = world.at - RECENT
        self._refusals = world.refusals
        self._events: dict[tuple[str, str], list[Object]] = defaultdict(list)
        for event in world.all(EVENT):
            about = (text(event, "involvedObject", "namespace"), text(event, "involvedObject", "name"))
            self._events[about].append(event)

    def of(self, kind: str, namespace: str, name: str) -> list[Object]:
        """Pods of a job that have no node."""
        return self._waiting.get((kind, namespace, name), [])

    def since(self, kind: str, namespace: str, name: str) -> Instant | None:
        """Since when the first of them waits."""
        found = [
            instant(condition(pod, "PodScheduled"), "lastTransitionTime")
            or instant(pod, "metadata", "creationTimestamp")
            for pod in self.of(kind, namespace, name)
        ]
        return min((each for each in found if each is not None), default=None)

    def words(self, kind: str, namespace: str, name: str) -> Iterator[str]:
        """What is said of them: the newest event of each reason, then the scheduler's own condition."""
        waiting = self.of(kind, namespace, name)
        for pod in waiting:
            newest = {text(each, "reason"): each for each in sorted(self._events.get(name_of(pod), []), key=_last)}
            yield from (text(each, "message") for each in newest.values())
        yield from of_pods(waiting)

    def refusals(self, pool: str) -> Iterator[str]:
        """What Karpenter was told, in the last minutes, as it asked for nodes of a pool."""
        for event in self._refusals:
            claim = text(event, "involvedObject", "name")
            if pool and claim.rpartition("-")[0] == pool and _last(event) >= self._recent:
                yield text(event, "message")

    def _whose(self, pod: Object) -> Whose | None:
        namespace, _ = name_of(pod)
        for kind in JOBS.values():
            if name := text(pod, "metadata", "labels", kind.members.label):
                apart = self._apart.get(kind)
                job = name if apart is None else apart.get((namespace, kind.attempt_of(pod)))
                return (kind.kind.kind, namespace, job) if job else None
        if name := text(pod, "metadata", "labels", JOB_NAME):
            return JOB.kind, namespace, name
        return None


def _by_attempt(kind: JobKind, world: World) -> dict[tuple[str, str], str]:
    """Jobs by namespace and present attempt, of a kind whose pods do not name the job itself."""
    return {(name_of(job)[0], state_of(kind.kind, job).attempt): name_of(job)[1] for job in world.all(kind.kind)}


def _last(event: Object) -> Instant:
    """When it was last seen: core and new fields, whichever its writer used."""
    times = (instant(event, "series", "lastObservedTime"), instant(event, "lastTimestamp"), instant(event, "eventTime"))
    return next((each for each in times if each is not None), 0)
