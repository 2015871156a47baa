"""Spot and on-demand GPU pools, and a bucket for their checkpoints, on a cluster that already runs Karpenter."""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from spotproof.clouds.aws import (
    CheckpointBucket,
    NodePoolArgs,
    OnDemandNodePool,
    SpotNodePool,
    SpotServiceLinkedRole,
    WorkspaceIdentity,
)

config = pulumi.Config()
account, region, cluster = config.require("accountId"), config.require("region"), config.require("clusterName")

cloud = aws.Provider("account", region=region, allowed_account_ids=[account])
inside = k8s.Provider(
    "cluster",
    context=config.require("kubeContext"),
    cluster_identifier=f"arn:aws:eks:{region}:{account}:cluster/{cluster}",
)

role = SpotServiceLinkedRole(
    "spot", {"mode": "existing", "account_id": account, "region": region}, pulumi.ResourceOptions(providers=[cloud])
)


def t4(name: str) -> NodePoolArgs:
    """A pool of T4 nodes that your own tags place and your own role admits."""
    return {
        "pool_name": name,
        "instance_types": ["g4dn.xlarge", "g4dn.2xlarge"],
        "max_nodes": 8,
        "zones": config.require_object("zones"),
        "node_role_name": config.require("nodeRoleName"),
        "subnet_terms": [{"tags": {"karpenter.sh/discovery": cluster}}],
        "security_group_terms": [{"tags": {"karpenter.sh/discovery": cluster}}],
        "ami_alias": "al2023@v20260903",
    }


placed = pulumi.ResourceOptions(providers=[inside], depends_on=[role])
SpotNodePool("t4-spot", t4("t4-spot"), placed)
OnDemandNodePool("t4", t4("t4"), placed)

bucket = CheckpointBucket(
    "checkpoints",
    {"bucket_name": f"{cluster}-checkpoints-{account}-{region}", "region": region, "retain_days": 14},
    pulumi.ResourceOptions(providers=[cloud]),
)
WorkspaceIdentity(
    "trainer",
    {
        "cluster_name": cluster,
        "account_id": account,
        "region": region,
        "namespace": "training",
        "service_account": "trainer",
        "bucket_name": bucket.bucket_name,
    },
    pulumi.ResourceOptions(providers=[cloud]),
)

pulumi.export("checkpoints", f"{bucket.uri}/training/")
