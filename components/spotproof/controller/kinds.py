"""What the controller watches, and what it keeps of it: plain mappings, far smaller than the objects.

A pod as the API server has it takes 12 kB in Python and its projection under 1 kB, and there are tens of thousands.
Selectors are the API server's work: a pod that belongs to no JobSet and no Ray cluster never arrives.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spotproof.controller import shapes
from spotproof.vocabulary import (
    API_VERSION,
    FALLBACK_POLICY_LABEL,
    ON_DEMAND_SELECTORS,
    POOL_LABEL,
    PROBE_LABEL,
    SPOT_SELECTORS,
)

Object = dict[str, Any]


class Kind(NamedTuple):
    """A kind of object, as a request names it."""

    api_version: str
    kind: str


POD: Final = Kind("v1", "Pod")
NODE: Final = Kind("v1", "Node")
NAMESPACE: Final = Kind("v1", "Namespace")
JOB: Final = Kind("batch/v1", "Job")
JOBSET: Final = Kind("jobset.x-k8s.io/v1alpha2", "JobSet")
RAYJOB: Final = Kind("ray.io/v1", "RayJob")
RAY_CLUSTER: Final = Kind("ray.io/v1", "RayCluster")
NODE_CLAIM: Final = Kind("karpenter.sh/v1", "NodeClaim")
POLICY: Final = Kind(API_VERSION, "FallbackPolicy")
RUN: Final = Kind(API_VERSION, "TrainingRun")
EVENT: Final = Kind("events.k8s.io/v1", "Event")
LEASE: Final = Kind("coordination.k8s.io/v1", "Lease")

JOBSET_NAME: Final = "jobset.sigs.k8s.io/jobset-name"
"""Label of child Jobs and pods of a JobSet."""
RAY_CLUSTER_NAME: Final = "ray.io/cluster"
"""Label of the pods of a Ray cluster, heads and workers."""
PROVISIONED: Final = "RayClusterProvisioned"
"""Condition of a Ray cluster: all its pods have been ready once; it stays True (KubeRay 1.3 and newer)."""

ATTEMPT_LABEL: Final = "jobset.sigs.k8s.io/restart-attempt"
"""Label of child Jobs and pods of a JobSet: which attempt they are of."""
JOB_NAME: Final = "batch.kubernetes.io/job-name"
"""Label of the pods of a Job."""

POD_LABELS: Final = frozenset({JOBSET_NAME, ATTEMPT_LABEL, JOB_NAME, RAY_CLUSTER_NAME, PROBE_LABEL})
"""Of the 25 labels that a pod of a JobSet has, those that are read."""
NODE_LABELS: Final = frozenset({POOL_LABEL, *SPOT_SELECTORS, *ON_DEMAND_SELECTORS})
"""Of a node's and a NodeClaim's."""

Projection = Callable[[Mapping[str, Any]], Object]


class Watched(NamedTuple):
    """One list-and-watch: a kind, which of its objects, and what is kept of one.

    `optional` kinds are those of an operator that a cluster may lack: their absence is no error, and they are looked
    for again. `shape` is what the projection reads, so that a watch need not decode more; None where that is all.
    """

    kind: Kind
    project: Projection
    labels: str = ""
    optional: bool = False
    shape: type | None = None


LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of the whole object."""

METADATA: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
VERSIONED: Final = ("resourceVersion", "deletionTimestamp")
"""What is kept of the smallest ones' metadata beside their names. A mapping of five keys takes 200 bytes, one of six
takes 288, and 10,000 gangs have 60,000 nodes, claims and child Jobs: what is left out of them is 17 MiB."""


def _metadata(
    thing: Mapping[str, Any],
    labels: Container[str] | None = None,
    *,
    keys: Sequence[str] = METADATA,
    annotations: bool = False,
    owned: Sequence[str] = ("kind", "name", "uid"),
) -> Object:
    """What is kept of any object; of its labels the named ones, or all, and of its owners so much."""
    meta = thing["metadata"]
    kept: Object = {key: meta[key] for key in keys if key in meta}
    if found := {key: each for key, each in (meta.get("labels") or {}).items() if labels is None or key in labels}:
        kept["labels"] = found
    if annotations and meta.get("annotations"):
        kept["annotations"] = {key: text for key, text in meta["annotations"].items() if "spotproof.dev/" in key}
    if owned and (owners := meta.get("ownerReferences")):
        kept["ownerReferences"] = [{key: owner[key] for key in owned} for owner in owners]
    return kept


def _picked(thing: Mapping[str, Any], *keys: str) -> Object:
    return {key: thing[key] for key in keys if key in thing}


TOLD: Final = ("type", "status", "reason", "message", "lastTransitionTime")
KNOWN: Final = ("type", "status", "reason")
"""Of a condition whose time and words nobody reads, so that those of all nodes are alike."""


def _conditions(status: Mapping[str, Any], types: Sequence[str] = (), keys: Sequence[str] = TOLD) -> list[Object]:
    return [
        {key: each[key] for key in keys if each.get(key)}
        for each in status.get("conditions", [])
        if not types or each["type"] in types
    ]


def project_pod(pod: Mapping[str, Any]) -> Object:
    """Where it is, what it waits for, how it ended; of its spec what a probe or a preflight compares."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    ended = [
        {"name": each["name"], **_picked(each["state"]["terminated"], "exitCode", "reason", "finishedAt")}
        for each in status.get("containerStatuses", [])
        if "terminated" in each.get("state", {})
    ]
    return {
        "metadata": _metadata(pod, POD_LABELS, annotations=True),
        "spec": _picked(spec, "nodeName", "nodeSelector"),
        "status": {
            **_picked(status, "phase", "reason"),
            "conditions": [
                *_conditions(status, ("PodScheduled", "DisruptionTarget")),
                *_conditions(status, ("Ready",), KNOWN),
            ],
            **({"ended": ended} if ended else {}),
        },
    }


def project_node(node: Mapping[str, Any]) -> Object:
    """Its labels (pool, capacity), taints, whose it is, and whether it is about to be taken."""
    spec, status = node.get("spec", {}), node.get("status", {})
    return {
        "metadata": _metadata(node, NODE_LABELS, keys=("name", *VERSIONED), owned=("kind", "name")),
        "spec": {"taints": [_picked(each, "key", "value", "effect") for each in spec.get("taints", [])]},
        "status": {"conditions": _conditions(status, ("PreemptionScheduled",), KNOWN)},
    }


def project_node_claim(claim: Mapping[str, Any]) -> Object:
    """Which node it became, why it did not, and why it goes if Karpenter itself chose that."""
    status = claim.get("status", {})
    types = ("Initialized", "DisruptionReason")
    conditions = [*_conditions(status, ("Launched",), (*KNOWN, "message")), *_conditions(status, types, KNOWN)]
    return {
        "metadata": _metadata(claim, NODE_LABELS, keys=("name", "creationTimestamp", *VERSIONED), owned=()),
        "status": {**_picked(status, "nodeName"), "conditions": conditions},
    }


def project_job(job: Mapping[str, Any]) -> Object:
    """A child Job of a JobSet: which of its counters are not 0, whether it is suspended, and its pods' selector.

    When it was made is asked of complete ones alone.
    """
    spec, status = job.get("spec", {}), job.get("status", {})
    counters, conditions = ("active", "terminating", "succeeded"), _conditions(status)
    born = ("creationTimestamp",) if any(each["type"] == "Complete" for each in conditions) else ()
    return {
        "metadata": _metadata(job, POD_LABELS, keys=("name", "namespace", "uid", *VERSIONED, *born), owned=()),
        "spec": {
            **_picked(spec, "suspend", "completions"),
            "nodeSelector": spec.get("template", {}).get("spec", {}).get("nodeSelector", {}),
        },
        "status": {**{key: True for key in counters if status.get(key)}, "conditions": conditions},
    }


def project_whole(thing: Mapping[str, Any]) -> Object:
    """Everything but what other writers left: a managed job's spec is preflighted and patched by its paths."""
    meta = {key: each for key, each in thing["metadata"].items() if key != "managedFields"}
    if LAST_APPLIED in meta.get("annotations", {}):
        # stays, as a key without its value: a patch that adds an annotation must know whether there are any
        meta["annotations"] = {**meta["annotations"], LAST_APPLIED: ""}
    return {**thing, "metadata": meta}


def project_jobset(jobset: Mapping[str, Any]) -> Object:
    """All that somebody wrote; of its status how often it was restarted and how it ended."""
    return _of_status(jobset, "restarts", "restartsCountTowardsMax", "terminalState", "conditions")


def project_rayjob(rayjob: Mapping[str, Any]) -> Object:
    """All that somebody wrote; of its status how it is, its cluster's name, and how often its program failed."""
    return _of_status(rayjob, "jobDeploymentStatus", "jobStatus", "failed", "rayClusterName", "message", "reason")


def _of_status(job: Mapping[str, Any], *keys: str) -> Object:
    """Counts of pods and nodes are written with each of them, and the pods are watched themselves."""
    whole = project_whole(job)
    return {**whole, "status": _picked(whole["status"], *keys)} if whole.get("status") else whole


def project_cluster(cluster: Mapping[str, Any]) -> Object:
    """Whose it is: pods name their cluster, and the cluster its RayJob; and since when all its pods have been ready."""
    conditions = _conditions(cluster.get("status", {}), (PROVISIONED,), ("type", "status", "lastTransitionTime"))
    return {"metadata": _metadata(cluster), "status": {"conditions": conditions}}


def project_namespace(namespace: Mapping[str, Any]) -> Object:
    """Its labels, by which it is paused."""
    return {"metadata": _metadata(namespace)}


WATCHED: Final[tuple[Watched, ...]] = (
    Watched(POLICY, project_whole),
    Watched(RUN, project_whole),
    Watched(NAMESPACE, project_namespace, shape=shapes.OnlyMetadata),
    Watched(JOBSET, project_jobset, FALLBACK_POLICY_LABEL, optional=True),
    Watched(RAYJOB, project_rayjob, FALLBACK_POLICY_LABEL, optional=True),
    Watched(RAY_CLUSTER, project_cluster, FALLBACK_POLICY_LABEL, optional=True, shape=shapes.RayCluster),
    Watched(JOB, project_job, JOBSET_NAME, shape=shapes.carrying(POD_LABELS, shapes.Job)),
    Watched(NODE_CLAIM, project_node_claim, optional=True, shape=shapes.carrying(NODE_LABELS, shapes.NodeClaim)),
    Watched(NODE, project_node, shape=shapes.carrying(NODE_LABELS, shapes.Node)),
    Watched(POD, project_pod, JOBSET_NAME, shape=shapes.carrying(POD_LABELS, shapes.Pod)),
    Watched(POD, project_pod, RAY_CLUSTER_NAME, shape=shapes.carrying(POD_LABELS, shapes.Pod)),
    Watched(POD, project_pod, PROBE_LABEL, shape=shapes.carrying(POD_LABELS, shapes.Pod)),
)
"""In this order they are listed at the start: what a pod is looked at with is there before it."""
PROJECTIONS: Final[Mapping[Kind, Projection]] = {each.kind: each.project for each in WATCHED}
"""For what an answer shows of an object, as the watch would."""
