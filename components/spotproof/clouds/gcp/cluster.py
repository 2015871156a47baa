"""The GKE control plane: who may reach it, what it logs, when it is upgraded."""

import json
from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

from spotproof.clouds.gcp.names import Names
from spotproof.clouds.gcp.network import PODS, SERVICES
from spotproof.clouds.gcp.nodes import config
from spotproof.clouds.options import child_of
from spotproof.settings.gcp import addresses

LOGGED: Final = ("SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER")

BOOTSTRAP: Final = {"machine_type": "e2-medium", "disk_type": "pd-balanced", "disk_size_gb": 30}
"""The pool a cluster cannot be made without; it goes as soon as the cluster is there."""

MAINTENANCE: Final[dict[str, Any]] = {
    "daily_maintenance_window": {"start_time": "03:00"},
    "maintenance_exclusions": [
        {
            "exclusion_name": "training",
            "start_time": "2026-01-01T00:00:00Z",
            "exclusion_options": {
                "scope": "NO_MINOR_OR_NODE_UPGRADES",
                "end_time_behavior": "UNTIL_END_OF_SUPPORT",
            },
        }
    ],
}
"""A release channel upgrades nodes by itself, and drains them for it, whatever trains there. Until the version's
support ends that is put off, and the control plane gets patches alone. A plain date in the past: nothing here reads a
clock."""


class GkeClusterArgs(TypedDict):
    """A control plane."""

    cluster_name: str
    """Name of the cluster, at most 40 characters."""
    project: str
    """The project's id."""
    region: str
    """The region; the control plane is replicated over its zones."""
    zones: list[str]
    """Zones of the nodes."""
    kubernetes_version: str
    """Minor version, as 1.36: the least that the control plane may have."""
    release_channel: str
    """rapid, regular, stable or extended."""
    network: pulumi.Input[str]
    """The VPC."""
    subnetwork: pulumi.Input[str]
    """Its subnet, with secondary ranges called `pods` and `services`."""
    service_account: str
    """E-mail address of the nodes' service account."""
    public_access_cidrs: NotRequired[list[str]]
    """IPv4 ranges that reach the API server's public address. Default none: it has none then, and answers by its DNS
    name, to whoever IAM lets in, and inside the VPC."""
    security_group: NotRequired[str | None]
    """`gke-security-groups@<domain>`, where groups of Google Workspace are bound in RBAC."""
    deletion_protection: NotRequired[bool]
    """Refuse to delete the cluster, by the provider and by Pulumi. Default true."""
    tags: NotRequired[dict[str, str]]
    """Labels of the cluster."""


class GkeCluster(pulumi.ComponentResource):
    """A private, regional Standard cluster with Dataplane V2, workload identity and a DNS endpoint.

    Nodes, pools and people are components of their own. The Kubernetes provider has a cluster identifier, so no update
    of the cluster ever plans the replacement of what is inside it, and a kubeconfig that calls gke-gcloud-auth-plugin
    as whoever runs it: no token and no account in it. It goes through the DNS endpoint, where IAM asks for
    container.clusters.connect before Kubernetes is reached at all.
    """

    name: pulumi.Output[str]
    """Resolves once the cluster exists: what takes it waits for the cluster."""
    kubernetes_provider: k8s.Provider
    resource: gcp.container.Cluster

    def __init__(self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        protect = args.get("deletion_protection", True)
        cidrs = args.get("public_access_cidrs", [])
        props = {"clusterName": args["cluster_name"], "deletionProtection": protect, "publicAccessCidrs": cidrs}
        super().__init__("spotproof:gcp:GkeCluster", name, props, opts)
        names = Names(args["cluster_name"], args["project"], args["region"])
        self.resource = gcp.container.Cluster(
            f"{name}-cluster",
            opts=pulumi.ResourceOptions.merge(
                child_of(self, opts),
                # the node configuration is that of a pool that is gone: the provider would want a new cluster for it
                pulumi.ResourceOptions(protect=protect, ignore_changes=["nodeConfig"]),
            ),
            name=names.cluster,
            deletion_protection=protect,
            resource_labels=args.get("tags"),
            **_version(args),
            **_nodes(args, names),
            **_network(args),
            **_endpoints(cidrs),
            **_people(args),
            logging_config={"enable_components": list(LOGGED)},
            # the managed collector is on by itself and billed by the sample, and nobody here reads it
            monitoring_config={"enable_components": ["SYSTEM_COMPONENTS"], "managed_prometheus": {"enabled": False}},
        )
        self.name = self.resource.name
        self.kubernetes_provider = _kubernetes(name, names, self.resource, pulumi.ResourceOptions(parent=self))
        self.register_outputs({"name": self.name})


def _version(args: GkeClusterArgs) -> dict[str, Any]:
    return {
        "release_channel": {"channel": args["release_channel"].upper()},
        "min_master_version": args["kubernetes_version"],
        "maintenance_policy": MAINTENANCE,
    }


def _nodes(args: GkeClusterArgs, names: Names) -> dict[str, Any]:
    return {
        "location": args["region"],
        "node_locations": args["zones"],
        "remove_default_node_pool": True,
        "initial_node_count": 1,
        "node_config": config(args["service_account"], **BOOTSTRAP),
        "node_pool_defaults": {"node_config_defaults": {"insecure_kubelet_readonly_port_enabled": "FALSE"}},
        "enable_shielded_nodes": True,
        "workload_identity_config": {"workload_pool": names.workload_pool},
    }


def _network(args: GkeClusterArgs) -> dict[str, Any]:
    return {
        "network": args["network"],
        "subnetwork": args["subnetwork"],
        "networking_mode": "VPC_NATIVE",
        "datapath_provider": "ADVANCED_DATAPATH",
        "default_max_pods_per_node": addresses.PODS,
        "ip_allocation_policy": {"cluster_secondary_range_name": PODS, "services_secondary_range_name": SERVICES},
    }


def _endpoints(cidrs: list[str]) -> dict[str, Any]:
    """The DNS name for everybody IAM lets in; addresses for the VPC, and for named ranges.

    No range of the control plane's own (`masterIpv4CidrBlock`): with one it would be peered, and reach nodes on 443 and
    10250 alone, while JobSet's webhook listens on 9443. Without it GKE uses Private Service Connect, where the API
    server comes to a webhook through an agent inside the cluster, and pods reach each other on all ports.
    """
    return {
        "private_cluster_config": {"enable_private_nodes": True, "enable_private_endpoint": not cidrs},
        "control_plane_endpoints_config": {
            "dns_endpoint_config": {
                "allow_external_traffic": True,
                # credentials of the cluster's own would get past IAM
                "enable_k8s_tokens_via_dns": False,
                "enable_k8s_certs_via_dns": False,
            },
            "ip_endpoints_config": {"enabled": True},
        },
        "master_authorized_networks_config": {
            "cidr_blocks": [{"cidr_block": cidr} for cidr in cidrs],
            "gcp_public_cidrs_access_enabled": False,
            "private_endpoint_enforcement_enabled": True,
        },
    }


def _people(args: GkeClusterArgs) -> dict[str, Any]:
    """Nobody by being authenticated alone, or by a client certificate; groups where GKE may look them up.

    Without an identity only the health checks answer, on the API server's addresses too.
    """
    group = args.get("security_group")
    return {
        "rbac_binding_config": {
            "enable_insecure_binding_system_authenticated": False,
            "enable_insecure_binding_system_unauthenticated": False,
        },
        "authenticator_groups_config": {"security_group": group} if group else None,
        "master_auth": {"client_certificate_config": {"issue_client_certificate": False}},
        "enable_legacy_abac": False,
        "anonymous_authentication_config": {"mode": "LIMITED"},
    }


def _kubernetes(name: str, names: Names, cluster: gcp.container.Cluster, child: pulumi.ResourceOptions) -> k8s.Provider:
    made = cluster.control_plane_endpoints_config.apply(lambda found: kubeconfig(names, dns_endpoint(found)))
    return k8s.Provider(
        f"{name}-kubernetes",
        kubeconfig=pulumi.Output.secret(made),
        cluster_identifier=names.cluster_id,
        opts=child,
    )


def dns_endpoint(found: object) -> str:
    """The DNS name of a cluster's control plane, from its output; empty at a preview of one that is not there."""
    dns = getattr(found, "dns_endpoint_config", None)
    return str(getattr(dns, "endpoint", None) or "")


def kubeconfig(names: Names, endpoint: str) -> str:
    """A kubeconfig, as JSON, that asks gke-gcloud-auth-plugin for a token of the default credentials each time.

    Without a certificate authority: the DNS endpoint has a certificate that every machine trusts.

    Args:
        names: The cluster's names.
        endpoint: DNS name of the control plane.
    """
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "gke-gcloud-auth-plugin",
        # by itself it asks gcloud, whose account may be another than the one that made the cluster, or none
        "args": ["--use_application_default_credentials"],
        "installHint": "gcloud components install gke-gcloud-auth-plugin",
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    context = names.context
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": {"server": f"https://{endpoint}"}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "current-context": context,
            "users": [{"name": context, "user": {"exec": plugin}}],
        }
    )
