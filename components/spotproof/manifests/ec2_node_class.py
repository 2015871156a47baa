"""The EC2NodeClass of a pool on EKS. Schema: karpenter-provider-aws v1.14.1."""

from collections.abc import Mapping, Sequence
from typing import Final

from spotproof.manifests.karpenter import NodeClassRef
from spotproof.manifests.metadata import metadata
from spotproof.settings.aws.instances import has_nvme
from spotproof.settings.pools import Pool
from spotproof.vocabulary import Manifest, Taint

EBS_STARTUP_TAINT: Final[Taint] = {"key": "ebs.csi.aws.com/agent-not-ready", "effect": "NoExecute"}
"""Lifted by the EBS driver's node pod, and by nobody where that does not run; without it a pod can land before its
volumes can be attached."""

NODE_CLASS: Final = NodeClassRef("karpenter.k8s.aws", "v1", "EC2NodeClass")

BOTTLEROCKET_ROOT_GIB: Final = 4
"""The read-only system disk of a Bottlerocket image; images and pods live on the second disk."""


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
        "apiVersion": f"{NODE_CLASS.group}/{NODE_CLASS.version}",
        "kind": NODE_CLASS.kind,
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
