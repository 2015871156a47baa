"""A cluster with a job of every sort, as `spotproof status` finds it."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Final

from spotproof.controller.kinds import JOB, JOBSET, JOBSET_NAME, POD, POLICY, RAY_CLUSTER_NAME, RAYJOB, RUN, Kind
from spotproof.fallback.record import parse_instant
from spotproof.status.world import EVENT, World
from spotproof.vocabulary import FALLBACK_POLICY_LABEL
from tests.unit.controller.preflight.samples import JOBSET as JOBSET_ON_T4

Object = dict[str, Any]

NOW: Final = parse_instant("2026-11-21T12:00:00Z")
CAPACITY: Final = "karpenter.sh/capacity-type"
UNSCHEDULABLE: Final = (
    "0/4 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu, 3 node(s) had untolerated taint(s). "
    "no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
)


def run(name: str, *, namespace: str = "research", kind: str = "JobSet", policy: str = "a100", **status: Any) -> Object:
    """A TrainingRun."""
    return {
        **_object(RUN, name, namespace),
        "spec": {"job": {"apiVersion": "x/v1", "kind": kind, "name": name, "uid": "1"}, "policy": policy},
        "status": status,
    }


def policy(name: str = "a100", spot: str = "a100-spot-a", on_demand: str = "a100") -> Object:
    """A FallbackPolicy of one spot tier and one on-demand tier."""
    tiers = [
        {
            "pool": pool,
            "capacity": capacity,
            "nodeSelector": {"spotproof.dev/pool": pool},
            "tolerations": [],
            "maxFailures": failures,
            "pendingTimeout": "1h",
            "priceSource": "none",
        }
        for pool, capacity, failures in ((spot, "spot", 5), (on_demand, "on-demand", -1))
    ]
    return {**_object(POLICY, name, ""), "spec": {"tiers": tiers, "deadline": {"mode": "off"}}}


def jobset(name: str, selector: dict[str, str], *, labels: dict[str, str] | None = None, **status: Any) -> Object:
    """A JobSet of one role."""
    template = {"spec": {"nodeSelector": selector, "containers": [{"name": "train"}]}}
    role = {"name": "worker", "replicas": 1, "template": {"spec": {"parallelism": 4, "template": template}}}
    return {**_object(JOBSET, name, labels=labels), "spec": {"replicatedJobs": [role]}, "status": status}


def _on_a_tier(name: str) -> Object:
    """A JobSet as `spotproof render` makes them, on the first tier of policy(), without the label of a policy."""
    thing = deepcopy(JOBSET_ON_T4)
    thing["metadata"] |= {"name": name, "namespace": "research", "creationTimestamp": "2026-11-21T09:00:00Z"}
    del thing["metadata"]["labels"][FALLBACK_POLICY_LABEL]
    for each in thing["spec"]["replicatedJobs"]:
        each["template"]["spec"]["template"]["spec"]["nodeSelector"] = {"spotproof.dev/pool": "a100-spot-a"}
    return thing


def rayjob(name: str, selector: dict[str, str], *, cluster: str = "", **status: Any) -> Object:
    """A RayJob with one group of workers."""
    head = {"template": {"spec": {"containers": [{"name": "head"}]}}}
    group = {"groupName": "gpu", "replicas": 2, "template": {"spec": {"nodeSelector": selector}}}
    spec = {"rayClusterSpec": {"headGroupSpec": head, "workerGroupSpecs": [group]}}
    return {**_object(RAYJOB, name), "spec": spec, "status": {"rayClusterName": cluster, **status}}


def job(name: str, spec: Object, **status: Any) -> Object:
    """A plain Job with the pod spec."""
    return {**_object(JOB, name), "spec": {"template": {"spec": spec}}, "status": status}


def pod(name: str, labels: dict[str, str], message: str = UNSCHEDULABLE, since: str = "2026-11-21T11:45:00Z") -> Object:
    """A pod without a node."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastTransitionTime": since,
    }
    return {**_object(POD, name, labels=labels), "status": {"phase": "Pending", "conditions": [condition]}}


def of_jobset(name: str) -> dict[str, str]:
    """Labels of a JobSet's pods."""
    return {JOBSET_NAME: name, "batch.kubernetes.io/job-name": f"{name}-worker-0"}


def of_cluster(name: str) -> dict[str, str]:
    """Labels of a Ray cluster's pods."""
    return {RAY_CLUSTER_NAME: name}


def event(about: str, reason: str, message: str, last: str = "2026-11-21T11:58:00Z", kind: str = "Pod") -> Object:
    """An event of the core API."""
    return {
        **_object(EVENT, f"{about}.{reason}"),
        "involvedObject": {"kind": kind, "namespace": "research" if kind == "Pod" else "", "name": about},
        "reason": reason,
        "message": message,
        "lastTimestamp": last,
    }


def world(
    *things: Object, refusals: Iterable[Object] = (), unseen: Iterable[Kind] = (), notes: Iterable[str] = ()
) -> World:
    """A cluster with these objects in it."""
    found: dict[Kind, list[Object]] = {}
    for each in things:
        found.setdefault(Kind(each["apiVersion"], each["kind"]), []).append(each)
    return World(
        {kind: tuple(each) for kind, each in found.items()}, NOW, tuple(notes), frozenset(unseen), tuple(refusals)
    )


def _object(kind: Kind, name: str, namespace: str = "research", labels: dict[str, str] | None = None) -> Object:
    place = {"namespace": namespace} if namespace else {}
    meta = {"name": name, **place, "labels": labels or {}, "creationTimestamp": "2026-11-21T09:00:00Z"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def condition(kind: str, status: str, message: str = "", reason: str = "") -> Object:
    """A condition of a TrainingRun."""
    return {
        "type": kind,
        "status": status,
        "reason": reason or kind,
        "message": message,
        "lastTransitionTime": "2026-11-21T11:00:00Z",
    }


WAITING: Final = run(
    "llama-70b",
    phase="Waiting",
    tier="a100-spot-a",
    attempt=4,
    evictions=3,
    errors=1,
    waitingSince="2026-11-21T11:48:00Z",
    waitingFor="capacity: the cloud has none of p4d.24xlarge in us-west-2a",
    reason="Waiting",
    message="waiting for a100-spot-a for 12m, of 20m at most; 3 nodes are held and billed meanwhile",
    nextDecisionTime="2026-11-21T12:08:00Z",
    since="2026-11-21T11:48:00Z",
    arrived="2026-11-20T20:00:00Z",
    nodes=4,
    nodesHeld=3,
    deadline={
        "at": "2026-11-22T08:00:00Z",
        "workSeconds": 28 * 3600,
        "doneSeconds": 13 * 3600 + 1800,
        "spareSeconds": 5 * 3600 + 1800,
        "progress": "assumed",
    },
    tiers=[
        {
            "pool": "a100-spot-a",
            "evictions": 3,
            "errors": 1,
            "there": False,
            "up": "2026-11-21T11:40:00Z",
            "down": "2026-11-21T11:48:00Z",
        },
        {"pool": "a100-spot-b", "there": True, "up": "2026-11-21T11:55:00Z", "asked": "2026-11-21T11:55:00Z"},
        {"pool": "a100-spot-c", "askingSince": "2026-11-21T11:59:20Z"},
        {"pool": "a100", "evictions": 0},
    ],
    history=[
        {
            "at": "2026-11-20T20:03:00Z",
            "what": "Evicted",
            "from": "a100-spot-a",
            "reason": "NodeGone",
            "message": "node a100-spot-a-xk2p9 was reclaimed",
            "seconds": 412,
        },
        {
            "at": "2026-11-21T02:10:00Z",
            "what": "Moved",
            "from": "a100-spot-a",
            "to": "a100",
            "reason": "PendingTimeout",
            "message": "no place on a100-spot-a for 20m, and pendingTimeout is 20m: moving to a100",
            "seconds": 305,
        },
        {
            "at": "2026-11-21T05:00:00Z",
            "what": "Moved",
            "from": "a100",
            "to": "a100-spot-a",
            "reason": "CheaperTierAnswered",
            "message": "a100-spot-a has room and is cheaper than a100: returning",
            "seconds": 190,
        },
    ],
    conditions=[
        condition("Accepted", "True"),
        condition(
            "ProgressAssumed",
            "True",
            "the trainer does not say what it has saved: taken to be the time it ran, less what restarts and "
            "evictions cost",
            "NotReported",
        ),
        condition("NoProgress", "False"),
    ],
)
RUNNING: Final = run(
    "训练-bert", namespace="speech", policy="h100", phase="Running", tier="h100-spot-a", attempt=1,
    since="2026-11-20T21:00:00Z", reason="Running", message="runs on h100-spot-a", nodes=2,
)  # fmt: skip
MOVING: Final = run(
    "tune", kind="RayJob", phase="Moving", tier="a100", attempt=6, evictions=6, since="2026-11-21T11:59:00Z",
    reason="TooManyFailures", message="a100-spot-a failed the job 6 times, and maxFailures is 5: moving to a100",
    move={
        "id": "m7", "from": "a100-spot-a", "to": "a100", "reason": "TooManyFailures", "step": "Draining",
        "message": "a100-spot-a failed the job 6 times, and maxFailures is 5: moving to a100",
        "since": "2026-11-21T11:59:00Z",
    },
    interruption={
        "attempt": "5", "pool": "a100-spot-a", "restarts": 6, "errors": 0, "cause": "eviction",
        "since": "2026-11-21T11:58:30Z", "nodes": ["a100-spot-a-7zk2m"],
        "evidence": "spot node a100-spot-a-7zk2m is gone",
    },
)  # fmt: skip
REFUSED: Final = run(
    "legacy", phase="Refused", reason="Refused",
    message="spec.failurePolicy has no rule for evictions: the first one would use up maxRestarts",
    conditions=[condition("Accepted", "False", "spec.failurePolicy: has no rule for evictions")],
)  # fmt: skip
DONE: Final = run(
    "warmup", phase="Succeeded", tier="a100", attempt=2, evictions=1, since="2026-11-21T08:00:00Z", reason="Succeeded",
    message="done",
)  # fmt: skip
UNSEEN: Final = jobset("fresh", {"spotproof.dev/pool": "a100"}, labels={"spotproof.dev/fallback-policy": "a100"})
BY_HAND: Final = _on_a_tier("by-hand")
OTHER_KEY: Final = rayjob("sweep", {CAPACITY: "spot"}, cluster="sweep-x7")
PLAIN: Final = job("eval", {"nodeSelector": {"cloud.google.com/gke-spot": "true"}})
PODS: Final = [
    pod("by-hand-worker-0-0", of_jobset("by-hand")),
    pod("by-hand-worker-0-1", of_jobset("by-hand"), since="2026-11-21T11:50:00Z"),
    pod("sweep-x7-gpu-1", of_cluster("sweep-x7"), "no nodes available to schedule pods"),
]
EVERYTHING: Final = world(
    WAITING, RUNNING, MOVING, REFUSED, DONE, UNSEEN, BY_HAND, OTHER_KEY, PLAIN, policy(), *PODS,
    event("sweep-x7-gpu-1", "NotTriggerScaleUp", "pod didn't trigger scale-up: 2 max node group size reached"),
    notes=["not allowed to list Event objects, so the autoscaler's words are not shown"],
)  # fmt: skip
