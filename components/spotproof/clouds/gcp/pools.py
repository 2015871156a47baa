"""Pools on a GKE cluster: a node pool each.

Karpenter is not used here: its provider for GCP is a third party's and stops a reclaimed machine instead of deleting
it, so that its pods hang (cloudpilot-ai/karpenter-provider-gcp #143).
"""

from typing import Any, Final, NotRequired, TypedDict, cast

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.nodes import MANAGEMENT, UPGRADES, config
from spotproof.clouds.gcp.placing import taints
from spotproof.clouds.options import child_of
from spotproof.manifests.scheduling import pool_labels
from spotproof.settings import Pool
from spotproof.settings.gcp.addresses import pods_per_node
from spotproof.settings.gcp.machines import LOCAL_SSDS, architecture, boot_disk, gke_accelerator, machine
from spotproof.settings.gcp.model import CRITICAL_SECONDS, SHUTDOWN_SECONDS
from spotproof.settings.gcp.regions import narrowed
from spotproof.vocabulary import ON_DEMAND, SPOT, Capacity

DELETE_TIMEOUT: Final = "45m"
"""On destroy GKE drains each node first, and the provider gives up after 30 minutes by itself."""
SPOT_POOL: Final = "spotproof:gcp:SpotNodePool"
POOL: Final = "spotproof:gcp:OnDemandNodePool"
EFFECT: Final = {"NoSchedule": "NO_SCHEDULE"}


class NodePoolArgs(TypedDict):
    """Nodes of one kind."""

    pool_name: str
    """Name of the pool, a letter first, at most 40; jobs select it by the label `spotproof.dev/pool`."""
    cluster_name: pulumi.Input[str]
    """Name of the GKE cluster, a Standard one from 1.35 on with workload identity."""
    region: str
    """The cluster's location."""
    machine_type: str
    """Compute Engine's name; a node pool has one."""
    max_nodes: int
    """At most this many nodes at once, in all zones together: the pool's spending limit."""
    zones: list[str]
    """Zones the pool may use; those that do not have its accelerator are left out."""
    service_account: pulumi.Input[str]
    """E-mail address of the nodes' service account."""
    accelerator_type: NotRequired[str]
    """As `nvidia-t4`. Default: what the machine type comes with."""
    accelerator_count: NotRequired[int]
    """Accelerators of one node; goes with accelerator_type."""
    disk_gib: NotRequired[int]
    """Boot disk, GiB. Default 200."""
    tags: NotRequired[dict[str, str]]
    """Labels of machines and disks."""


class _NodePool(pulumi.ComponentResource):
    node_pool: gcp.container.NodePool

    def __init__(
        self, token: str, name: str, pool: Pool, args: NodePoolArgs, opts: pulumi.ResourceOptions | None
    ) -> None:
        props = {"pool": pool.name, "capacity": pool.capacity, "maxNodes": pool.max_nodes}
        # A pool whose capacity changes is the same pool: the engine then deletes it before it makes the new one, whose
        # name GKE would refuse beside the old one's.
        same = pulumi.ResourceOptions(aliases=[pulumi.Alias(type_=one) for one in (SPOT_POOL, POOL) if one != token])
        super().__init__(token, name, props, pulumi.ResourceOptions.merge(opts, same))
        self.node_pool = gcp.container.NodePool(
            f"{name}-pool",
            name=pool.name,
            cluster=args["cluster_name"],
            location=args["region"],
            node_locations=list(narrowed(args["zones"], pool.accelerator.type if pool.accelerator else None)),
            initial_node_count=0,
            autoscaling={
                "total_min_node_count": 0,
                "total_max_node_count": pool.max_nodes,
                # wherever there is capacity; BALANCED would wait for the zone that is behind
                "location_policy": "ANY",
            },
            max_pods_per_node=pods_per_node(accelerated=pool.accelerator is not None),
            management=MANAGEMENT,
            upgrade_settings=UPGRADES,
            network_config={"enable_private_nodes": True},
            node_config=node_config(pool, args),
            opts=pulumi.ResourceOptions.merge(
                child_of(self, opts),
                pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(delete=DELETE_TIMEOUT)),
            ),
        )
        self.register_outputs({"pool": pool.name})


class SpotNodePool(_NodePool):
    """Spot VMs, labelled and tainted so that only jobs that ask land there, with GKE's longest shutdown of 120 s.

    Give the cluster, or nodes that stay, as `depends_on`: GKE's own controllers need somewhere to run.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(SPOT_POOL, name, pool_from(args, SPOT), args, opts)


class OnDemandNodePool(_NodePool):
    """Nodes that stay until their job is done: the last tier of a fallback policy, and Ray's heads.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(POOL, name, pool_from(args, ON_DEMAND), args, opts)


def node_config(pool: Pool, args: NodePoolArgs) -> gcp.container.NodePoolNodeConfigArgsDict:
    """What the nodes of a pool are."""
    machine_type = args["machine_type"]
    own: dict[str, Any] = {
        "machine_type": machine_type,
        "disk_type": boot_disk(machine_type),
        "disk_size_gb": pool.disk_gib,
        "spot": pool.is_spot,
        "labels": pool_labels(pool),
        "taints": [{**taint, "effect": EFFECT[taint["effect"]]} for taint in taints(pool)],
        "gvnic": {"enabled": True},
        "resource_labels": args.get("tags"),
    }
    if pool.is_spot:  # GKE takes these for Spot VMs only
        own["kubelet_config"] = {
            "shutdown_grace_period_seconds": SHUTDOWN_SECONDS,
            "shutdown_grace_period_critical_pods_seconds": CRITICAL_SECONDS,
        }
    if pool.accelerator:
        own["guest_accelerators"] = [
            {
                "type": gke_accelerator(machine_type, pool.accelerator.type),
                "count": pool.accelerator.count,
                "gpu_driver_installation_config": {"gpu_driver_version": "DEFAULT"},
            }
        ]
    if machine_type in LOCAL_SSDS:
        own["ephemeral_storage_local_ssd_config"] = {"local_ssd_count": LOCAL_SSDS[machine_type]}
    if architecture(machine_type) == "arm64":
        # GKE would taint them by itself, and no job tolerates that taint
        own["taint_config"] = {"architecture_taint_behavior": "NONE"}
    return config(args["service_account"], **own)


def pool_from(args: NodePoolArgs, capacity: Capacity) -> Pool:
    """The settings of a pool from a component's plain arguments.

    Numbers are made whole: a host in another language sends every number as a float.
    """
    known = machine(args["machine_type"])
    kind, count = args.get("accelerator_type"), int(args.get("accelerator_count", 0))
    if kind is None and known is not None:
        kind, count = known.accelerator, known.accelerator_count
    optional: dict[str, Any] = {
        "disk_gib": int(args.get("disk_gib", 0)),
        "accelerator": kind and {"type": kind, "count": count},
    }
    return Pool.model_validate(
        {
            "name": args["pool_name"],
            "capacity": capacity,
            "instance_types": (args["machine_type"],),
            "zones": tuple(args["zones"]),
            "max_nodes": int(args["max_nodes"]),
            **{key: value for key, value in optional.items() if value},
        }
    )


def pool_args(pool: Pool, zones: tuple[str, ...], common: dict[str, Any]) -> NodePoolArgs:
    """A component's arguments from the settings of a pool."""
    own: dict[str, Any] = {
        "pool_name": pool.name,
        "machine_type": pool.instance_types[0],
        "max_nodes": pool.max_nodes,
        "zones": list(zones),
        "disk_gib": pool.disk_gib,
    }
    if pool.accelerator:
        own |= {"accelerator_type": pool.accelerator.type, "accelerator_count": pool.accelerator.count}
    return cast("NodePoolArgs", {**common, **own})
