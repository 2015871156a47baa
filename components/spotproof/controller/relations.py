"""Which object leads to which: what one object says of others, and indexes of that.

Every link is read from one object alone, never from the state of another, so the order in which objects arrive does
not matter: a pod that comes before the Ray cluster it names is found as soon as the cluster is there.
"""

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from spotproof.controller.claims import is_coming, pool_of
from spotproof.controller.kinds import (
    JOB,
    JOBSET,
    JOBSET_NAME,
    NODE_CLAIM,
    POD,
    RAY_CLUSTER_NAME,
    RAYJOB,
    RUN,
    Kind,
    Object,
)
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, PROBE_LABEL, PROBE_OF_ANNOTATION


class Key(NamedTuple):
    """A job, as the work queue knows it."""

    kind: str
    namespace: str
    name: str


Place = tuple[str, str]
"""Namespace and name."""

MANAGED: Final[Mapping[str, Kind]] = {JOBSET.kind: JOBSET, RAYJOB.kind: RAYJOB}
"""Kinds of job, by name."""


class Relation(enum.IntEnum):
    """What a link says."""

    POD_OF_JOBSET = enum.auto()
    POD_OF_CLUSTER = enum.auto()
    POD_ON_NODE = enum.auto()
    PROBE_OF_POOL = enum.auto()
    PROBE_OF_JOB = enum.auto()
    CHILD_JOB = enum.auto()
    CLAIM_OF_NODE = enum.auto()
    CLAIM_OF_POOL = enum.auto()
    CLAIM_COMING_TO_POOL = enum.auto()
    """Of those, one that is no node yet: there are few, however large the cluster is."""
    RUN_WAITING_FOR_POOL = enum.auto()
    RUN_NAMING_NODE = enum.auto()
    """As one whose pods were lost and whose fate tells why: it may go minutes after its last pod."""
    JOB_UNDER_POLICY = enum.auto()
    JOB_IN_NAMESPACE = enum.auto()


Link = tuple[Relation, tuple[str, ...]]
"""A relation, and to whom: a Key, a Place, or the one name of what lives in no namespace. All that hold one link are of
one kind, since a JobSet and a RayJob may have the same place: links of jobs begin with their kind."""


def place(thing: Object) -> Place:
    """Where an object is."""
    meta = thing["metadata"]
    return meta.get("namespace", ""), meta["name"]


def labels(thing: Object) -> Mapping[str, str]:
    """Its labels."""
    return thing["metadata"].get("labels") or {}


def job_of_probe(pod: Object) -> Key | None:
    """The job that a probe asks for; None for any other pod."""
    text = (pod["metadata"].get("annotations") or {}).get(PROBE_OF_ANNOTATION, "")
    kind, _, rest = text.partition("/")
    namespace, _, name = rest.partition("/")
    return Key(kind, namespace, name) if kind in MANAGED and namespace and name else None


def job_of_cluster(cluster: Object) -> Key | None:
    """The RayJob that a Ray cluster was made for; None for one that somebody made by hand."""
    owners = cluster["metadata"].get("ownerReferences") or []
    owner = next((each["name"] for each in owners if each["kind"] == RAYJOB.kind), None)
    return None if owner is None else Key(RAYJOB.kind, cluster["metadata"].get("namespace", ""), owner)


def links(kind: Kind, thing: Object) -> Iterator[Link]:
    """Everything that an object says of others."""
    return _LINKS[kind](thing) if kind in _LINKS else iter(())


def _of_pod(pod: Object) -> Iterator[Link]:
    namespace, carried = pod["metadata"].get("namespace", ""), labels(pod)
    if node := pod.get("spec", {}).get("nodeName"):
        yield Relation.POD_ON_NODE, (node,)
    if pool := carried.get(PROBE_LABEL):
        yield Relation.PROBE_OF_POOL, (pool,)
        if job := job_of_probe(pod):
            yield Relation.PROBE_OF_JOB, job
    elif jobset := carried.get(JOBSET_NAME):
        yield Relation.POD_OF_JOBSET, Key(JOBSET.kind, namespace, jobset)
    elif cluster := carried.get(RAY_CLUSTER_NAME):
        yield Relation.POD_OF_CLUSTER, (namespace, cluster)


def _of_child_job(job: Object) -> Iterator[Link]:
    if jobset := labels(job).get(JOBSET_NAME):
        yield Relation.CHILD_JOB, Key(JOBSET.kind, job["metadata"].get("namespace", ""), jobset)


def _of_claim(claim: Object) -> Iterator[Link]:
    if node := claim.get("status", {}).get("nodeName"):
        yield Relation.CLAIM_OF_NODE, (node,)
    if pool := pool_of(claim):
        yield Relation.CLAIM_OF_POOL, (pool,)
        if is_coming(claim):
            yield Relation.CLAIM_COMING_TO_POOL, (pool,)


def _of_run(run: Object) -> Iterator[Link]:
    status = run.get("status") or {}
    if status.get("waitingSince") and (tier := status.get("tier")):
        yield Relation.RUN_WAITING_FOR_POOL, (tier,)
    interruption = status.get("interruption") or {}
    if interruption.get("finding") != "eviction":
        for node in interruption.get("nodes", ()):
            yield Relation.RUN_NAMING_NODE, (node,)


def _of_managed(job: Object) -> Iterator[Link]:
    yield Relation.JOB_IN_NAMESPACE, (job["kind"], job["metadata"].get("namespace", ""))
    if policy := labels(job).get(FALLBACK_POLICY_LABEL):
        yield Relation.JOB_UNDER_POLICY, (job["kind"], policy)


_LINKS: Final[Mapping[Kind, Callable[[Object], Iterator[Link]]]] = {
    POD: _of_pod,
    JOB: _of_child_job,
    NODE_CLAIM: _of_claim,
    RUN: _of_run,
    JOBSET: _of_managed,
    RAYJOB: _of_managed,
}


class Index:
    """Objects by what they link to. Linking and unlinking take the same time however many objects there are."""

    def __init__(self) -> None:
        self._linked: dict[Link, dict[Place, Object]] = {}

    def link(self, said: Iterable[Link], where: Place, thing: Object) -> None:
        """Take an object in, by what it says of others."""
        for link in said:
            self._linked.setdefault(link, {})[where] = thing

    def unlink(self, said: Iterable[Link], where: Place) -> None:
        """Take it out again, by what it said when it was taken in."""
        for link in said:
            self._linked[link].pop(where, None)
            if not self._linked[link]:
                del self._linked[link]

    def at(self, relation: Relation, *to: str) -> Mapping[Place, Object]:
        """The objects that link there."""
        return self._linked.get((relation, to), {})

    def __len__(self) -> int:
        """How many links there are to follow: none where nothing is left."""
        return len(self._linked)


class Clusters:
    """Whose Ray clusters are. A cluster is deleted before its pods are, which are its job's until the last is gone."""

    def __init__(self) -> None:
        self._job: dict[Place, Key] = {}
        self._clusters: dict[Key, set[Place]] = {}

    def own(self, where: Place, job: Key | None) -> None:
        """A cluster is this job's, or nobody's."""
        self.forget(where)
        if job is not None:
            self._job[where] = job
            self._clusters.setdefault(job, set()).add(where)

    def forget(self, where: Place) -> None:
        """Neither the cluster nor a pod of it is there."""
        if (job := self._job.pop(where, None)) is not None:
            self._clusters[job].discard(where)
            if not self._clusters[job]:
                del self._clusters[job]

    def job(self, where: Place) -> Key | None:
        """Whose a cluster is or was."""
        return self._job.get(where)

    def of(self, job: Key) -> Iterator[Place]:
        """The clusters of a job."""
        return iter(self._clusters.get(job, ()))

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._job)
