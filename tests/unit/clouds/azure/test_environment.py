"""A whole environment on Azure, as it would be registered with the engine."""

import json
from typing import Any

import pytest
from azure.mgmt.containerservice import models as aks

from spotproof.clouds.azure.environment import AksEnvironment
from spotproof.preview.errors import ProgramError
from spotproof.preview.model import UNKNOWN, Capture, Resource, Secret
from tests.unit.clouds.azure.seen import GROUP, assigned, classic, cluster, full, leaves
from tests.unit.clouds.programs import build, cluster_of, dig, of, only, run, waits_for
from tests.unit.settings.azure.samples import (
    ADMINS,
    CLASSIC,
    FULL,
    PROVIDER,
    RESEARCHERS,
    SMALLEST,
    SUBSCRIPTION,
    TENANT,
)


def test_nothing_lands_in_another_subscription() -> None:
    provider = only(full(), "azure-native")
    others = [
        one.urn for one in full().resources if one.type.startswith("azure-native:") and provider.urn not in one.provider
    ]

    assert dict(provider.inputs) | {"subscriptionId": SUBSCRIPTION, "tenantId": TENANT} == dict(provider.inputs)
    assert not others


def test_every_kubernetes_object_uses_the_clusters_provider() -> None:
    provider = only(full(), "kubernetes")
    inside = [one for one in full().resources if one.type.startswith("kubernetes:")]

    assert len(inside) > 20
    assert all(one.provider.startswith(provider.urn) for one in inside)


def test_nodes_are_made_by_node_auto_provisioning_without_pools_of_its_own() -> None:
    inputs = cluster(full())

    assert inputs["nodeProvisioningProfile"] == {"mode": "Auto", "defaultNodePools": "None"}
    assert "autoScalerProfile" not in inputs
    assert of(full(), "AgentPool") == []


def test_enum_values_are_those_of_azures_own_model() -> None:
    inputs, network = cluster(full()), cluster(full())["networkProfile"]

    assert inputs["nodeProvisioningProfile"]["mode"] in list(aks.NodeProvisioningMode)
    assert inputs["nodeProvisioningProfile"]["defaultNodePools"] in list(aks.NodeProvisioningDefaultNodePools)
    assert network["networkPluginMode"] in list(aks.NetworkPluginMode)
    assert network["networkDataplane"] in list(aks.NetworkDataplane)
    assert network["networkPolicy"] in list(aks.NetworkPolicy)
    assert network["outboundType"] in list(aks.OutboundType)
    for seen in (full(), classic()):
        channels = cluster(seen)["autoUpgradeProfile"]
        assert channels["upgradeChannel"] in list(aks.UpgradeChannel)
        assert channels["nodeOSUpgradeChannel"] in list(aks.NodeOSUpgradeChannel)
    for pool in of(classic(), "AgentPool"):
        assert pool.inputs["mode"] in list(aks.AgentPoolMode)
        assert pool.inputs["scaleDownMode"] in list(aks.ScaleDownMode)
        assert pool.inputs.get("scaleSetPriority", "Regular") in list(aks.ScaleSetPriority)
        assert pool.inputs.get("scaleSetEvictionPolicy", "Delete") in list(aks.ScaleSetEvictionPolicy)


def test_nobody_gets_in_without_entra_id() -> None:
    inputs = cluster(full())

    assert inputs["disableLocalAccounts"] is True
    assert inputs["aadProfile"] == {
        "managed": True,
        "enableAzureRBAC": True,
        "tenantID": TENANT,
        "adminGroupObjectIDs": [ADMINS],
    }
    assert inputs["oidcIssuerProfile"] == {"enabled": True}
    assert dig(inputs, "securityProfile", "workloadIdentity") == {"enabled": True}


def test_only_the_ranges_of_the_settings_and_the_nodes_own_address_reach_the_api_server() -> None:
    access = cluster(build(FULL, mode="known"))["apiServerAccessProfile"]

    assert access["disableRunCommand"] is True
    first, own = access["authorizedIPRanges"]
    assert first == "203.0.113.0/24"
    assert own.endswith("/32")
    assert "enablePrivateCluster" not in access


def test_without_ranges_the_cluster_is_private() -> None:
    access = cluster(build(SMALLEST))["apiServerAccessProfile"]

    assert access["enablePrivateCluster"] is True
    assert access["enablePrivateClusterPublicFQDN"] is False
    assert "authorizedIPRanges" not in access


def test_pods_have_their_own_range_and_cilium() -> None:
    network = cluster(full())["networkProfile"]

    assert (network["networkPluginMode"], network["networkDataplane"], network["networkPolicy"]) == (
        "overlay",
        "cilium",
        "cilium",
    )
    assert (network["podCidr"], network["serviceCidr"]) == ("10.192.0.0/10", "172.20.0.0/16")


def test_the_system_pool_is_on_demand_and_takes_no_jobs() -> None:
    (pool,) = cluster(full())["agentPoolProfiles"]

    assert (pool["mode"], pool["count"], pool["enableAutoScaling"]) == ("System", 2, False)
    assert "scaleSetPriority" not in pool
    assert pool["nodeTaints"] == ["CriticalAddonsOnly=true:NoSchedule"]
    assert pool["nodeLabels"] == {"spotproof.dev/system": "true"}
    assert pool["availabilityZones"] == ["1", "2", "3"]


def test_whoever_runs_up_is_an_administrator_before_the_cluster_is_there() -> None:
    (role,) = assigned(full(), "cluster administrator")
    managed = only(full(), "ManagedCluster")

    assert role.inputs["scope"] == GROUP
    assert role.inputs["principalId"] == UNKNOWN
    # a person or a pipeline's service principal: Azure looks it up
    assert "principalType" not in role.inputs
    assert role.delete_before_replace
    assert waits_for(full(), managed, role)
    assert waits_for(full(), only(full(), "kubernetes"), role)


def test_the_clusters_identity_may_use_the_nodes_subnet_and_no_more_of_the_network_before_the_first_pool() -> None:
    (role,) = assigned(full(), "network contributor")

    assert role.inputs["scope"] == f"{GROUP}/providers/Microsoft.Network/virtualNetworks/spotproof-dev/subnets/nodes"
    assert waits_for(full(), only(full(), "ManagedCluster"), role)
    for pool in of(full(), "NodePool"):
        assert waits_for(full(), pool, role)


def test_groups_may_fetch_the_kubeconfig_each_once() -> None:
    roles = assigned(full(), "cluster user")

    assert {one.inputs["principalId"] for one in roles} == {ADMINS, RESEARCHERS}
    assert {one.inputs["scope"] for one in roles} == {only(full(), "kubernetes").inputs["clusterIdentifier"]}
    assert {one.inputs["principalType"] for one in roles} == {"Group"}


def test_the_cloud_is_asked_who_runs_it_and_how_to_reach_the_cluster_and_nothing_else() -> None:
    # at a first preview there is no cluster to be asked about
    assert full().invokes == ("azure-native:authorization:getClientConfig",)
    assert sorted(build(FULL, mode="known").invokes) == [
        "azure-native:authorization:getClientConfig",
        "azure-native:containerservice:listManagedClusterUserCredentials",
    ]


def test_the_kubeconfig_is_secret_and_the_identifier_known() -> None:
    provider = only(full(), "kubernetes")

    assert isinstance(provider.inputs["kubeconfig"], Secret)
    assert provider.inputs["clusterIdentifier"] == (
        f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/spotproof-dev"
    )


def test_names_scopes_and_ids_are_known_at_the_first_preview() -> None:
    late = {
        f"{one.type.rpartition(':')[2]}.{key}"
        for one in full().resources
        if one.type.startswith("azure-native:")
        for key, value in one.inputs.items()
        if UNKNOWN in leaves(value)
    }

    # ids that Azure draws, the address of the way out, and what signs tokens
    assert late == {
        "RoleAssignment.principalId",
        "NatGateway.publicIpAddresses",
        "Subnet.natGateway",
        "ManagedCluster.apiServerAccessProfile",
        "FederatedIdentityCredential.issuer",
    }
    inside = [one for one in full().resources if one.type.startswith("kubernetes:karpenter")]
    assert inside
    assert UNKNOWN not in [leaf for one in inside for leaf in leaves(one.inputs)]


def test_a_pool_is_a_class_and_a_node_pool_with_labels_and_one_taint_written_by_us() -> None:
    pools = {dig(one.inputs, "metadata", "name"): dig(one.inputs, "spec", "template") for one in of(full(), "NodePool")}

    assert pools["a100-spot"]["metadata"]["labels"] == {
        "spotproof.dev/pool": "a100-spot",
        "spotproof.dev/capacity": "spot",
    }
    assert pools["a100-spot"]["spec"]["taints"] == [
        {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
    ]
    assert "taints" not in pools["cpu"]["spec"]
    requirements = {one["key"]: one["values"] for one in pools["a100-spot"]["spec"]["requirements"]}
    assert requirements["topology.kubernetes.io/zone"] == ["eastus-1"]
    assert requirements["node.kubernetes.io/instance-type"] == ["Standard_ND96asr_v4"]


def test_in_a_region_without_zones_nothing_names_one() -> None:
    seen = build({**SMALLEST, "provider": {**PROVIDER, "location": "westus"}})

    (system,) = cluster(seen)["agentPoolProfiles"]
    assert "availabilityZones" not in system
    assert "topology.kubernetes.io/zone" not in json.dumps([one.inputs for one in of(seen, "NodePool")])
    assert dig(only(seen, "StorageAccount").inputs, "sku", "name") == "Standard_LRS"


def test_pools_go_before_their_class_the_class_before_the_cluster_the_cluster_before_network_and_group() -> None:
    seen = full()
    managed = only(seen, "ManagedCluster")

    for pool in of(seen, "NodePool"):
        (node_class,) = (one for one in of(seen, "AKSNodeClass") if one.parent == pool.parent)
        assert waits_for(seen, pool, node_class)
        assert waits_for(seen, node_class, managed)
        assert node_class.custom_timeouts["delete"] == pool.custom_timeouts["delete"] == "45m"
    for kind in ("Subnet", "NatGateway", "PublicIPAddress", "VirtualNetwork", "ResourceGroup", "Workspace"):
        assert any(waits_for(seen, managed, one) for one in of(seen, kind)), kind
    for one in seen.resources:
        if one.type.startswith("azure-native:") and "ResourceGroup" not in one.type:
            assert waits_for(seen, one, only(seen, "ResourceGroup")), one.urn


def test_what_holds_data_is_protected_with_the_group_that_it_would_go_with() -> None:
    assert {one.type.rpartition(":")[2] for one in full().resources if one.protect} == {
        "BlobContainer",
        "ManagedCluster",
        "ResourceGroup",
        "StorageAccount",
    }


@pytest.mark.parametrize(
    ("cluster_", "checkpoints", "protected"),
    [
        (True, False, {"ManagedCluster", "ResourceGroup"}),
        (False, True, {"StorageAccount", "BlobContainer", "ResourceGroup"}),
        (False, False, set[str]()),
    ],
)
def test_the_group_is_protected_as_long_as_anything_in_it_is(
    cluster_: bool,  # noqa: FBT001
    checkpoints: bool,  # noqa: FBT001
    protected: set[str],
) -> None:
    seen = build(
        {
            **FULL,
            "controlPlane": {"deletionProtection": cluster_},
            "checkpoints": {"protect": checkpoints},
        }
    )

    assert {one.type.rpartition(":")[2] for one in seen.resources if one.protect} == protected


def _log_workspace(seen: Capture) -> Resource:
    (found,) = (one for one in of(seen, "Workspace") if one.type.startswith("azure-native:"))
    return found


def test_logs_end_and_reach_the_workspace_by_a_rule() -> None:
    seen = full()
    workspace, rule = _log_workspace(seen), only(seen, "DataCollectionRule")
    workspace_id = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/{workspace.inputs['workspaceName']}"

    assert workspace.inputs["retentionInDays"] == 90
    assert dig(rule.inputs, "destinations", "logAnalytics", 0, "workspaceResourceId") == workspace_id
    assert "Microsoft-ContainerLogV2" in dig(rule.inputs, "dataFlows", 0, "streams")
    assert only(seen, "DataCollectionRuleAssociation").inputs["associationName"] == "ContainerInsightsExtension"
    addon = dig(cluster(seen), "addonProfiles", "omsagent")
    assert addon == {
        "enabled": True,
        "config": {"logAnalyticsWorkspaceResourceID": workspace_id, "useAADAuth": "true"},
    }
    categories = {one["category"] for one in dig(only(seen, "DiagnosticSetting").inputs, "logs")}
    assert {"kube-audit-admin", "guard"} <= categories


def test_the_cluster_that_is_handed_over_places_jobs_on_both_kinds_of_pool_alike() -> None:
    seen: list[Any] = []
    for raw in (FULL, CLASSIC):
        cluster_of(raw, lambda made: seen.append((dict(made.pools), made.system_scheduling, made.checkpoints)))

    assert seen[0] == seen[1]
    pools, system, store = seen[0]
    assert pools["a100-spot"].node_selector == {"spotproof.dev/pool": "a100-spot"}
    assert [one["key"] for one in pools["a100-spot"].tolerations] == [
        "kubernetes.azure.com/scalesetpriority",
        "nvidia.com/gpu",
    ]
    assert pools["a100-spot"].price.usd_per_hour == pytest.approx(27.197 * 0.35)
    assert system.node_selector == {"spotproof.dev/system": "true"}
    assert store.pod_labels == {"azure.workload.identity/use": "true"}


def test_tags_are_on_everything_that_takes_them() -> None:
    assert _log_workspace(full()).inputs["tags"] == {"team": "research"}
    kinds = ("ResourceGroup", "ManagedCluster", "VirtualNetwork", "NatGateway", "StorageAccount")

    for kind in (*kinds, "UserAssignedIdentity", "DataCollectionRule", "PublicIPAddress"):
        assert all(one.inputs["tags"] == {"team": "research"} for one in of(full(), kind)), kind
    for node_class in of(full(), "AKSNodeClass"):
        assert dig(node_class.inputs, "spec", "tags") == {"team": "research"}
    assert {dig(cluster(full()), "agentPoolProfiles", 0, "tags", "team")} == {"research"}


def test_settings_as_a_mapping_are_checked() -> None:
    with pytest.raises(ProgramError, match=r"provider\.location"):
        run(lambda: AksEnvironment("dev", {"environment": {"provider": {**PROVIDER, "location": "nowhere"}}}))
