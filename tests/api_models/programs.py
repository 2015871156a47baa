"""Small programs for clouds that have no stack yet: the resource types and arguments an environment is made of."""

from collections.abc import Mapping
from typing import Final

import pulumi_azure_native as azure
import pulumi_gcp as gcp

from spotproof.preview.run import Program

_SPOT_TAINT: Final[gcp.container.NodePoolNodeConfigTaintArgsDict] = {
    "key": "cloud.google.com/gke-spot",
    "value": "true",
    "effect": "NO_SCHEDULE",
}


def on_gcp() -> None:
    """Network, cluster, spot pool, bucket and identities, as docs of GKE put them together."""
    network = gcp.compute.Network("network", name="training", auto_create_subnetworks=False)
    subnetwork = gcp.compute.Subnetwork(
        "subnetwork",
        name="training",
        region="us-central1",
        network=network.id,
        ip_cidr_range="10.0.0.0/20",
        private_ip_google_access=True,
        secondary_ip_ranges=[{"range_name": "pods", "ip_cidr_range": "10.4.0.0/14"}],
    )
    router = gcp.compute.Router("router", name="training", region="us-central1", network=network.id)
    gcp.compute.RouterNat(
        "nat",
        name="training",
        router=router.name,
        region="us-central1",
        nat_ip_allocate_option="AUTO_ONLY",
        source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
        log_config={"enable": True, "filter": "ERRORS_ONLY"},
    )
    account = gcp.serviceaccount.Account("nodes", account_id="training-nodes", display_name="Nodes of training")
    gcp.projects.IAMMember(
        "nodes-role", project="ml-training", role="roles/container.defaultNodeServiceAccount", member=account.member
    )
    cluster = gcp.container.Cluster(
        "cluster",
        name="training",
        location="us-central1",
        network=network.id,
        subnetwork=subnetwork.id,
        remove_default_node_pool=True,
        initial_node_count=1,
        deletion_protection=True,
        release_channel={"channel": "REGULAR"},
        datapath_provider="ADVANCED_DATAPATH",
        networking_mode="VPC_NATIVE",
        ip_allocation_policy={"cluster_secondary_range_name": "pods"},
        private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": True},
        workload_identity_config={"workload_pool": "ml-training.svc.id.goog"},
        addons_config={"gcs_fuse_csi_driver_config": {"enabled": True}},
        logging_config={"enable_components": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
        resource_labels={"environment": "dev"},
    )
    gcp.container.NodePool(
        "spot",
        name="spot",
        cluster=cluster.id,
        location="us-central1",
        node_locations=["us-central1-a"],
        initial_node_count=0,
        autoscaling={"total_min_node_count": 0, "total_max_node_count": 8, "location_policy": "ANY"},
        management={"auto_repair": True, "auto_upgrade": True},
        node_config={
            "spot": True,
            "machine_type": "g2-standard-8",
            "disk_size_gb": 200,
            "disk_type": "pd-balanced",
            "labels": {"spotproof.dev/pool": "spot"},
            "taints": [_SPOT_TAINT],
            "guest_accelerators": [
                {"type": "nvidia-l4", "count": 1, "gpu_driver_installation_config": {"gpu_driver_version": "LATEST"}}
            ],
            "workload_metadata_config": {"mode": "GKE_METADATA"},
            "service_account": account.email,
            "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
            "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
        },
    )
    bucket = gcp.storage.Bucket(
        "checkpoints",
        name="training-checkpoints",
        location="US-CENTRAL1",
        force_destroy=False,
        uniform_bucket_level_access=True,
        public_access_prevention="enforced",
        versioning={"enabled": True},
        soft_delete_policy={"retention_duration_seconds": 0},
        lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"num_newer_versions": 3}}],
    )
    gcp.storage.BucketIAMMember(
        "writer", bucket=bucket.name, role="roles/storage.objectUser", member="principal://iam.googleapis.com/a/b"
    )


def on_azure() -> None:
    """Network, cluster, spot pool, storage and identities, as docs of AKS put them together."""
    group = azure.resources.ResourceGroup("group", resource_group_name="training", location="westeurope")
    network = azure.network.VirtualNetwork(
        "network",
        resource_group_name=group.name,
        virtual_network_name="training",
        location="westeurope",
        address_space={"address_prefixes": ["10.0.0.0/16"]},
    )
    subnet = azure.network.Subnet(
        "subnet",
        resource_group_name=group.name,
        virtual_network_name=network.name,
        subnet_name="nodes",
        address_prefix="10.0.0.0/20",
        service_endpoints=[{"service": "Microsoft.Storage"}],
    )
    identity = azure.managedidentity.UserAssignedIdentity(
        "identity", resource_group_name=group.name, resource_name_="training", location="westeurope"
    )
    cluster = azure.containerservice.ManagedCluster(
        "cluster",
        resource_group_name=group.name,
        resource_name_="training",
        location="westeurope",
        dns_prefix="training",
        enable_rbac=True,
        sku={"name": "Base", "tier": "Standard"},
        identity={
            "type": azure.containerservice.ResourceIdentityType.USER_ASSIGNED,
            "user_assigned_identities": [identity.id],
        },
        node_provisioning_profile={"mode": "Auto", "default_node_pools": "None"},
        oidc_issuer_profile={"enabled": True},
        security_profile={"workload_identity": {"enabled": True}},
        network_profile={
            "network_plugin": "azure",
            "network_plugin_mode": "overlay",
            "network_dataplane": "cilium",
            "network_policy": "cilium",
            "load_balancer_sku": "standard",
        },
        agent_pool_profiles=[
            {
                "name": "system",
                "mode": "System",
                "count": 2,
                "vm_size": "Standard_D4ds_v5",
                "os_sku": "AzureLinux",
                "vnet_subnet_id": subnet.id,
                "availability_zones": ["1", "2"],
            }
        ],
    )
    azure.containerservice.AgentPool(
        "spot",
        resource_group_name=group.name,
        resource_name_=cluster.name,
        agent_pool_name="spot",
        mode="User",
        vm_size="Standard_NC24ads_A100_v4",
        scale_set_priority="Spot",
        scale_set_eviction_policy="Delete",
        spot_max_price=-1,
        enable_auto_scaling=True,
        min_count=0,
        max_count=8,
        node_taints=["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"],
    )
    _storage_on_azure(group, identity)


def _storage_on_azure(
    group: azure.resources.ResourceGroup, identity: azure.managedidentity.UserAssignedIdentity
) -> None:
    account = azure.storage.StorageAccount(
        "account",
        resource_group_name=group.name,
        account_name="trainingcheckpoints",
        location="westeurope",
        kind="StorageV2",
        sku={"name": "Standard_ZRS"},
        allow_shared_key_access=False,
        allow_blob_public_access=False,
        minimum_tls_version="TLS1_2",
    )
    azure.storage.BlobServiceProperties(
        "versions",
        resource_group_name=group.name,
        account_name=account.name,
        blob_services_name="default",
        is_versioning_enabled=True,
        delete_retention_policy={"enabled": True, "days": 7},
    )
    azure.storage.BlobContainer(
        "container",
        resource_group_name=group.name,
        account_name=account.name,
        container_name="checkpoints",
        public_access=azure.storage.PublicAccess.NONE,
    )
    azure.storage.ManagementPolicy(
        "lifecycle",
        resource_group_name=group.name,
        account_name=account.name,
        management_policy_name="default",
        policy={
            "rules": [
                {
                    "name": "old-versions",
                    "enabled": True,
                    "type": "Lifecycle",
                    "definition": {
                        "filters": {"blob_types": ["blockBlob"]},
                        "actions": {"version": {"delete": {"days_after_creation_greater_than": 30}}},
                    },
                }
            ]
        },
    )
    azure.managedidentity.FederatedIdentityCredential(
        "federation",
        resource_group_name=group.name,
        resource_name_=identity.name,
        federated_identity_credential_resource_name="research",
        issuer="https://westeurope.oic.prod-aks.azure.com/issuer/",
        subject="system:serviceaccount:research:trainer",
        audiences=["api://AzureADTokenExchange"],
    )
    azure.authorization.RoleAssignment(
        "writer",
        scope=account.id,
        principal_id=identity.principal_id,
        principal_type="ServicePrincipal",
        role_assignment_name="0f5ad0b1-4a43-4b7a-9a6e-3f2f8f8f2a10",
        role_definition_id="/providers/Microsoft.Authorization/roleDefinitions/ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    )


PROGRAMS: Final[Mapping[str, Program]] = {"gcp": on_gcp, "azure": on_azure}
