"""What every node pool here has in common, and the pool nobody reclaims."""

from typing import Any, Final, NotRequired, TypedDict, cast

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.placing import SYSTEM_LABELS, SYSTEM_TAINT_KEY
from spotproof.clouds.options import child_of
from spotproof.settings.gcp.addresses import PODS
from spotproof.settings.gcp.checks import SYSTEM_NODES, SYSTEM_POOL

MACHINE_TYPE: Final = "e2-standard-4"
"""4 vCPU, 16 GiB. Of 2 vCPUs GKE leaves 1.93, and its own pods would take most of them (an estimate): JobSet's 0.25 and
KubeRay's 0.1 have to fit on either of two nodes while the other one is upgraded."""
DISK_GIB: Final = 50
"""Images of the controllers take about 6 GiB."""

CLOUD_PLATFORM: Final = "https://www.googleapis.com/auth/cloud-platform"
"""The one scope GKE asks for beside an account of one's own: IAM decides, not scopes."""

MANAGEMENT: Final[gcp.container.NodePoolManagementArgsDict] = {"auto_repair": True, "auto_upgrade": True}
"""A release channel wants both. Upgrades are held back by the cluster's maintenance exclusion."""
UPGRADES: Final[gcp.container.NodePoolUpgradeSettingsArgsDict] = {
    "strategy": "SURGE",
    "max_surge": 0,
    "max_unavailable": 1,
}
"""One node after the other: an extra node of a scarce machine would not be had."""


def config(service_account: pulumi.Input[str], **own: Any) -> gcp.container.NodePoolNodeConfigArgsDict:
    """A node's configuration as it is everywhere: shielded, with no identity but its own, metadata kept from pods."""
    kubelet = {"insecure_kubelet_readonly_port_enabled": "FALSE", **own.pop("kubelet_config", {})}
    common = {
        "image_type": "COS_CONTAINERD",
        "service_account": service_account,
        "oauth_scopes": [CLOUD_PLATFORM],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
        "kubelet_config": kubelet,
    }
    return cast("gcp.container.NodePoolNodeConfigArgsDict", {**common, **own})


class SystemNodesArgs(TypedDict):
    """The nodes of one cluster that carry its controllers."""

    cluster_name: str
    """Name of the GKE cluster."""
    region: str
    """The region."""
    zones: list[str]
    """Zones of the cluster; the first two get a node each."""
    service_account: str
    """E-mail address of the nodes' service account."""
    tags: NotRequired[dict[str, str]]
    """Labels of the machines and disks."""


class SystemNodes(pulumi.ComponentResource):
    """Two on-demand nodes in two zones with the label `spotproof.dev/system` and GKE's taint for its own components."""

    node_pool: gcp.container.NodePool

    def __init__(self, name: str, args: SystemNodesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:gcp:SystemNodes", name, {"clusterName": args["cluster_name"]}, opts)
        self.node_pool = gcp.container.NodePool(
            f"{name}-nodes",
            name=SYSTEM_POOL,
            cluster=args["cluster_name"],
            location=args["region"],
            node_locations=args["zones"][:SYSTEM_NODES],
            node_count=1,  # in each zone
            max_pods_per_node=PODS,
            management=MANAGEMENT,
            upgrade_settings={"strategy": "SURGE", "max_surge": 1, "max_unavailable": 0},
            network_config={"enable_private_nodes": True},
            node_config=config(
                args["service_account"],
                machine_type=MACHINE_TYPE,
                disk_type="pd-balanced",
                disk_size_gb=DISK_GIB,
                labels=dict(SYSTEM_LABELS),
                taints=[{"key": SYSTEM_TAINT_KEY, "value": "true", "effect": "NO_SCHEDULE"}],
                resource_labels=args.get("tags"),
            ),
            opts=child_of(self, opts),
        )
        self.register_outputs({})
