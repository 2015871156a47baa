"""What the controller watches: its own records, each kind of job with what belongs to it, and nodes.

Selectors are the API server's work: a pod of no managed kind of job never arrives.
"""

from collections.abc import Mapping
from typing import Any, Final

from spotproof.controller import shapes
from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import NAMESPACE, NODE, NODE_CLAIM, POD, POLICY, RUN, Kind, Object
from spotproof.controller.projecting import KNOWN, VERSIONED, Projection, Watched, conditions, metadata, picked, whole
from spotproof.controller.relations import MEMBERS
from spotproof.vocabulary import ON_DEMAND_SELECTORS, POOL_LABEL, PROBE_LABEL, SPOT_SELECTORS

POD_LABELS: Final = frozenset({PROBE_LABEL}).union(*({each.label, *each.read} for each in MEMBERS))
"""Of the 25 labels that a pod of a JobSet has, those that are read."""
NODE_LABELS: Final = frozenset({POOL_LABEL, *SPOT_SELECTORS, *ON_DEMAND_SELECTORS})
"""Of a node's and a NodeClaim's."""
GATHER_REPORTS_SECONDS: Final = 0.1
"""A kubelet writes its node's status every 5 min though nothing has changed, 67 times a second in a cluster of 20,000.
Told one by one, that took 5.9 % of a core and 8 MB (docs/performance.md has what is left). What does happen to a node
is known later by so much."""


def project_pod(pod: Mapping[str, Any]) -> Object:
    """Where it is, what it waits for, how it ended; of its spec what a probe or a preflight compares."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    ended = [
        {"name": each["name"], **picked(each["state"]["terminated"], "exitCode", "reason", "finishedAt")}
        for each in status.get("containerStatuses", [])
        if "terminated" in each.get("state", {})
    ]
    return {
        "metadata": metadata(pod, POD_LABELS, annotations=True),
        "spec": picked(spec, "nodeName", "nodeSelector"),
        "status": {
            **picked(status, "phase", "reason"),
            "conditions": [
                *conditions(status, ("PodScheduled", "DisruptionTarget")),
                *conditions(status, ("Ready",), KNOWN),
            ],
            **({"ended": ended} if ended else {}),
        },
    }


def project_node(node: Mapping[str, Any]) -> Object:
    """Its labels (pool, capacity), taints, whose it is, and whether it is about to be taken."""
    spec, status = node.get("spec", {}), node.get("status", {})
    return {
        "metadata": metadata(node, NODE_LABELS, keys=("name", *VERSIONED), owned=("kind", "name")),
        "spec": {"taints": [picked(each, "key", "value", "effect") for each in spec.get("taints", [])]},
        "status": {"conditions": conditions(status, ("PreemptionScheduled",), KNOWN)},
    }


def project_node_claim(claim: Mapping[str, Any]) -> Object:
    """Which node it became, why it did not, and why it goes if Karpenter itself chose that."""
    status = claim.get("status", {})
    others = conditions(status, ("Initialized", "DisruptionReason"), KNOWN)
    return {
        "metadata": metadata(claim, NODE_LABELS, keys=("name", "creationTimestamp", *VERSIONED), owned=()),
        "status": {
            **picked(status, "nodeName"),
            "conditions": [*conditions(status, ("Launched",), (*KNOWN, "message")), *others],
        },
    }


def project_namespace(namespace: Mapping[str, Any]) -> Object:
    """Its labels, by which it is paused."""
    return {"metadata": metadata(namespace)}


_POD: Final = shapes.carrying(POD_LABELS, shapes.Pod)

WATCHED: Final[tuple[Watched, ...]] = (
    Watched(POLICY, whole),
    Watched(RUN, whole),
    Watched(NAMESPACE, project_namespace, shape=shapes.OnlyMetadata),
    *(watched for kind in JOBS.values() for watched in kind.watched),
    Watched(NODE_CLAIM, project_node_claim, optional=True, shape=shapes.carrying(NODE_LABELS, shapes.NodeClaim)),
    Watched(
        NODE,
        project_node,
        shape=shapes.carrying(NODE_LABELS, shapes.Node),
        versioned=False,
        gather_seconds=GATHER_REPORTS_SECONDS,
    ),
    *(Watched(POD, project_pod, label, shape=_POD) for label in (*(each.label for each in MEMBERS), PROBE_LABEL)),
)
"""In this order they are listed at the start: what a pod is looked at with is there before it."""
PROJECTIONS: Final[Mapping[Kind, Projection]] = {each.kind: each.project for each in WATCHED}
"""For what an answer shows of an object, as the watch would."""
