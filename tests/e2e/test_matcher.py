"""The matcher that the portability table stands on, against the real scheduler: its own edge cases, one node each."""

from dataclasses import dataclass
from typing import Any, Final

import pytest

from spotproof.kube.client import Refused
from spotproof.rehearsal.control_plane import ControlPlane
from tests.e2e.nodes import brought_up
from tests.e2e.pods import pod_of
from tests.e2e.scheduled import decided, put_to, said
from tests.portability.scheduler import Node, reasons_against
from tests.portability.test_scheduler import AFFINITY, SPOT, TOLERATIONS, affinity

NAMESPACE: Final = "default"
GIB: Final = 2**30


@dataclass(frozen=True)
class Edge:
    """A pod and the one node it is put to."""

    words: str
    pod: dict[str, Any]
    node: Node


def node(labels: dict[str, str] | None = None, *taints: dict[str, str], gpus: int = 0) -> Node:
    return Node("", labels or {}, taints, {"cpu": 8, "memory": 32 * GIB, "nvidia.com/gpu": gpus})


def asking(*containers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": f"c{number}", "resources": each} for number, each in enumerate(containers)], **more}


def started(asked: dict[str, str], **more: str) -> dict[str, Any]:
    return {"initContainers": [{"name": "start", "resources": {"requests": asked}, **more}]}


SIDECAR: Final = started({"cpu": "6"}, restartPolicy="Always")


TWO_TERMS: Final = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in ("a", "b")]
            }
        }
    }
}
PREFERS_NOT: Final = {**SPOT, "effect": "PreferNoSchedule"}
EVICTS: Final = {**SPOT, "effect": "NoExecute"}
ANOTHER: Final = {"key": "x", "value": "", "effect": "NoSchedule"}
GPU: Final = {"limits": {"nvidia.com/gpu": "1"}}

BOTH_TAINTS: Final = node({}, SPOT, ANOTHER)

EDGES: Final = [
    *(Edge(f"{each}, {labels}", {**asking({}), **affinity(each)}, node(labels)) for each, labels, _ in AFFINITY),
    *(
        Edge(f"{each}", asking({}, tolerations=[each]), node({}, SPOT))
        for each, _ in TOLERATIONS
        if "key" in each or each.get("operator") == "Exists"
    ),
    Edge("terms are alternatives", {**asking({}), **TWO_TERMS}, node({"b": "1"})),
    Edge("none of two terms", {**asking({}), **TWO_TERMS}, node({"c": "1"})),
    Edge("the selector beside a term", {**asking({}), **TWO_TERMS, "nodeSelector": {"c": "1"}}, node({"b": "1"})),
    Edge("a selector's other value", asking({}, nodeSelector={"a": "1"}), node({"a": "2"})),
    Edge("a taint and a selector", asking({}, nodeSelector={"a": "1"}), node({"a": "2"}, SPOT)),
    Edge("a taint that prefers", asking({}), node({}, PREFERS_NOT)),
    Edge("a taint that evicts", asking({}), node({}, EVICTS)),
    Edge("two taints, one tolerated", asking({}, tolerations=[{"key": "x", "operator": "Exists"}]), BOTH_TAINTS),
    Edge("all of a node", asking({"requests": {"cpu": "8", "memory": "32Gi"}}), node()),
    Edge("a little more than a node", asking({"requests": {"cpu": "8001m"}}), node()),
    Edge("two containers together", asking({"requests": {"cpu": "5"}}, {"requests": {"cpu": "3500m"}}), node()),
    Edge("a start larger than the rest", asking({"requests": {"cpu": "1"}}, **started({"cpu": "9"})), node()),
    Edge("a start beside the rest", asking({"requests": {"cpu": "5"}}, **started({"cpu": "6"})), node()),
    Edge("a sidecar beside the rest", asking({"requests": {"cpu": "5"}}, **SIDECAR), node()),
    Edge("a limit is a request", asking({"limits": {"memory": "33Gi"}}), node()),
    Edge("a GPU there is none of", asking(GPU), node()),
    Edge("a GPU", asking(GPU), node(gpus=1)),
    Edge("two GPUs of one", asking(GPU, GPU), node(gpus=1)),
    Edge("memory in tenths", asking({"requests": {"memory": "31.9Gi"}}), node()),
]  # fmt: skip


def test_the_real_scheduler_answers_as_the_matcher_does(plane: ControlPlane) -> None:
    numbered = [
        (edge, Node(f"edge-{number}", {**edge.node.labels}, edge.node.taints, edge.node.allocatable))
        for number, edge in enumerate(EDGES)
    ]
    with brought_up(plane.kube, [node for _, node in numbered]):
        pods = [pod_of(f"pod-of-{node.name}", NAMESPACE, put_to(edge.pod, node.name)) for edge, node in numbered]
        for pod in pods:
            plane.kube.create(pod)
        for (edge, node), pod in zip(numbered, pods, strict=True):
            reasons = reasons_against(edge.pod, node)
            chosen, refusal = decided(plane.kube, pod, fits=not reasons)
            assert chosen == ("" if reasons else node.name), (edge.words, reasons, refusal)
            assert not reasons or said(reasons) in refusal, edge.words


@pytest.mark.parametrize(
    "toleration", [each for each, _ in TOLERATIONS if "key" not in each and "operator" not in each]
)
def test_what_the_matcher_need_not_know_the_api_server_refuses(plane: ControlPlane, toleration: dict[str, str]) -> None:
    pod = pod_of("refused", NAMESPACE, asking({}, tolerations=[toleration]))
    with pytest.raises(Refused, match="operator must be Exists when `key` is empty"):
        plane.kube.create(pod, dry_run=True)
