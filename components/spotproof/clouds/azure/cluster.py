"""The AKS cluster: who may reach it, what makes its nodes, where its logs go."""

import base64
import json
from typing import Any, Final, NotRequired, TypedDict, cast

import pulumi
import pulumi_azure_native as azure
import pulumi_kubernetes as k8s
from ruamel.yaml import YAML

from spotproof.clouds.azure.names import SYSTEM_POOL, Names
from spotproof.clouds.azure.placing import SYSTEM_LABELS, SYSTEM_TAINT, zone_numbers
from spotproof.clouds.azure.roles import CLUSTER_ADMINISTRATOR, NETWORK_CONTRIBUTOR, assign
from spotproof.clouds.options import child_of
from spotproof.settings.azure.checks import POD_CIDR, SERVICE_CIDR
from spotproof.settings.azure.pool_checks import AUTO_PROVISIONING, CLASSIC
from spotproof.settings.azure.quotas import SYSTEM_SIZE

DNS_SERVICE_IP: Final = "172.20.0.10"
SERVER_ID: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The Entra application of every AKS API server; tokens are asked for it."""

SYSTEM_NODES: Final = 2
"""Operators have two replicas, which never share a node."""
SYSTEM_DISK_GIB: Final = 128
"""Fits the 150 GiB of local disk that a D4ds_v5 brings, so that its OS disk costs nothing and is fast."""

LOG_CATEGORIES: Final = (
    *("kube-apiserver", "kube-audit-admin", "kube-controller-manager", "kube-scheduler"),
    *("cluster-autoscaler", "cloud-controller-manager", "guard"),
)
"""`kube-audit` is left out: it adds every read to `kube-audit-admin`, at ten times the price."""


class AksClusterArgs(TypedDict):
    """A cluster."""

    cluster_name: str
    """Name of the cluster, at most 50 characters."""
    subscription_id: str
    """The subscription."""
    location: str
    """The Azure region."""
    resource_group_name: str
    """The resource group, which exists. Whoever runs `up` becomes an administrator of every AKS cluster in it."""
    tenant_id: str
    """The Entra tenant whose people use the cluster."""
    kubernetes_version: str
    """Minor version, as 1.36."""
    zones: list[str]
    """Zones of the system nodes, as `eastus-1`; none in a region that has none."""
    subnet_id: str
    """The subnet of the nodes; the cluster's identity gets a role over it."""
    outbound_ip: NotRequired[pulumi.Input[str]]
    """The address its nodes go out by; it must be let in where public_access_cidrs are set."""
    public_access_cidrs: NotRequired[list[str]]
    """IPv4 ranges that reach the API server from outside. Default none: the cluster is private."""
    admin_group_ids: NotRequired[list[str]]
    """Object ids of the Entra groups that administer the cluster. Default none but whoever runs `up`."""
    deletion_protection: NotRequired[bool]
    """Refuse, by Pulumi, to delete the cluster. Default true."""
    autoscaler: NotRequired[str]
    """`node-auto-provisioning` (the default) or `cluster-autoscaler`, where node pools are AKS's own."""
    empty_node_minutes: NotRequired[int]
    """With cluster-autoscaler: how long an empty node is kept. Default 10."""
    log_retention_days: NotRequired[int]
    """Days the workspace keeps logs. Default 30; 30 to 730."""
    tags: NotRequired[dict[str, str]]
    """Tags of the cluster and its machines."""


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster with Entra ID in front of it and no account of its own.

    Pods have their own range (Azure CNI overlay), Cilium carries and guards their traffic. Nodes come from node
    auto-provisioning, without the pools AKS would add, or from AKS's own node pools. Two system nodes, on-demand, carry
    the operators. The identity's role over the subnet is there before the cluster, and so before the first pool.

    Whoever runs `up` is an administrator: Azure RBAC is on, and they get the role over the resource group before the
    cluster is made, because an assignment takes minutes to be seen. Groups of `admin_group_ids` are administrators by
    Entra ID. Nothing is put on and taken off by hand, and no certificate of an administrator exists.

    The Kubernetes provider has a cluster identifier, so no update of the cluster ever plans the replacement of what is
    inside it, and a kubeconfig that calls `kubelogin` as whoever runs it: no token is in it.
    """

    oidc_issuer_url: pulumi.Output[str]
    """Whose tokens federated credentials trust. Resolves once the cluster exists."""
    kubernetes_provider: k8s.Provider
    resource: azure.containerservice.ManagedCluster

    def __init__(self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        protect, cidrs = args.get("deletion_protection", True), args.get("public_access_cidrs", [])
        autoscaler = args.get("autoscaler", AUTO_PROVISIONING)
        props = {"clusterName": args["cluster_name"], "deletionProtection": protect, "publicAccessCidrs": cidrs}
        super().__init__("spotproof:azure:AksCluster", name, {**props, "autoscaler": autoscaler}, opts)
        names = Names(args["cluster_name"], args["subscription_id"], args["location"], args["resource_group_name"])
        child = child_of(self, opts)
        workspace = _workspace(name, names, int(args.get("log_retention_days", 30)), args.get("tags") or None, child)
        identity = azure.managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_name_=names.identity("cluster"),
            resource_group_name=names.resource_group,
            location=names.location,
            tags=args.get("tags") or None,
            opts=child,
        )
        over_network = assign(
            f"{name}-network",
            names,
            role=NETWORK_CONTRIBUTOR,
            scope=args["subnet_id"],
            whom="cluster",
            principal_id=identity.principal_id,
            principal_type="ServicePrincipal",
            opts=child,
        )
        administrator = _administrator(name, names, child)
        self.resource = azure.containerservice.ManagedCluster(
            f"{name}-cluster",
            **_settings(names, args),
            opts=pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(protect=protect, depends_on=[over_network, administrator, workspace])
            ),
        )
        _diagnostics(name, names, pulumi.ResourceOptions(parent=self, depends_on=[self.resource]))
        self.oidc_issuer_url = self.resource.oidc_issuer_profile.apply(_issuer)
        # What an invoke answers loses, at a first preview, what it was asked of: so the order is written out.
        inside = pulumi.ResourceOptions(parent=self, depends_on=[self.resource, administrator])
        self.kubernetes_provider = _kubernetes(name, names, self.resource, inside)
        self.register_outputs({"id": names.cluster_id})


def _settings(names: Names, args: AksClusterArgs) -> dict[str, Any]:
    """The cluster's inputs."""
    classic = args.get("autoscaler") == CLASSIC
    tags, groups = args.get("tags"), args.get("admin_group_ids", [])
    return {
        "resource_name_": names.cluster,
        "resource_group_name": names.resource_group,
        "node_resource_group": names.node_resource_group,
        "location": names.location,
        "kubernetes_version": args["kubernetes_version"],
        "dns_prefix": names.cluster,
        "sku": {"name": "Base", "tier": "Standard"},
        "identity": {"type": "UserAssigned", "user_assigned_identities": [names.identity_id("cluster")]},
        "aad_profile": {
            "managed": True,
            "enable_azure_rbac": True,
            "tenant_id": args["tenant_id"],
            **({"admin_group_object_ids": groups} if groups else {}),
        },
        "enable_rbac": True,
        "disable_local_accounts": True,
        "api_server_access_profile": _access(args),
        "oidc_issuer_profile": {"enabled": True},
        "security_profile": {
            "workload_identity": {"enabled": True},
            # images of GPU jobs fill disks; what no pod uses goes after a week
            "image_cleaner": {"enabled": True, "interval_hours": 168},
        },
        "network_profile": {
            "network_plugin": "azure",
            "network_plugin_mode": "overlay",
            "network_dataplane": "cilium",
            "network_policy": "cilium",
            "load_balancer_sku": "standard",
            "outbound_type": "userAssignedNATGateway",
            "pod_cidr": POD_CIDR,
            "service_cidr": SERVICE_CIDR,
            "dns_service_ip": DNS_SERVICE_IP,
        },
        # default_node_pools means nothing to Manual
        "node_provisioning_profile": {"mode": "Manual"} if classic else {"mode": "Auto", "default_node_pools": "None"},
        **({"auto_scaler_profile": _autoscaler(int(args.get("empty_node_minutes", 10)))} if classic else {}),
        # Kubernetes moves when the settings say so. Newer node images come to system nodes by themselves; AKS's own
        # pools would be drained for them under running jobs.
        "auto_upgrade_profile": {
            "upgrade_channel": "none",
            "node_os_upgrade_channel": "None" if classic else "NodeImage",
        },
        "agent_pool_profiles": [_system_pool(args)],
        "addon_profiles": {
            "omsagent": {
                "enabled": True,
                "config": {"logAnalyticsWorkspaceResourceID": names.log_workspace_id, "useAADAuth": "true"},
            }
        },
        **({"tags": tags} if tags else {}),
    }


def _system_pool(args: AksClusterArgs) -> dict[str, Any]:
    numbers = zone_numbers(args["zones"])
    return {
        "name": SYSTEM_POOL,
        "mode": "System",
        "type": "VirtualMachineScaleSets",
        "count": SYSTEM_NODES,
        "enable_auto_scaling": False,
        "vm_size": SYSTEM_SIZE,
        "os_type": "Linux",
        "os_sku": "Ubuntu",
        "os_disk_type": "Ephemeral",
        "os_disk_size_gb": SYSTEM_DISK_GIB,
        "vnet_subnet_id": args["subnet_id"],
        "node_labels": dict(SYSTEM_LABELS),
        "node_taints": [SYSTEM_TAINT],
        "upgrade_settings": {"max_surge": "1"},
        **({"availability_zones": numbers} if numbers else {}),
        **({"tags": tags} if (tags := args.get("tags")) else {}),
    }


def _access(args: AksClusterArgs) -> dict[str, Any]:
    """Ranges, or a private cluster. `az aks command` is off: it runs what it is given as an administrator."""
    cidrs = args.get("public_access_cidrs", [])
    if not cidrs:
        return {
            "enable_private_cluster": True,
            "enable_private_cluster_public_fqdn": False,
            "disable_run_command": True,
        }
    # Nodes come to the API server by the NAT gateway's address, which AKS does not let in by itself.
    own = [pulumi.Output.concat(args["outbound_ip"], "/32")] if "outbound_ip" in args else []
    return {"authorized_ip_ranges": [*cidrs, *own], "disable_run_command": True}


def _autoscaler(empty_minutes: int) -> dict[str, Any]:
    """AKS's cluster autoscaler takes away empty nodes only."""
    return {
        "scale_down_unneeded_time": f"{empty_minutes}m",
        # Use is counted without what runs on every node; a hundredth is less than any job asks for. With 0 nothing at
        # all would ever count as unneeded.
        "scale_down_utilization_threshold": "0.01",
        "ignore_daemonsets_utilization": True,
        # a gang asks for all its nodes at once, and GPU nodes take up to a quarter of an hour
        "max_node_provision_time": "15m",
    }


def _workspace(
    name: str, names: Names, days: int, tags: dict[str, str] | None, child: pulumi.ResourceOptions
) -> azure.operationalinsights.Workspace:
    return azure.operationalinsights.Workspace(
        f"{name}-logs",
        workspace_name=names.log_workspace,
        resource_group_name=names.resource_group,
        location=names.location,
        sku={"name": "PerGB2018"},
        retention_in_days=days,
        features={"enable_log_access_using_only_resource_permissions": True},
        tags=tags,
        opts=child,
    )


def _administrator(name: str, names: Names, child: pulumi.ResourceOptions) -> pulumi.Resource:
    """Whoever runs `up`. Who that is nobody knows beforehand; nothing but the assignment takes it."""
    invoke = pulumi.InvokeOutputOptions(parent=child.parent)
    return assign(
        f"{name}-administrator",
        names,
        role=CLUSTER_ADMINISTRATOR,
        scope=names.group_id,
        whom="whoever runs up",
        principal_id=azure.authorization.get_client_config_output(opts=invoke).object_id,
        opts=child,
    )


def _diagnostics(name: str, names: Names, opts: pulumi.ResourceOptions) -> None:
    azure.monitor.DiagnosticSetting(
        f"{name}-logs",
        name="control-plane",
        resource_uri=names.cluster_id,
        workspace_id=names.log_workspace_id,
        # tables of their own, which cost less to search than the one for everything
        log_analytics_destination_type="Dedicated",
        logs=[{"category": category, "enabled": True} for category in LOG_CATEGORIES],
        opts=opts,
    )


def _kubernetes(
    name: str, names: Names, cluster: azure.containerservice.ManagedCluster, child: pulumi.ResourceOptions
) -> k8s.Provider:
    # The certificate authority is nowhere else. With Entra ID in front and local accounts off, what this call answers
    # holds no credential; still, only server and authority are taken from it.
    answered = azure.containerservice.list_managed_cluster_user_credentials_output(
        resource_group_name=names.resource_group,
        resource_name=cluster.name,
        opts=pulumi.InvokeOutputOptions(parent=cluster),
    )
    made = answered.kubeconfigs.apply(lambda found: kubeconfig(names, *endpoint(found[0].value)))
    return k8s.Provider(
        f"{name}-kubernetes",
        kubeconfig=pulumi.Output.secret(made),
        cluster_identifier=names.cluster_id,
        opts=child,
    )


def endpoint(fetched: str) -> tuple[str, str]:
    """URL of the API server and its certificate authority, base64, from a kubeconfig of Azure's, base64 itself."""
    text = base64.b64decode(fetched).decode()
    found = cast("dict[str, Any]", YAML(typ="safe", pure=True).load(text))["clusters"][0]["cluster"]
    return str(found["server"]), str(found["certificate-authority-data"])


def kubeconfig(names: Names, server: str, authority: str) -> str:
    """A kubeconfig, as JSON, that asks kubelogin for a token each time.

    `azurecli` is whoever `az` is logged in as: a person at a desk, and a pipeline behind its Azure login step alike.

    Args:
        names: The cluster's names.
        server: URL of the API server.
        authority: Its certificate authority, base64.
    """
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "kubelogin",
        "args": ["get-token", "--login", "azurecli", "--server-id", SERVER_ID],
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }
    name = names.cluster
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": authority}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [{"name": name, "user": {"exec": token}}],
        }
    )


def _issuer(profile: Any) -> str:
    # None only at a preview of a cluster that is not there
    return "" if profile is None else str(profile.issuer_url or "")
