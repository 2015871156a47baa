"""Mistakes on GCP (cloud facts, section E 9 and 10), planted in our program or beside it."""

from typing import Final

from tests.stacks.planting import Mistake, beside

NAME: Final = "gcp-dev"
STACK: Final = f"stacks/Pulumi.{NAME}.yaml"
GCP: Final = "components/spotproof/clouds/gcp"

COMPUTE_CLASS: Final = """
import pulumi_kubernetes as k8s

k8s.apiextensions.CustomResource(
    "trainers", api_version="cloud.google.com/v1", kind="ComputeClass", metadata={"name": "trainers"},
    spec={"priorities": [{"machineFamily": "g2", "spot": True}], "whenUnsatisfiable": "DoNotScaleUp"},
    opts=pulumi.ResourceOptions(provider=cluster.kubernetes_provider, depends_on=list(cluster.ready)),
)
"""
JOB_SET: Final = """
import pulumi_kubernetes as k8s

pods = {"nodeSelector": %s, "containers": []}
k8s.apiextensions.CustomResource(
    "train", api_version="jobset.x-k8s.io/v1alpha2", kind="JobSet", metadata={"name": "train"},
    spec={"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": pods}}}}]},
    opts=pulumi.ResourceOptions(provider=cluster.kubernetes_provider),
)
"""

MISTAKES: Final = (
    Mistake(
        "GCP: relying on a spot taint that GKE adds to its own pools only",
        f"{GCP}/placing.py",
        "spot = [dict(GKE_SPOT_TAINT)] if pool.is_spot else []",
        "spot = list[Taint]()",
        "spot-pools-are-tainted",
        NAME,
    ),
    Mistake(
        "GCP: deletion protection left to the provider, which destroy then runs into",
        f"{GCP}/cluster.py",
        "            deletion_protection=protect,\n",
        "",
        "gke-deletion-protection-is-said",
        NAME,
    ),
    beside(
        "GCP: a ComputeClass applied before GKE has its definition",
        COMPUTE_CLASS,
        "compute-classes-wait-for-their-crd",
        NAME,
    ),
    beside(
        "GCP: a spot selector beside a compute class",
        JOB_SET % '{"cloud.google.com/compute-class": "trainers", "cloud.google.com/gke-spot": "true"}',
        "compute-class-selectors-stand-alone",
        NAME,
    ),
    beside(
        "GCP: a spot selector that is a boolean",
        JOB_SET % '{"cloud.google.com/gke-spot": True}',
        "labels-are-text",
        NAME,
    ),
    Mistake(
        "GCP: a hierarchical namespace with versioning",
        f"{GCP}/checkpoints.py",
        'hierarchical_namespace=None if versioning else {"enabled": True}',
        'hierarchical_namespace={"enabled": True}',
        "hierarchical-namespaces-have-no-versions",
        NAME,
    ),
    Mistake(
        "GCP: soft delete left to Cloud Storage, which bills every overwritten checkpoint for a week",
        f"{GCP}/checkpoints.py",
        '            soft_delete_policy={"retention_duration_seconds": 0},\n',
        "",
        "soft-delete-is-chosen",
        NAME,
    ),
    Mistake(
        "GCP: a lifecycle rule that deletes current checkpoints",
        f"{GCP}/checkpoints.py",
        '"condition": {"days_since_noncurrent_time": days, "with_state": "ARCHIVED"}',
        '"condition": {"age": days}',
        "live-checkpoints-are-kept",
        NAME,
    ),
    Mistake(
        "GCP: preemptible machines, which end after a day",
        f"{GCP}/pools.py",
        '"spot": pool.is_spot,',
        '"preemptible": pool.is_spot,',
        "training-pools-are-left-alone",
        NAME,
    ),
    Mistake(
        "GCP: upgrades of the release channel on Google's day",
        f"{GCP}/cluster.py",
        '"maintenance_policy": MAINTENANCE,',
        "",
        "node-upgrades-are-held-back",
        NAME,
    ),
    Mistake(
        "GCP: a node label in a reserved domain",
        "components/spotproof/manifests/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity, "cloud.google.com/team": "x"}',
        "node-labels-are-ours",
        NAME,
    ),
    Mistake(
        "GCP: a capacity label that is a boolean",
        "components/spotproof/manifests/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity == "spot"}',
        "labels-are-text",
        NAME,
    ),
    Mistake(
        "GCP: a spot price cap, which nothing there keeps",
        STACK,
        "maxNodes: 4}",
        "maxNodes: 4, spotMaxPrice: 0.2}",
        "settings",
        NAME,
    ),
    Mistake(
        "GCP: a misspelt input of a resource",
        f"{GCP}/pools.py",
        '"total_max_node_count": pool.max_nodes',
        '"totel_max_node_count": pool.max_nodes',
        "lint",
        NAME,
    ),
)
