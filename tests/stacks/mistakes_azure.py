"""Mistakes on Azure (cloud facts, section E 7, 8 and 10), planted in our program or beside it."""

from typing import Final

from tests.stacks.planting import Mistake, beside

NAME: Final = "azure-dev"
STACK: Final = f"stacks/Pulumi.{NAME}.yaml"
AZURE: Final = "components/spotproof/clouds/azure"
NODE_CLASS: Final = "components/spotproof/manifests/aks_node_class.py"

JOB: Final = """
import pulumi_kubernetes as k8s

containers = [{"name": "train", "image": "train"}]
pods = {"service_account_name": "trainer", "restart_policy": "Never", "containers": containers}
k8s.batch.v1.Job(
    "train", metadata={"name": "train", "namespace": "research"}, spec={"template": {"spec": pods}},
    opts=pulumi.ResourceOptions(provider=cluster.kubernetes_provider),
)
"""

MISTAKES: Final = (
    Mistake(
        "Azure: node auto-provisioning with an autoscaled agent pool, in the settings",
        STACK,
        "maxNodes: 2}",
        "maxNodes: 2, autoscaler: cluster-autoscaler}",
        "settings",
        NAME,
    ),
    Mistake(
        "Azure: node auto-provisioning with an autoscaled agent pool, in the program",
        f"{AZURE}/cluster.py",
        '"enable_auto_scaling": False,',
        '"enable_auto_scaling": True, "min_count": 2, "max_count": 4,',
        "node-auto-provisioning-stands-alone",
        NAME,
    ),
    Mistake(
        "Azure: a spot price cap with node auto-provisioning, in the settings",
        STACK,
        "maxNodes: 4}",
        "maxNodes: 4, spotMaxPrice: 0.2}",
        "settings",
        NAME,
    ),
    Mistake(
        "Azure: a spot price cap with node auto-provisioning, in the program",
        NODE_CLASS,
        '"imageFamily": IMAGE_FAMILY,',
        '"imageFamily": IMAGE_FAMILY, "spotMaxPrice": 0.2,',
        "spot-price-cap-is-kept",
        NAME,
    ),
    Mistake(
        "Azure: relying on a spot taint that node auto-provisioning does not add",
        "components/spotproof/manifests/karpenter.py",
        '**({"taints": taints} if taints else {}),',
        "",
        "spot-pools-are-tainted",
        NAME,
    ),
    Mistake(
        "Azure: gpu.mode in small letters, as the pages of AKS show it",
        NODE_CLASS,
        '"imageFamily": IMAGE_FAMILY,',
        '"imageFamily": IMAGE_FAMILY, "gpu": {"mode": "driver"},',
        "aks-node-classes-are-spelled",
        NAME,
    ),
    Mistake(
        "Azure: federated credentials of one identity made in parallel",
        f"{AZURE}/workspace_identity.py",
        "for account in accounts:",
        'for account in (*accounts, "other"):\n            before = identity',
        "federated-credentials-are-made-in-turn",
        NAME,
    ),
    beside(
        "Azure: the label of workload identity missing on pods",
        JOB,
        "pods-of-workload-identity-carry-the-label",
        NAME,
    ),
    Mistake(
        "Azure: versions of checkpoints that only soft delete should end",
        f"{AZURE}/checkpoints.py",
        "    if versioning:\n        # A deleted blob",
        "    if not versioning:\n        # A deleted blob",
        "checkpoint-versions-expire",
        NAME,
    ),
    Mistake(
        "Azure: a lifecycle rule that deletes current checkpoints",
        f"{AZURE}/checkpoints.py",
        '"actions": {"version": ',
        '"actions": {"base_blob": {"delete": {"days_after_modification_greater_than": days}}, "version": ',
        "live-checkpoints-are-kept",
        NAME,
    ),
    Mistake(
        "Azure: a hierarchical namespace with versioning",
        f"{AZURE}/checkpoints.py",
        "is_hns_enabled=False",
        "is_hns_enabled=True",
        "hierarchical-namespaces-have-no-versions",
        NAME,
    ),
    Mistake(
        "Azure: a storage account that is open to its shared keys",
        f"{AZURE}/checkpoints.py",
        "allow_shared_key_access=False",
        "allow_shared_key_access=True",
        "checkpoint-buckets-are-private",
        NAME,
    ),
    Mistake(
        "Azure: a node label in a reserved domain",
        "components/spotproof/manifests/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity, "kubernetes.azure.com/team": "x"}',
        "node-labels-are-ours",
        NAME,
    ),
    Mistake(
        "Azure: a misspelt input of a resource",
        f"{AZURE}/cluster.py",
        '"workload_identity": {"enabled": True},',
        '"workload_identitty": {"enabled": True},',
        "lint",
        NAME,
    ),
)
