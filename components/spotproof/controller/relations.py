"""Which object leads to which: what one object says of others, and indexes of that.

Every link is read from one object alone, never from the state of another, so the order in which objects arrive does
not matter: a pod that comes before the Ray cluster it names is found as soon as the cluster is there.
"""

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from spotproof.controller.claims import is_coming, pool_of
from spotproof.controller.jobs import JOBS
from spotproof.controller.jobs.contract import Members
from spotproof.controller.kinds import NODE_CLAIM, POD, RUN, Kind, Object
from spotproof.controller.saving import ANYWHERE, places
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, PROBE_LABEL, PROBE_OF_ANNOTATION, RUN_LABEL


class Key(NamedTuple):
    """A job, as the work queue knows it."""

    kind: str
    namespace: str
    name: str


Place = tuple[str, str]
"""Namespace and name."""
Owner = tuple[str, str, str]
"""Kind, namespace and name of what pods name as their owner: a Key, or what an operator made for one."""

MANAGED: Final[Mapping[str, Kind]] = {name: each.kind for name, each in JOBS.items()}
"""Kinds of job, by name."""
MEMBERS: Final = tuple(each.members for each in JOBS.values())
"""Whose pods are, kind by kind."""
OWNERS: Final[Mapping[str, Kind]] = {
    each.owner.kind: each.owner for each in MEMBERS if each.owner not in MANAGED.values()
}
"""Kinds of what operators make for a job, and the job's pods name in its place."""
CHILDREN: Final[Mapping[Kind, Members]] = {each.children: each for each in MEMBERS if each.children is not None}
"""Kinds of what operators make of a job's templates."""


class Relation(enum.IntEnum):
    """What a link says."""

    POD_OF = enum.auto()
    CHILD_OF = enum.auto()
    POD_ON_NODE = enum.auto()
    PROBE_OF_POOL = enum.auto()
    PROBE_OF_JOB = enum.auto()
    CLAIM_OF_NODE = enum.auto()
    CLAIM_OF_POOL = enum.auto()
    CLAIM_COMING_TO_POOL = enum.auto()
    """Of those, one that is no node yet: there are few, however large the cluster is."""
    RUN_WAITING_FOR_POOL = enum.auto()
    RUN_HALF_PLACED_ON_POOL = enum.auto()
    """Of those, one that holds nodes there."""
    RUN_NAMING_NODE = enum.auto()
    """As one whose pods were lost and whose fate tells why: it may go minutes after its last pod."""
    JOB_UNDER_POLICY = enum.auto()
    JOB_IN_NAMESPACE = enum.auto()
    JOB_SAVING_TO = enum.auto()
    """A place, with the namespace before it where it is one of that namespace's own."""
    JOB_OF_RUN = enum.auto()


Link = tuple[Relation, tuple[str, ...]]
"""A relation, and to whom: an Owner, a Key, or the one name of what lives in no namespace. All that hold one link are
of one kind, since a JobSet and a RayJob may have the same place: links of jobs begin with their kind."""


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


def job_of_owner(thing: Object) -> Key | None:
    """The job that an owner of pods was made for; None for a Ray cluster that somebody made by hand."""
    meta = thing["metadata"]
    jobs = (each for each in meta.get("ownerReferences") or [] if each["kind"] in MANAGED)
    return next((Key(each["kind"], meta.get("namespace", ""), each["name"]) for each in jobs), None)


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
        return
    for owner, label, *_ in MEMBERS:
        if name := carried.get(label):
            yield Relation.POD_OF, (owner.kind, namespace, name)
            return


def _of_child(members: Members, child: Object) -> Iterator[Link]:
    if name := labels(child).get(members.label):
        yield Relation.CHILD_OF, (members.owner.kind, child["metadata"].get("namespace", ""), name)


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
        if status.get("nodesHeld"):
            yield Relation.RUN_HALF_PLACED_ON_POOL, (tier,)
    interruption = status.get("interruption") or {}
    if interruption.get("finding") != "eviction":
        for node in interruption.get("nodes", ()):
            yield Relation.RUN_NAMING_NODE, (node,)


def _of_managed(job: Object) -> Iterator[Link]:
    yield Relation.JOB_IN_NAMESPACE, (job["kind"], job["metadata"].get("namespace", ""))
    if policy := labels(job).get(FALLBACK_POLICY_LABEL):
        yield Relation.JOB_UNDER_POLICY, (job["kind"], policy)
    yield from holdings(job)


def holdings(job: Object) -> Iterator[Link]:
    """What a job has to itself: where it saves, and its run. A path is one of a volume of its namespace."""
    kind, namespace = job["kind"], job["metadata"].get("namespace", "")
    for uri in {uri: None for uri, _ in places(job)}:
        yield Relation.JOB_SAVING_TO, (kind, uri) if ANYWHERE.match(uri) else (kind, namespace, uri)
    if run := labels(job).get(RUN_LABEL):
        yield Relation.JOB_OF_RUN, (kind, namespace, run)


_LINKS: Final[Mapping[Kind, Callable[[Object], Iterator[Link]]]] = {
    POD: _of_pod,
    NODE_CLAIM: _of_claim,
    RUN: _of_run,
    **{kind: partial(_of_child, members) for kind, members in CHILDREN.items()},
    **dict.fromkeys(MANAGED.values(), _of_managed),
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


class Owners:
    """Whose Ray clusters are. A cluster is deleted before its pods are, which are its job's until the last is gone."""

    def __init__(self) -> None:
        self._job: dict[Owner, Key] = {}
        self._owners: dict[Key, set[Owner]] = {}

    def made_for(self, owner: Owner, job: Key | None) -> None:
        """A cluster is this job's, or nobody's."""
        self.forget(owner)
        if job is not None:
            self._job[owner] = job
            self._owners.setdefault(job, set()).add(owner)

    def forget(self, owner: Owner) -> None:
        """Neither the cluster nor a pod of it is there."""
        if (job := self._job.pop(owner, None)) is not None:
            self._owners[job].discard(owner)
            if not self._owners[job]:
                del self._owners[job]

    def job(self, kind: str, namespace: str, name: str) -> Key | None:
        """Whose it is or was: the job itself, where pods name that."""
        return Key(kind, namespace, name) if kind in MANAGED else self._job.get((kind, namespace, name))

    def of(self, job: Key) -> Iterator[Owner]:
        """What pods of a job name."""
        yield job
        yield from self._owners.get(job, ())

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._job)
