"""The AKSNodeClass of a pool on AKS. Schema: karpenter-provider-azure v1.14.2."""

from collections.abc import Mapping
from typing import Final

from spotproof.manifests.karpenter import NodeClassRef
from spotproof.manifests.metadata import metadata
from spotproof.settings.pools import Pool
from spotproof.vocabulary import Manifest

NODE_CLASS: Final = NodeClassRef("karpenter.azure.com", "v1beta1", "AKSNodeClass")

IMAGE_FAMILY: Final = "Ubuntu"
"""Ubuntu of the release that belongs to the version of Kubernetes. There is no field that pins an image: a new node has
the newest of the day, and the pools' budgets keep it while it is busy."""


def aks_node_class(pool: Pool, *, name: str, subnet_id: str, tags: Mapping[str, str]) -> Manifest:
    """The AKSNodeClass of a pool: image, disk and network of its nodes.

    The identity of the nodes is the cluster's. AKS installs the GPU driver (`gpu.mode` is Driver by default), and takes
    a local disk for the OS where it is large enough.

    Args:
        pool: The pool; of it only the disk size matters here.
        name: Name of the object, at most 63 characters.
        subnet_id: The subnet of the nodes, by its id. It cannot change later.
        tags: Tags of machines, disks and network interfaces.
    """
    return {
        "apiVersion": f"{NODE_CLASS.group}/{NODE_CLASS.version}",
        "kind": NODE_CLASS.kind,
        "metadata": metadata(name),
        "spec": {
            "imageFamily": IMAGE_FAMILY,
            "osDiskSizeGB": pool.disk_gib,
            "vnetSubnetID": subnet_id,
            **({"tags": dict(tags)} if tags else {}),
        },
    }
