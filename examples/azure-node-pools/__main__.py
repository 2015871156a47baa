"""Spot and on-demand GPU pools, and a container for their checkpoints, on an AKS cluster that is there."""

import pulumi
import pulumi_azure_native as azure
import pulumi_kubernetes as k8s

from spotproof.clouds.azure import (
    CheckpointContainers,
    NodePoolArgs,
    OnDemandNodePool,
    SpotNodePool,
    WorkspaceIdentity,
)

config = pulumi.Config()
subscription, location = config.require("subscriptionId"), config.require("location")
group, cluster = config.require("resourceGroup"), config.require("clusterName")

cloud = azure.Provider(
    "subscription", subscription_id=subscription, tenant_id=config.require("tenantId"), location=location
)
inside = k8s.Provider(
    "cluster",
    context=config.require("kubeContext"),
    cluster_identifier=f"/subscriptions/{subscription}/resourceGroups/{group}"
    f"/providers/Microsoft.ContainerService/managedClusters/{cluster}",
)


def t4(name: str) -> NodePoolArgs:
    """A pool of T4 nodes in your own subnet."""
    return {
        "pool_name": name,
        "instance_types": ["Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3"],
        "max_nodes": 8,
        "zones": [f"{location}-1", f"{location}-2"],
        "subnet_id": config.require("subnetId"),
    }


placed = pulumi.ResourceOptions(providers=[inside])
SpotNodePool("t4-spot", t4("t4-spot"), placed)
OnDemandNodePool("t4", t4("t4"), placed)

checkpoints = CheckpointContainers(
    "checkpoints",
    {
        "account_name": config.require("storageAccount"),
        "resource_group_name": group,
        "location": location,
        "containers": ["training"],
        "retain_days": 14,
    },
    pulumi.ResourceOptions(providers=[cloud]),
)
trainer = WorkspaceIdentity(
    "trainer",
    {
        "cluster_name": cluster,
        "subscription_id": subscription,
        "location": location,
        "resource_group_name": group,
        "oidc_issuer_url": config.require("oidcIssuerUrl"),
        "namespace": "training",
        "service_accounts": ["trainer"],
        "account_name": checkpoints.account_name,
        "container_name": "training",
    },
    pulumi.ResourceOptions(providers=[cloud], depends_on=[checkpoints]),
)

pulumi.export("checkpoints", f"abfss://training@{checkpoints.account_name}.dfs.core.windows.net/")
pulumi.export("clientId", trainer.client_id)
