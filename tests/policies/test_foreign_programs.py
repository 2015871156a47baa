"""Ordinary programs of other people, whole, through every policy: nothing is refused that works."""

from collections.abc import Callable

import pulumi_azure_native as azure
import pulumi_gcp as gcp
import pytest
from pulumi import ResourceOptions

from spotproof.preview.model import MODES, NOTE, Mode
from spotproof.preview.policy_run import run_policies
from spotproof.preview.run import capture


def autopilot() -> None:
    gcp.container.Cluster("auto", location="us-central1", enable_autopilot=True, deletion_protection=False)


def gke_for_services() -> None:
    cluster = gcp.container.Cluster(
        "web",
        location="us-central1-a",
        initial_node_count=1,
        remove_default_node_pool=True,
        node_config={"spot": True},
        deletion_protection=True,
        cluster_autoscaling={"enabled": False, "autoscaling_profile": "OPTIMIZE_UTILIZATION"},
    )
    gcp.container.NodePool(
        "web",
        cluster=cluster.name,
        autoscaling={"min_node_count": 1, "max_node_count": 5},
        node_config={"machine_type": "e2-standard-4", "disk_size_gb": 20, "labels": {"app": "web"}},
        management={"auto_upgrade": True, "auto_repair": True},
    )
    gcp.container.NodePool(
        "class",
        cluster=cluster.name,
        node_count=0,
        node_config={
            "labels": {"cloud.google.com/compute-class": "gpu"},
            "taints": [{"key": "cloud.google.com/compute-class", "value": "gpu", "effect": "NO_SCHEDULE"}],
            "guest_accelerators": [{"type": "nvidia-tesla-t4", "count": 1}],
        },
    )
    gcp.storage.Bucket("site", location="US", website={"main_page_suffix": "index.html"}, force_destroy=True)


def aks_for_services() -> None:
    group = azure.resources.ResourceGroup("rg")
    identity = azure.managedidentity.UserAssignedIdentity("id", resource_group_name=group.name)
    cluster = azure.containerservice.ManagedCluster(
        "web",
        resource_group_name=group.name,
        dns_prefix="web",
        auto_upgrade_profile={"upgrade_channel": "patch", "node_os_upgrade_channel": "NodeImage"},
        agent_pool_profiles=[
            {"name": "system", "mode": "System", "enable_auto_scaling": True, "min_count": 1, "max_count": 3},
            {"name": "web", "mode": "User", "count": 0, "node_labels": {"app": "web"}, "os_disk_size_gb": 30},
        ],
    )
    azure.containerservice.AgentPool(
        "gpu",
        resource_group_name=group.name,
        resource_name_=cluster.name,
        agent_pool_name="gpu",
        vm_size="Standard_NC4as_T4_v3",
        count=1,
        node_taints=["sku=gpu:NoSchedule"],
    )
    azure.managedidentity.FederatedIdentityCredential(
        "fed",
        resource_group_name=group.name,
        resource_name_=identity.name,
        issuer="https://x",
        subject="s",
        audiences=["a"],
    )
    azure.authorization.RoleAssignment(
        "acr",
        scope=group.id,
        principal_id=identity.principal_id,
        principal_type="ServicePrincipal",
        role_definition_id="/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c",
    )
    azure.storage.StorageAccount(
        "site",
        resource_group_name=group.name,
        kind="StorageV2",
        sku={"name": "Standard_LRS"},
        is_hns_enabled=True,
        opts=ResourceOptions(depends_on=[cluster]),
    )


def our_labels_and_the_taint_of_aks() -> None:
    """A classic spot pool, which AKS taints and labels by itself."""
    azure.containerservice.AgentPool(
        "spot",
        resource_group_name="g",
        resource_name_="c",
        agent_pool_name="spot",
        scale_set_priority="Spot",
        spot_max_price=-1,
        enable_auto_scaling=True,
        min_count=0,
        max_count=4,
        node_labels={"spotproof.dev/pool": "cpu", "spotproof.dev/capacity": "spot"},
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", [autopilot, gke_for_services, aks_for_services, our_labels_and_the_taint_of_aks])
def test_nothing_is_refused_that_works(program: Callable[[], None], mode: Mode) -> None:
    found = run_policies(capture(program, mode=mode).resources, project="p", stack="s")

    assert [(one.policy, one.message) for one in found if one.level != NOTE] == []
