"""Karpenter's objects on EKS: one EC2NodeClass and one NodePool for each pool.

Schemas: karpenter-provider-aws v1.14.1. Whatever the API server would fill in and does not suit
training is written out, so that a preview shows it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from spotproof.manifests.metadata import metadata
from spotproof.manifests.scheduling import pool_labels, pool_taints
from spotproof.settings.aws_instances import architecture, has_nvme
from spotproof.settings.base import render_duration
from spotproof.settings.pools import Pool
from spotproof.vocabulary import GPU_RESOURCE, KARPENTER_CAPACITY_LABEL, Manifest, Taint

EBS_STARTUP_TAINT: Final[Taint] = {"key": "ebs.csi.aws.com/agent-not-ready", "effect": "NoExecute"}
"""Lifted by the EBS driver's node pod, and by nobody where that does not run; without it a pod can land before its
volumes can be attached."""

NODE_CLASS_GROUP: Final = "karpenter.k8s.aws"
NODE_CLASS_KIND: Final = "EC2NodeClass"

BOTTLEROCKET_ROOT_GIB: Final = 4
"""The read-only system disk of a Bottlerocket image; images and pods live on the second disk."""

SMALL_VCPUS: Final[dict[str, int]] = dict.fromkeys(("nano", "micro", "small", "medium", "large"), 2)
ODD_VCPUS: Final[dict[str, int]] = {"c4.8xlarge": 36, "d2.8xlarge": 36}
"""EC2 names sizes by multiples of an xlarge, which has 4; these two are larger than their names."""


def ec2_node_class(  # noqa: PLR0913 - what a node needs of its cloud, each by keyword
    pool: Pool,
    *,
    name: str,
    ami_alias: str,
    node_role_name: str,
    subnet_terms: Sequence[Mapping[str, object]],
    security_group_terms: Sequence[Mapping[str, object]],
    tags: Mapping[str, str],
) -> Manifest:
    """The EC2NodeClass of a pool: image, disks, network, identity of its nodes.

    Args:
        pool: The pool; of it only disk size and instance types matter here.
        name: Name of the object, at most 63 characters.
        ami_alias: Image as `family@version`, al2023 or bottlerocket, pinned.
        node_role_name: Name of the IAM role of the nodes, not its ARN.
        subnet_terms: Subnets, each as `{"id": ...}` or `{"tags": {...}}`. A tag is known before an id is, and also
            finds subnets that others tag with it later.
        security_group_terms: Security groups, each as `{"id": ...}` or `{"tags": {...}}`.
        tags: Tags of instances, volumes and network interfaces; Karpenter's own keys are refused by the API server.
    """
    return {
        "apiVersion": f"{NODE_CLASS_GROUP}/v1",
        "kind": NODE_CLASS_KIND,
        "metadata": metadata(name),
        "spec": {
            "amiSelectorTerms": [{"alias": ami_alias}],
            "role": node_role_name,
            "subnetSelectorTerms": [dict(term) for term in subnet_terms],
            "securityGroupSelectorTerms": [dict(term) for term in security_group_terms],
            "associatePublicIPAddress": False,
            "blockDeviceMappings": _disks(ami_alias, pool.disk_gib),
            # A type without NVMe would leave a mixed pool with two sizes of ephemeral storage.
            **({"instanceStorePolicy": "RAID0"} if all(map(has_nvme, pool.instance_types)) else {}),
            "metadataOptions": {
                "httpEndpoint": "enabled",
                "httpProtocolIPv6": "disabled",
                # Pods get their credentials from EKS Pod Identity and hear of a reclaim by their eviction. One hop
                # keeps them away from IMDS, and with it from the node's role.
                "httpPutResponseHopLimit": 1,
                "httpTokens": "required",
            },
            **({"tags": dict(tags)} if tags else {}),
        },
    }


def _disks(ami_alias: str, size_gib: int) -> list[Manifest]:
    if ami_alias.startswith("bottlerocket@"):
        return [_disk("/dev/xvda", BOTTLEROCKET_ROOT_GIB), _disk("/dev/xvdb", size_gib)]
    return [_disk("/dev/xvda", size_gib)]


def _disk(device: str, size_gib: int) -> Manifest:
    return {
        "deviceName": device,
        "ebs": {
            "deleteOnTermination": True,
            "encrypted": True,
            "volumeSize": f"{size_gib}Gi",
            "volumeType": "gp3",
        },
    }


def node_pool(
    pool: Pool, *, node_class_name: str, zones: Sequence[str], startup_taints: Sequence[Taint] = ()
) -> Manifest:
    """The NodePool of a pool: which nodes Karpenter may buy, how many, and when one goes.

    A node goes when it has been empty for `consolidateAfter`, or when EC2 takes it; for no other reason. It never
    expires (the server's default of 720h ignores budgets and would end a month-long run), and it is
    not replaced because an image or this object changed: the next node is the new one.

    There is no terminationGracePeriod: at its end Karpenter deletes pods instead of evicting them, which leaves no
    DisruptionTarget condition, and a Job would count the reclaim as its own failure. Nothing here sets
    do-not-disrupt, so a drain evicts at once and the notice of two minutes is the pods' own.

    Args:
        pool: The pool.
        node_class_name: Name of its EC2NodeClass.
        zones: Zones of the network; the pool's own are used where it names some.
        startup_taints: One for each driver that lifts it on every node, as EBS_STARTUP_TAINT.
    """
    taints = pool_taints(pool)
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": metadata(pool.name),
        "spec": {
            "limits": _limits(pool),
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": render_duration(pool.consolidate_after),
                "budgets": [
                    {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
                    {"nodes": "100%", "reasons": ["Empty"]},
                ],
            },
            "template": {
                "metadata": {"labels": pool_labels(pool)},
                "spec": {
                    "nodeClassRef": {"group": NODE_CLASS_GROUP, "kind": NODE_CLASS_KIND, "name": node_class_name},
                    "requirements": _requirements(pool, pool.zones or zones),
                    **({"taints": taints} if taints else {}),
                    **({"startupTaints": [dict(taint) for taint in startup_taints]} if startup_taints else {}),
                    "expireAfter": "Never",
                },
            },
        },
    }


def _limits(pool: Pool) -> dict[str, int]:
    # Karpenter 1.14 compares `nodes` with what runs as a scheduling pass begins, not with what the pass adds
    # (kubernetes-sigs/karpenter issue 2915), so a gang larger than the pool would get all its nodes at once. What a
    # node brings it does count as it goes: that second limit makes the first one hold.
    if pool.accelerator:
        return {"nodes": pool.max_nodes, GPU_RESOURCE: pool.accelerator.count * pool.max_nodes}
    cpus = [_vcpus(name) for name in pool.instance_types]
    known = [count for count in cpus if count is not None]
    return {"nodes": pool.max_nodes, **({"cpu": max(known) * pool.max_nodes} if len(known) == len(cpus) else {})}


def _vcpus(instance_type: str) -> int | None:
    """Virtual CPUs of one node or a few more, never fewer; None where the name does not tell (bare metal)."""
    if instance_type in ODD_VCPUS:
        return ODD_VCPUS[instance_type]
    size = instance_type.partition(".")[2]
    multiple = re.fullmatch(r"(?:metal-)?([0-9]*)(?:xlarge|xl)", size)
    return 4 * int(multiple[1] or 1) if multiple else SMALL_VCPUS.get(size)


def _requirements(pool: Pool, zones: Sequence[str]) -> list[Manifest]:
    wanted = {
        KARPENTER_CAPACITY_LABEL: [pool.capacity],
        "node.kubernetes.io/instance-type": list(pool.instance_types),
        "kubernetes.io/arch": sorted({architecture(name) for name in pool.instance_types}),
        "kubernetes.io/os": ["linux"],
        "topology.kubernetes.io/zone": list(zones),
    }
    return [{"key": key, "operator": "In", "values": values} for key, values in wanted.items()]
