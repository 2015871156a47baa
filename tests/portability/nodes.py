"""The nodes of a stack, as its cloud makes them: the labels and taints of the program, and those the cloud adds.

What each cloud adds by itself is from its own documentation: AKS node auto-provisioning and spot node pools (labels of
spot nodes), GKE Spot VMs and GPUs (gke-spot, gke-provisioning, the GPU taint), Karpenter (capacity-type, nodepool).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from spotproof.preview.model import Resource
from spotproof.settings import Environment
from spotproof.vocabulary import (
    AKS_PRIORITY_LABEL,
    GKE_PROVISIONING_LABEL,
    GKE_SPOT_LABEL,
    GPU_RESOURCE,
    KARPENTER_CAPACITY_LABEL,
    POOL_LABEL,
    SPOT,
    Taint,
)
from tests.portability.scheduler import Node

ZONE: Final = "topology.kubernetes.io/zone"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
GKE_GPU_TAINT: Final[Taint] = {"key": GPU_RESOURCE, "value": "present", "effect": "NoSchedule"}
GKE_EFFECTS: Final = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
RESERVED_SHARE: Final = 0.1
"""Of CPU and memory, for the kubelet and DaemonSets; more than any of the clouds takes on nodes of this size."""


def nodes_of(env: Environment, resources: Sequence[Resource]) -> list[Node]:
    """One node of every pool the stack makes, training and system alike; foreign nodes are as the settings say."""
    made = [node for resource in resources for node in MADE_BY.get(resource.type, _nothing)(env, resource)]
    return made or [_foreign(env, pool.name) for pool in env.pools]


def _nothing(_env: Environment, _resource: Resource) -> Iterator[Node]:
    return iter(())


def _karpenter(env: Environment, resource: Resource) -> Iterator[Node]:
    template = _dig(resource.inputs, "spec", "template")
    requirements = {each["key"]: each["values"] for each in template["spec"]["requirements"]}
    (capacity,) = requirements[KARPENTER_CAPACITY_LABEL]
    name = str(_dig(resource.inputs, "metadata", "name"))
    labels = {
        **template["metadata"]["labels"],
        "karpenter.sh/nodepool": name,
        **{key: values[0] for key, values in requirements.items()},
    }
    if env.provider.node_class_group == "karpenter.azure.com" and capacity == SPOT:
        labels |= {AKS_PRIORITY_LABEL: SPOT, "kubernetes.azure.com/priority": SPOT}
    yield Node(name, labels, template["spec"].get("taints", []), _allocatable(env, name, labels[INSTANCE_TYPE]))


def _gke(env: Environment, resource: Resource) -> Iterator[Node]:
    config = _dig(resource.inputs, "nodeConfig")
    name, spot = str(resource.inputs["name"]), bool(config.get("spot"))
    labels = {
        **config.get("labels", {}),
        "cloud.google.com/gke-nodepool": name,
        GKE_PROVISIONING_LABEL: SPOT if spot else "standard",
        INSTANCE_TYPE: config["machineType"],
        **({GKE_SPOT_LABEL: "true"} if spot else {}),
    }
    written = [{**taint, "effect": GKE_EFFECTS[taint["effect"]]} for taint in config.get("taints", [])]
    accelerated = bool(config.get("guestAccelerators")) and GKE_GPU_TAINT not in written
    taints = [*written, *([GKE_GPU_TAINT] if accelerated else [])]
    yield Node(name, labels, taints, _allocatable(env, labels.get(POOL_LABEL, ""), config["machineType"]))


def _aks(env: Environment, resource: Resource) -> Iterator[Node]:
    yield _agent_pool(env, resource.inputs, str(resource.inputs["agentPoolName"]))


def _aks_system(env: Environment, resource: Resource) -> Iterator[Node]:
    for profile in _dig(resource.inputs, "agentPoolProfiles") or []:
        yield _agent_pool(env, profile, str(profile["name"]))


def _agent_pool(env: Environment, pool: Mapping[str, Any], name: str) -> Node:
    spot = pool.get("scaleSetPriority") == "Spot"
    labels = {
        **pool.get("nodeLabels", {}),
        "kubernetes.azure.com/agentpool": name,
        "kubernetes.azure.com/mode": str(pool.get("mode", "User")).lower(),
        "kubernetes.azure.com/priority": SPOT if spot else "regular",
        INSTANCE_TYPE: pool["vmSize"],
        **({AKS_PRIORITY_LABEL: SPOT} if spot else {}),
    }
    written = [_taint(text) for text in pool.get("nodeTaints", [])]
    return Node(name, labels, written, _allocatable(env, labels.get(POOL_LABEL, ""), pool["vmSize"]))


def _taint(text: str) -> Taint:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _node_group(env: Environment, resource: Resource) -> Iterator[Node]:
    taints = [{**taint, "effect": _camel(taint["effect"])} for taint in _dig(resource.inputs, "taints") or []]
    labels = {**(_dig(resource.inputs, "labels") or {}), "eks.amazonaws.com/capacityType": "ON_DEMAND"}
    (instance_type, *_) = _dig(resource.inputs, "instanceTypes")
    yield Node(resource.name, labels, taints, _allocatable(env, "", instance_type))


def _camel(effect: str) -> str:
    return "".join(word.capitalize() for word in effect.split("_"))


def _foreign(env: Environment, name: str) -> Node:
    pool = env.pool(name)
    spot = [dict(env.provider.spot_taint)] if pool.is_spot else []
    written = spot if pool.taints is None else [taint.model_dump() for taint in pool.taints]
    gpus = pool.accelerator.count if pool.accelerator else 0
    return Node(name, pool.node_labels or {POOL_LABEL: name}, written, {"cpu": 8, "memory": 2**35, GPU_RESOURCE: gpus})


def _allocatable(env: Environment, pool: str, instance_type: str) -> dict[str, float]:
    machine = env.provider.machine(instance_type)
    assert machine is not None, instance_type
    accelerator = next((one.accelerator for one in env.pools if one.name == pool), None)
    share = 1 - RESERVED_SHARE
    return {
        "cpu": (machine.vcpus or 0) * share,
        "memory": (machine.memory_gib or 0) * share * 2**30,
        GPU_RESOURCE: accelerator.count if accelerator else 0,
    }


def _dig(value: Any, *path: str) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


MADE_BY: Final[Mapping[str, Callable[[Environment, Resource], Iterator[Node]]]] = {
    "kubernetes:karpenter.sh/v1:NodePool": _karpenter,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "gcp:container/nodePool:NodePool": _gke,
    "azure-native:containerservice:AgentPool": _aks,
    "azure-native:containerservice:ManagedCluster": _aks_system,
}
"""Resource type -> the nodes it makes."""
