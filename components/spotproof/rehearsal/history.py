"""A recording by object: lives, what changed in them and when. What stories are told from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeVar

from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import Recording, Version
from spotproof.vocabulary import CAPACITY_LABEL, KARPENTER_CAPACITY_LABEL, POOL_LABEL, TYPE_LABEL, ZONE_LABEL

T = TypeVar("T")

JOBSET_NAME: Final = "jobset.sigs.k8s.io/jobset-name"
REPLICATED_JOB: Final = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX: Final = "jobset.sigs.k8s.io/job-index"
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
RAY_CLUSTER: Final = "ray.io/cluster"
RAY_GROUP: Final = "ray.io/group"
RAY_NODE_TYPE: Final = "ray.io/node-type"
HEAD: Final = "head"


@dataclass(frozen=True)
class Life:
    """All versions of one object; times are seconds from the start of the recording."""

    versions: tuple[Version, ...]

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.versions[0].kind

    @property
    def uid(self) -> str:
        """Its uid."""
        return self.versions[0].uid

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.versions[0].object["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace; empty for what has none."""
        return str(self.versions[0].object["metadata"].get("namespace", ""))

    @property
    def born(self) -> float | None:
        """When it was made; None if it was there when recording began."""
        return None if self.versions[0].change == "there" else self.versions[0].at

    @property
    def gone(self) -> float | None:
        """When it was deleted; None while it is there."""
        return self.versions[-1].at if self.versions[-1].change == "deleted" else None

    @property
    def last(self) -> Json:
        """Its newest state."""
        return self.versions[-1].object

    def when(self, holds: Callable[[Json], object]) -> float | None:
        """When something first held."""
        return next((each.at for each in self.versions if holds(each.object)), None)

    def first(self, holds: Callable[[Json], object]) -> Json | None:
        """The first state in which something held."""
        return next((each.object for each in self.versions if holds(each.object)), None)

    def at(self, second: float) -> Json | None:
        """Its state at a moment; None where it was not there."""
        found = [each for each in self.versions if each.at <= second]
        return found[-1].object if found and found[-1].change != "deleted" else None

    def changes(self, read: Callable[[Json], T]) -> Iterator[tuple[float, T, T]]:
        """Each change of what is read: when, from what, to what."""
        for before, after in pairwise(self.versions):
            if (old := read(before.object)) != (new := read(after.object)):
                yield after.at, old, new

    def stretches(self, holds: Callable[[Json], object]) -> Iterator[tuple[float, float | None]]:
        """From when to when something held; to None where it still does."""
        since: float | None = None
        for each in self.versions:
            now = bool(holds(each.object)) and each.change != "deleted"
            if now and since is None:
                since = each.at
            elif not now and since is not None:
                yield since, each.at
                since = None
        if since is not None:
            yield since, None


@dataclass(frozen=True)
class Job:
    """A JobSet or a RayJob with its pods, over all attempts."""

    life: Life
    pods: tuple[Life, ...]

    @property
    def said(self) -> str:
        """Kind and name."""
        return f"{self.life.kind} {self.life.name}"

    @property
    def size(self) -> int:
        """Pods of the whole gang; what submits a RayJob is none of them."""
        return sum(size for _, size in gang(self.life.last))


def gang(job: Json) -> list[tuple[str, int]]:
    """Roles of a JobSet or RayJob, and how many pods each has."""
    spec = job["spec"]
    if job["kind"] == "JobSet":
        return [(each["name"], each.get("replicas", 1) * _pods(each)) for each in spec.get("replicatedJobs", [])]
    groups = spec.get("rayClusterSpec", {}).get("workerGroupSpecs", [])
    return [(HEAD, 1), *((each.get("groupName", "worker"), each.get("replicas", 0)) for each in groups)]


def _pods(replicated: Json) -> int:
    return int(replicated["template"]["spec"].get("parallelism", 1))


@dataclass(frozen=True)
class History:
    """A recording, by object."""

    recording: Recording

    @cached_property
    def lives(self) -> tuple[Life, ...]:
        """Every object, in the order of appearance."""
        found: dict[str, list[Version]] = {}
        for each in self.recording.versions:
            found.setdefault(each.uid, []).append(each)
        return tuple(Life(tuple(versions)) for versions in found.values())

    @cached_property
    def _by_kind(self) -> Mapping[str, Sequence[Life]]:
        found: dict[str, list[Life]] = {}
        for life in self.lives:
            found.setdefault(life.kind, []).append(life)
        return found

    def of(self, kind: str) -> Sequence[Life]:
        """Every object of a kind."""
        return self._by_kind.get(kind, ())

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.recording.seconds

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """JobSets and RayJobs."""
        return tuple(Job(life, self._pods_of(life)) for kind in ("JobSet", "RayJob") for life in self.of(kind))

    def _pods_of(self, job: Life) -> tuple[Life, ...]:
        here = [pod for pod in self.of("Pod") if pod.namespace == job.namespace]
        if job.kind == "JobSet":
            return tuple(pod for pod in here if labels(pod.last).get(JOBSET_NAME) == job.name)
        clusters = {life.name for life in self.of("RayCluster") if job.uid in owners(life.last)}
        return tuple(pod for pod in here if labels(pod.last).get(RAY_CLUSTER) in clusters and is_ray_node(pod.last))

    @cached_property
    def nodes(self) -> Mapping[str, "Node"]:
        """Every node that was there at some time, by name."""
        found = {life.name: Node(life) for life in self.of("Node")}
        for claim in self.of("NodeClaim"):
            name = str(claim.last.get("status", {}).get("nodeName", ""))
            if name in found:
                found[name] = Node(found[name].life, claim)
        return found

    def node(self, name: str) -> "Node | None":
        """The node of a name."""
        return self.nodes.get(name)


@dataclass(frozen=True)
class Node:
    """A node and, where Karpenter made it, its claim."""

    life: Life
    claim: Life | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.life.name

    @property
    def short(self) -> str:
        """Its claim's name where it has one: kwok's provider writes that and three random words into the node's."""
        return self.claim.name if self.claim else self.name

    @property
    def pool(self) -> str:
        """The pool by our label; empty where it carries none."""
        return labels(self.life.last).get(POOL_LABEL, "")

    @property
    def capacity(self) -> str:
        """`spot` or `on-demand`; empty where nothing says it."""
        found = labels(self.life.last)
        return found.get(CAPACITY_LABEL) or found.get(KARPENTER_CAPACITY_LABEL, "")

    @property
    def zone(self) -> str:
        """Its zone."""
        return labels(self.life.last).get(ZONE_LABEL, "")

    @property
    def instance_type(self) -> str:
        """Its instance type."""
        return labels(self.life.last).get(TYPE_LABEL, "")

    @property
    def stays(self) -> bool:
        """Whether it is there and nobody has told it to go."""
        leaves = is_leaving(self.life.last) or (self.claim is not None and is_leaving(self.claim.last))
        return self.life.gone is None and not leaves

    @property
    def said(self) -> str:
        """Its name, with pool, capacity and zone as far as they are known."""
        known = ", ".join(each for each in (self.pool and f"pool {self.pool}", self.capacity, self.zone) if each)
        return f"{self.short} ({known})" if known else self.short


def labels(thing: Json) -> Mapping[str, str]:
    """Its labels."""
    return thing.get("metadata", {}).get("labels") or {}


def owners(thing: Json) -> set[str]:
    """Uids of its owners."""
    return {each["uid"] for each in thing.get("metadata", {}).get("ownerReferences") or ()}


def condition(thing: Json, name: str) -> Mapping[str, Any]:
    """One of its conditions; empty where it has none of that type."""
    found = thing.get("status", {}).get("conditions") or ()
    return next((each for each in found if each.get("type") == name), {})


def is_true(thing: Json, name: str) -> bool:
    """Whether a condition of its is true."""
    return condition(thing, name).get("status") == "True"


def is_leaving(thing: Json) -> bool:
    """Whether it has been told to go."""
    return "deletionTimestamp" in thing.get("metadata", {})


def phase(pod: Json) -> str:
    """A pod's phase."""
    return str(pod.get("status", {}).get("phase", ""))


def node_of(pod: Json) -> str:
    """The node a pod is bound to; empty where it is not."""
    return str(pod.get("spec", {}).get("nodeName", ""))


def works(pod: Json) -> bool:
    """Whether a pod runs, is ready, and is to stay."""
    return phase(pod) == "Running" and is_true(pod, "Ready") and not is_leaving(pod) and not is_true(pod, DISRUPTED)


def waits(pod: Json) -> bool:
    """Whether the scheduler finds no node for a pod."""
    scheduled = condition(pod, "PodScheduled")
    return (
        phase(pod) == "Pending"
        and not is_leaving(pod)
        and scheduled.get("status") == "False"
        and scheduled.get("reason") == "Unschedulable"
    )


DISRUPTED: Final = "DisruptionTarget"


def exit_code(pod: Json) -> int | None:
    """The exit code of a pod's first container that ended; None while none has."""
    for each in pod.get("status", {}).get("containerStatuses") or ():
        ended = each.get("state", {}).get("terminated")
        if ended is not None:
            return int(ended.get("exitCode", 0))
    return None


def role(pod: Json) -> str:
    """What a pod is in its gang: its replicated job's name, or its Ray group's."""
    found = labels(pod)
    if found.get(RAY_NODE_TYPE) == HEAD:
        return HEAD
    return found.get(REPLICATED_JOB) or found.get(RAY_GROUP) or "pod"


def rank(pod: Json) -> str:
    """Which one of its role a pod is, the same after every restart; empty where nothing says it."""
    found = labels(pod)
    places = [found[key] for key in (JOB_INDEX, COMPLETION_INDEX) if key in found]
    return "-".join(places)


def is_ray_node(pod: Json) -> bool:
    """Whether a pod is a head or a worker, and not what submits the job."""
    return RAY_NODE_TYPE in labels(pod)
