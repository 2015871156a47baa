"""Spot and on-demand GPU node pools, and a bucket for their checkpoints, on a GKE cluster you already have."""

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp import CheckpointBucket, NodePoolArgs, OnDemandNodePool, SpotNodePool

config = pulumi.Config()
project, region, cluster = config.require("project"), config.require("region"), config.require("clusterName")

cloud = pulumi.ResourceOptions(providers=[gcp.Provider("project", project=project, region=region)])


def t4(name: str) -> NodePoolArgs:
    """A pool of T4 nodes, as your own account for nodes admits them."""
    return {
        "pool_name": name,
        "cluster_name": cluster,
        "region": region,
        "machine_type": "n1-standard-8",
        "accelerator_type": "nvidia-t4",
        "accelerator_count": 1,
        "max_nodes": 8,
        "zones": config.require_object("zones"),
        "service_account": config.require("nodeServiceAccount"),
    }


SpotNodePool("t4-spot", t4("t4-spot"), cloud)
OnDemandNodePool("t4", t4("t4"), cloud)

bucket = CheckpointBucket(
    "checkpoints",
    {"bucket_name": f"{cluster}-checkpoints-{project}-{region}", "region": region, "retain_days": 14},
    cloud,
)

pulumi.export("checkpoints", bucket.uri)
