"""Recordings made by hand: a second, an object, what became of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from spotproof.rehearsal.recording import Change, Mark, Recording, Version

Json = dict[str, Any]


class Tale:
    """Versions in the order they are told; an object is known by its kind and name, which also make its uid."""

    def __init__(self) -> None:
        self._versions: list[Version] = []
        self._last: dict[str, Json] = {}
        self._marks: list[Mark] = []

    def put(self, at: float, *things: Json) -> "Tale":
        """These objects are so from this second on."""
        for thing in things:
            uid = uid_of(thing["kind"], thing["metadata"]["name"])
            thing["metadata"]["uid"] = uid
            change: Change = "modified" if uid in self._last else "added" if at else "there"
            self._last[uid] = thing
            self._versions.append(Version(at, change, thing))
        return self

    def gone(self, at: float, *things: Json) -> "Tale":
        """These objects are no more; the last that is seen of them is how they were."""
        for thing in things:
            last = self._last[uid_of(thing["kind"], thing["metadata"]["name"])]
            self._versions.append(Version(at, "deleted", last))
        return self

    def mark(self, at: float, did: str, to: str = "") -> "Tale":
        """Somebody did this."""
        self._marks.append(Mark(at, did, to))
        return self

    def ends(self, seconds: float) -> Recording:
        """The recording of so many seconds."""
        versions = sorted(self._versions, key=lambda each: each.at)
        return Recording(tuple(versions), tuple(self._marks), seconds, {"kubernetes": "v1.36.3"})


def uid_of(kind: str, name: str) -> str:
    return f"{kind.lower()}-{name}"


def conditions(**states: str) -> list[Json]:
    """`Ready="True"`, or with a reason `Failed="True/PodFailurePolicy/message"`."""
    found: list[Json] = []
    for name, text in states.items():
        status, *rest = text.split("/", 2)
        found.append({"type": name, "status": status, **dict(zip(("reason", "message"), rest, strict=False))})
    return found


def jobset(
    *, suspend: bool = False, restarts: int = 0, counted: int = 0, pool: str = "spot-a", size: int = 2, **states: str
) -> Json:
    template = {"spec": {"nodeSelector": {"spotproof.dev/pool": pool}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": "research"},
        "spec": {
            "suspend": suspend,
            "failurePolicy": {"maxRestarts": 5},
            "replicatedJobs": [
                {
                    "name": "worker",
                    "replicas": 1,
                    "template": {"spec": {"parallelism": size, "template": template}},
                }
            ],
        },
        "status": {"restarts": restarts, "restartsCountTowardsMax": counted, "conditions": conditions(**states)},
    }


def job(name: str = "train-worker-0", **states: str) -> Json:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "research",
            "ownerReferences": [{"kind": "JobSet", "name": "train", "uid": uid_of("JobSet", "train")}],
        },
        "status": {"conditions": conditions(**states)},
    }


def pod(  # noqa: PLR0913 - the states a test speaks of
    name: str,
    *,
    node: str = "",
    phase: str = "Pending",
    rank: int = 0,
    leaving: bool = False,
    code: int | None = None,
    of: str = "train-worker-0",
    **states: str,
) -> Json:
    """A pod of JobSet train, or by `of` with a slash (`tune-x/gpu`) of a Ray cluster's group."""
    cluster, _, group = of.partition("/")
    if group:
        kind = "head" if group == "headgroup" else "worker"
        labels = {"ray.io/cluster": cluster, "ray.io/group": group, "ray.io/node-type": kind}
        owner = {"kind": "RayCluster", "name": cluster, "uid": uid_of("RayCluster", cluster)}
    else:
        labels = {
            "jobset.sigs.k8s.io/jobset-name": "train",
            "jobset.sigs.k8s.io/replicatedjob-name": "worker",
            "jobset.sigs.k8s.io/job-index": "0",
            "batch.kubernetes.io/job-completion-index": str(rank),
        }
        owner = {"kind": "Job", "name": of, "uid": uid_of("Job", of)}
    status: Json = {"phase": phase, "conditions": conditions(**states)}
    if code is not None:
        status["containerStatuses"] = [{"name": "train", "state": {"terminated": {"exitCode": code}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "research",
            "labels": labels,
            "ownerReferences": [owner],
            **({"deletionTimestamp": "+1s"} if leaving else {}),
        },
        "spec": {"nodeName": node} if node else {},
        "status": status,
    }


def node(
    name: str,
    pool: str = "spot-a",
    *,
    cordoned: bool = False,
    leaving: bool = False,
    capacity: str = "spot",
    **states: str,
) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "spotproof.dev/pool": pool,
                "spotproof.dev/capacity": capacity,
                "topology.kubernetes.io/zone": "zone-a",
            },
            **({"deletionTimestamp": "+1s"} if leaving else {}),
        },
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"conditions": conditions(**(states or {"Ready": "True"}))},
    }


def claim(name: str, pool: str = "spot-a", *, node: str = "", leaving: bool = False, **states: str) -> Json:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": name,
            "labels": {"spotproof.dev/pool": pool, "spotproof.dev/capacity": "spot"},
            **({"deletionTimestamp": "+1s"} if leaving else {}),
        },
        "status": {**({"nodeName": node} if node else {}), "conditions": conditions(**states)},
    }


def event(name: str, about: tuple[str, str], reason: str, message: str, by: str = "karpenter") -> Json:
    kind, of = about
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "research"},
        "involvedObject": {"kind": kind, "name": of},
        "reason": reason,
        "message": message,
        "source": {"component": by},
    }


def rayjob(*, status: str = "Running", suspend: bool = False, failed: int = 0, pool: str = "spot-a") -> Json:
    worker = {"spec": {"nodeSelector": {"spotproof.dev/pool": pool}}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": "tune", "namespace": "research"},
        "spec": {
            "suspend": suspend,
            "backoffLimit": 3,
            "rayClusterSpec": {
                "headGroupSpec": {"template": {"spec": {"nodeSelector": {"spotproof.dev/pool": "cpu"}}}},
                "workerGroupSpecs": [{"groupName": "gpu", "replicas": 1, "template": worker}],
            },
        },
        "status": {"jobDeploymentStatus": status, "failed": failed},
    }


def raycluster(name: str = "tune-x") -> Json:
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {
            "name": name,
            "namespace": "research",
            "ownerReferences": [{"kind": "RayJob", "name": "tune", "uid": uid_of("RayJob", "tune")}],
        },
    }


RUNS: Mapping[str, Any] = {"phase": "Running", "Ready": "True"}
NO_NODE: Mapping[str, Any] = {"PodScheduled": "False/Unschedulable/0 nodes are available. no new claims to deallocate"}
EVICTED: Mapping[str, Any] = {"leaving": True, "DisruptionTarget": "True/EvictionByEvictionAPI"}


def gang_runs(tale: Tale, at: float, names: Sequence[str], nodes: Sequence[str]) -> None:
    """The pods of an attempt wait for half a second, then run."""
    for rank, (name, on) in enumerate(zip(names, nodes, strict=True)):
        tale.put(at, pod(name, rank=rank, **NO_NODE))
        tale.put(at + 0.6, pod(name, rank=rank, node=on, **RUNS))
