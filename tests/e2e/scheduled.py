"""What the real scheduler says of a pod, and of a pod put to one node."""

import copy
from typing import Any, Final

from spotproof.kube.client import Kube, Refused
from tests.e2e.kit import condition

Object = dict[str, Any]
SECONDS: Final = 60
NOT_FOUND: Final = 404
SAID: Final = {"taint": "untolerated taint", "selector": "node affinity", "node": "node affinity"}
"""First word of the matcher's reason -> what the scheduler says."""


def put_to(spec: Any, node: str) -> Any:
    """The spec with the node's name in every term that it requires."""
    changed = copy.deepcopy(spec)
    required = changed.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = required.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})
    for term in terms["nodeSelectorTerms"]:
        term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    return changed


def answer(kube: Kube, pod: Object) -> tuple[str, str]:
    """The node the scheduler chose, or why it chose none."""
    found = kube.get("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
    refusal = condition(found, "PodScheduled")
    return found["spec"].get("nodeName", ""), refusal.get("message", "") if refusal.get(
        "reason"
    ) == "Unschedulable" else ""


def decided(kube: Kube, pod: Object, *, fits: bool) -> tuple[str, str]:
    """The answer once it is final: a pod that fits may have met the one before it on its node, and is tried again."""

    def look() -> tuple[str, str] | None:
        node, refusal = answer(kube, pod)
        return (node, refusal) if node or (refusal and not fits) else None

    return kube.wait(look, "the scheduler's answer", SECONDS, seen=lambda: answer(kube, pod))


def remove(kube: Kube, pods: list[Object]) -> None:
    """At once; one that is gone is gone, as where a cut connection made the client ask twice.

    No pod may have the name of one before it: what was asked for twice would end it too.
    """
    for pod in pods:
        try:
            kube.delete("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace_seconds=0)
        except Refused as refused:
            if refused.status != NOT_FOUND:
                raise


def said(reasons: list[str]) -> str:
    """What the scheduler says where the matcher has these reasons: it looks at taints first, and stops there."""
    word, _, rest = min(reasons, key=lambda reason: not reason.startswith("taint ")).partition(" ")
    return SAID.get(word, f"Insufficient {rest}")
