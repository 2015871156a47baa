"""Programs of GCP and Azure as other people write them: a right one has no finding, a wrong input is named."""

import json
from collections.abc import Callable
from typing import Any

import pulumi_azure_native as azure
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s
import pytest

from spotproof.preview import Finding, capture, lint_inputs
from spotproof.preview.model import MODES, Mode


def found(program: Callable[[], object], mode: Mode = "unknown") -> list[tuple[str, str, str]]:
    def run() -> None:
        program()

    findings: list[Finding] = lint_inputs(capture(run, mode=mode))
    return [(finding.path, finding.message, finding.severity) for finding in findings]


def gke() -> None:
    gcp.Provider("gcp", project="example-project", region="us-central1", default_labels={"team": "a"})
    network = gcp.compute.Network("net", auto_create_subnetworks=False)
    subnet = gcp.compute.Subnetwork(
        "sub",
        network=network.id,
        ip_cidr_range="10.0.0.0/20",
        region="us-central1",
        secondary_ip_ranges=[{"range_name": "pods", "ip_cidr_range": "10.1.0.0/16"}],
    )
    account = gcp.serviceaccount.Account("nodes", account_id="nodes")
    gcp.projects.IAMMember("m", project="p", role="roles/container.defaultNodeServiceAccount", member=account.member)
    cluster = gcp.container.Cluster(
        "gke",
        location="us-central1",
        network=network.id,
        subnetwork=subnet.id,
        remove_default_node_pool=True,
        initial_node_count=1,
        deletion_protection=False,
        release_channel={"channel": "REGULAR"},
        workload_identity_config={"workload_pool": "example-project.svc.id.goog"},
        ip_allocation_policy={"cluster_secondary_range_name": "pods"},
        private_cluster_config=gcp.container.ClusterPrivateClusterConfigArgs(enable_private_nodes=True),
    )
    gcp.container.NodePool(
        "spot",
        cluster=cluster.name,
        location=cluster.location,
        autoscaling={"total_min_node_count": 0, "total_max_node_count": 8, "location_policy": "ANY"},
        node_config={
            "spot": True,
            "machine_type": "a2-highgpu-1g",
            "disk_size_gb": 200,
            "labels": {"a": "b"},
            "taints": [{"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}],
            "guest_accelerators": [{"type": "nvidia-tesla-a100", "count": 1}],
            "service_account": account.email,
            "workload_metadata_config": {"mode": "GKE_METADATA"},
        },
    )
    bucket = gcp.storage.Bucket(
        "ckpt",
        location="US-CENTRAL1",
        uniform_bucket_level_access=True,
        soft_delete_policy={"retention_duration_seconds": 0},
        versioning={"enabled": True},
        lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"days_since_noncurrent_time": 30}}],
    )
    gcp.storage.BucketIAMMember("w", bucket=bucket.name, role="roles/storage.objectUser", member=account.member)


def test_azure_native_converts_nothing() -> None:
    def program() -> None:
        azure.storage.StorageAccount(
            "a",
            resource_group_name="ml",
            kind="StorageV2",
            sku={"name": "Standard_LRS"},
            allow_blob_public_access="false",  # pyright: ignore[reportArgumentType]
        )

    assert found(program) == [("allowBlobPublicAccess", 'must be true or false, got text: "false"', "error")]


def aks() -> None:
    group = azure.resources.ResourceGroup("rg", resource_group_name="ml", location="westus2")
    identity = azure.managedidentity.UserAssignedIdentity("id", resource_group_name=group.name, resource_name_="train")
    network = azure.network.VirtualNetwork(
        "net", resource_group_name=group.name, address_space={"address_prefixes": ["10.0.0.0/16"]}
    )
    subnet = azure.network.Subnet(
        "sub", resource_group_name=group.name, virtual_network_name=network.name, address_prefix="10.0.0.0/18"
    )
    cluster = azure.containerservice.ManagedCluster(
        "aks",
        resource_group_name=group.name,
        dns_prefix="ml",
        identity={
            "type": azure.containerservice.ResourceIdentityType.USER_ASSIGNED,
            "user_assigned_identities": [identity.id],
        },
        agent_pool_profiles=[
            {"name": "system", "mode": "System", "count": 2, "vm_size": "Standard_D4ds_v5", "vnet_subnet_id": subnet.id}
        ],
        network_profile={"network_plugin": "azure", "network_plugin_mode": "overlay", "network_dataplane": "cilium"},
        oidc_issuer_profile={"enabled": True},
        security_profile={"workload_identity": {"enabled": True}},
        node_provisioning_profile={"mode": "Manual"},
        sku={"name": "Base", "tier": "Standard"},
    )
    azure.containerservice.AgentPool(
        "spot",
        resource_group_name=group.name,
        resource_name_=cluster.name,
        agent_pool_name="spot",
        mode="User",
        vm_size="Standard_NC24ads_A100_v4",
        scale_set_priority="Spot",
        scale_set_eviction_policy=azure.containerservice.ScaleSetEvictionPolicy.DELETE,
        spot_max_price=-1,
        enable_auto_scaling=True,
        min_count=0,
        max_count=4,
        os_disk_size_gb=200,
        node_labels={"a": "b"},
        node_taints=["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"],
        gpu_profile={"driver": "Install"},
    )
    azure.managedidentity.FederatedIdentityCredential(
        "fed",
        resource_group_name=group.name,
        resource_name_=identity.name,
        issuer=cluster.oidc_issuer_profile.apply(lambda profile: profile.issuer_url if profile else ""),
        subject="system:serviceaccount:a:b",
        audiences=["api://AzureADTokenExchange"],
    )
    account = azure.storage.StorageAccount(
        "acc",
        account_name="mlcheckpoints",
        resource_group_name=group.name,
        kind="StorageV2",
        sku={"name": "Standard_LRS"},
        minimum_tls_version="TLS1_2",
        allow_shared_key_access=False,
    )
    azure.storage.BlobContainer(
        "c", account_name=account.name, resource_group_name=group.name, public_access=azure.storage.PublicAccess.NONE
    )
    azure.authorization.RoleAssignment(
        "role",
        scope=account.id,
        principal_id=identity.principal_id,
        principal_type="ServicePrincipal",
        role_definition_id="/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r",
    )
    # What a kubeconfig is cut out of has to have the form the cloud gives it.
    k8s.Provider("k", kubeconfig=account.id.apply(lambda path: json.dumps({"subscription": path.split("/")[2]})))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", [gke, aks])
def test_a_correct_program_has_no_findings(program: Callable[[], object], mode: Mode) -> None:
    assert found(program, mode) == []


def node_pool(**config: Any) -> gcp.container.NodePool:
    return gcp.container.NodePool("p", cluster="c", node_config=config)  # pyright: ignore[reportArgumentType]


def agent_pool(**changes: Any) -> azure.containerservice.AgentPool:
    right = {"resource_group_name": "g", "resource_name_": "c"}
    return azure.containerservice.AgentPool("p", **{**right, **changes})  # pyright: ignore[reportArgumentType, reportCallIssue]


def cluster(**changes: Any) -> azure.containerservice.ManagedCluster:
    return azure.containerservice.ManagedCluster("c", resource_group_name="g", **changes)


@pytest.mark.parametrize(
    ("program", "path", "part"),
    [
        (lambda: node_pool(machine_tipe="a"), "nodeConfig.machine_tipe", "did you mean 'machine_type'?"),
        (lambda: node_pool(disk_size_gb="large"), "nodeConfig.diskSizeGb", "must be a whole number"),
        (lambda: node_pool(labels="a"), "nodeConfig.labels", "must be a map, got text"),
        (lambda: node_pool(taints=[{"key": "a"}]), "nodeConfig.taints[0].effect", "is missing"),
        (lambda: node_pool(guest_accelerators={"type": "a"}), "nodeConfig.guestAccelerators", "must be a list"),
        (
            lambda: node_pool(workload_metadata_config={"mood": "x"}),
            "nodeConfig.workloadMetadataConfig.mode",
            "missing",
        ),
        (lambda: agent_pool(max_count="four"), "maxCount", "must be a whole number"),
        (lambda: agent_pool(enable_auto_scaling="maybe"), "enableAutoScaling", "must be true or false"),
        (lambda: agent_pool(node_taints="a=b:NoSchedule"), "nodeTaints", "must be a list"),
        (lambda: agent_pool(scale_set_priority="Spott"), "scaleSetPriority", "did you mean 'Spot'?"),
        (lambda: agent_pool(gpu_profile={"drivers": "None"}), "gpuProfile.drivers", "did you mean 'driver'?"),
        (
            lambda: cluster(node_provisioning_profile={"mode": "auto"}),
            "nodeProvisioningProfile.mode",
            "did you mean 'Auto'?",
        ),
        (
            lambda: cluster(agent_pool_profiles=[{"name": "a", "scale_set_priority": "spot"}]),
            "agentPoolProfiles[0].scaleSetPriority",
            "did you mean 'Spot'?",
        ),
        (lambda: cluster(sku={"name": "Base", "tear": "Free"}), "sku.tear", "did you mean 'tier'?"),
        (
            lambda: azure.storage.StorageAccount(
                "a",
                resource_group_name="g",
                kind="StorageV2",
                sku={"name": "Standard_LRS"},
                minimum_tls_version="TLS1.2",
            ),
            "minimumTlsVersion",
            "did you mean 'TLS1_2'?",
        ),
        (
            lambda: gcp.storage.Bucket("b", location="US", versioning={"enable": True}),  # pyright: ignore[reportArgumentType, reportCallIssue]
            "versioning.enable",
            "did you mean 'enabled'?",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_input_is_named(program: Callable[[], object], path: str, part: str) -> None:
    faults = {where: message for where, message, _ in found(program)}
    assert part in faults.get(path, f"nothing at {path}, but {faults}")
