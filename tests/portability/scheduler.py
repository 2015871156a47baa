"""Whether a pod fits a node, as kube-scheduler's filters decide it: affinity, taints, resources.

Follows Kubernetes 1.36: component-helpers' nodeaffinity and taints packages, and the NodeResourcesFit plugin. Only
required terms filter; preferences never do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

Pod = Mapping[str, Any]
"""A pod's `spec`, as in a manifest."""

SUFFIXES: Final = {
    "m": Decimal("0.001"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
}


@dataclass(frozen=True)
class Node:
    """What the scheduler sees of a node. `allocatable` in cores, bytes and pieces; what it does not name it has not."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]]
    allocatable: Mapping[str, float]


def reasons_against(pod: Pod, node: Node) -> list[str]:
    """Why the pod does not fit this node, what it selects first; empty where it fits.

    The scheduler itself looks at taints first, and stops at its first reason.
    """
    return [*_affinity(pod, node), *_taints(pod, node), *_resources(pod, node)]


def _affinity(pod: Pod, node: Node) -> Iterator[str]:
    selector = pod.get("nodeSelector") or {}
    missing = {key: value for key, value in selector.items() if node.labels.get(key) != value}
    if missing:
        yield f"selector {_pairs(missing)}"
    required = _at(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None and not any(_term(term, node) for term in required.get("nodeSelectorTerms") or ()):
        yield "node affinity"


def _term(term: Mapping[str, Any], node: Node) -> bool:
    """A term is the AND of its parts; one with no part matches nothing."""
    labels, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not labels and not fields:
        return False
    return all(_expression(each, node.labels) for each in labels) and all(
        _expression(each, {"metadata.name": node.name}) for each in fields
    )


def _expression(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    values = expression.get("values") or []
    held = labels.get(key)
    if operator in {"Gt", "Lt"}:
        if held is None or not held.lstrip("-").isdigit():
            return False
        return int(held) > int(values[0]) if operator == "Gt" else int(held) < int(values[0])
    return {
        "In": held is not None and held in values,
        # a label that is not there is not in the list either
        "NotIn": held not in values,
        "Exists": held is not None,
        "DoesNotExist": held is None,
    }[operator]


def _taints(pod: Pod, node: Node) -> Iterator[str]:
    tolerations = pod.get("tolerations") or []
    for taint in node.taints:
        # PreferNoSchedule is a score, not a filter
        if taint["effect"] in {"NoSchedule", "NoExecute"} and not any(_tolerates(t, taint) for t in tolerations):
            yield f"taint {taint['key']}={taint.get('value', '')}:{taint['effect']}"
            return  # the scheduler names the first one


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    # without a key only Exists tolerates; validation refuses the rest
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def _resources(pod: Pod, node: Node) -> Iterator[str]:
    for resource, amount in requests(pod).items():
        if amount > Decimal(str(node.allocatable.get(resource, 0))):
            yield f"insufficient {resource}"


def requests(pod: Pod) -> dict[str, Decimal]:
    """What a pod asks for: the sum of its containers, or of one init container where that is more.

    A resource with a limit and no request is requested at its limit. A sidecar, an init container that restarts always,
    counts beside the containers.
    """
    inits = pod.get("initContainers") or []
    sidecars = [each for each in inits if each.get("restartPolicy") == "Always"]
    total: dict[str, Decimal] = {}
    for container in [*(pod.get("containers") or []), *sidecars]:
        for resource, amount in _of_container(container).items():
            total[resource] = total.get(resource, Decimal(0)) + amount
    for container in inits:
        for resource, amount in _of_container(container).items():
            total[resource] = max(total.get(resource, Decimal(0)), amount)
    for resource, amount in (pod.get("overhead") or {}).items():
        total[resource] = total.get(resource, Decimal(0)) + quantity(amount)
    return total


def _of_container(container: Mapping[str, Any]) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    written = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {resource: quantity(amount) for resource, amount in written.items()}


def quantity(value: object) -> Decimal:
    """A Kubernetes quantity: `500m`, `64Gi`, `8`.

    Raises:
        KeyError: a suffix Kubernetes does not know.
    """
    text = str(value)
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return Decimal(digits) * SUFFIXES[text[len(digits) :]]


def _at(value: Mapping[str, Any], *path: str) -> Any:
    here: Any = value
    for part in path:
        here = here.get(part) if isinstance(here, Mapping) else None
    return here


def _pairs(pairs: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in pairs.items())
