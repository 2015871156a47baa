"""AKS's own node pools, which keep a spot price cap: one agent pool each, between none and all of its nodes."""

from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.azure.names import agent_pool
from spotproof.clouds.azure.placing import zone_numbers
from spotproof.clouds.azure.pool_settings import pool_from
from spotproof.clouds.options import child_of
from spotproof.manifests.scheduling import pool_labels, pool_taints
from spotproof.settings import Pool
from spotproof.vocabulary import AKS_PRIORITY_LABEL, AKS_SPOT_TAINT, ON_DEMAND, SPOT, Taint

UP_TO_ON_DEMAND: Final = -1
"""A spot price cap that is none: nodes are never taken away for the price."""

FIXED: Final = (
    *("vmSize", "scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice"),
    *("availabilityZones", "osDiskSizeGB", "vnetSubnetID"),
)
"""What AKS cannot change in place: it answers PropertyChangeNotAllowed. The pool is made anew, after the old one and
its nodes are gone."""


class AgentPoolArgs(TypedDict):
    """Nodes of one VM size."""

    pool_name: str
    """Name of the pool; jobs select it by the label `spotproof.dev/pool`. AKS's own name is made of it."""
    vm_size: str
    """The VM size, one."""
    max_nodes: int
    """At most this many nodes at once, 1,000 at most: the pool's spending limit."""
    cluster_name: str
    """Name of the AKS cluster."""
    resource_group_name: str
    """Its resource group."""
    subnet_id: str
    """Id of the subnet of the nodes."""
    zones: NotRequired[list[str]]
    """Zones the pool may use, as `eastus-1`. Default: none named, as in a region that has none."""
    spot_max_price: NotRequired[float]
    """USD per node hour, with at most five decimals; a dearer market takes the nodes away. For spot pools only, and not
    to be changed later. Default: the market price, up to on-demand."""
    accelerator_type: NotRequired[str]
    """As `nvidia-a100-80gb`. Default: what the size is known to have."""
    accelerator_count: NotRequired[int]
    """Accelerators of one node; goes with accelerator_type."""
    disk_gib: NotRequired[int]
    """OS disk, GiB. Default 200."""
    tags: NotRequired[dict[str, str]]
    """Tags of machines and disks."""


class _AgentPool(pulumi.ComponentResource):
    def __init__(
        self, token: str, name: str, pool: Pool, args: AgentPoolArgs, opts: pulumi.ResourceOptions | None
    ) -> None:
        cap = float(args.get("spot_max_price", UP_TO_ON_DEMAND))
        props: dict[str, Any] = {"pool": pool.name, "capacity": pool.capacity, "maxNodes": pool.max_nodes}
        super().__init__(token, name, props, opts)
        numbers = zone_numbers(args.get("zones", []))
        spot: dict[str, Any] = {
            "scale_set_priority": "Spot",
            # a deallocated node would stay, not ready, and keep its quota and its disk
            "scale_set_eviction_policy": "Delete",
            "spot_max_price": cap,
        }
        self.agent_pool = azure.containerservice.AgentPool(
            f"{name}-pool",
            agent_pool_name=agent_pool(pool.name),
            resource_name_=args["cluster_name"],
            resource_group_name=args["resource_group_name"],
            mode="User",
            type="VirtualMachineScaleSets",
            vm_size=args["vm_size"],
            os_type="Linux",
            os_sku="Ubuntu",
            os_disk_size_gb=pool.disk_gib,
            vnet_subnet_id=args["subnet_id"],
            enable_auto_scaling=True,
            min_count=0,
            max_count=pool.max_nodes,
            count=0,
            scale_down_mode="Delete",
            node_labels=node_labels(pool),
            node_taints=[taint_text(one) for one in pool_taints(pool, AKS_SPOT_TAINT)],
            **({"availability_zones": numbers} if numbers else {}),
            **({"gpu_profile": {"driver": "Install"}} if pool.accelerator else {}),
            **(spot if pool.is_spot else {}),
            tags=args.get("tags") or None,
            # the autoscaler moves the count
            opts=pulumi.ResourceOptions.merge(
                child_of(self, opts),
                pulumi.ResourceOptions(
                    ignore_changes=["count"], replace_on_changes=list(FIXED), delete_before_replace=True
                ),
            ),
        )
        self.register_outputs({"pool": pool.name})


class SpotAgentPool(_AgentPool):
    """A spot pool of AKS's own, with a price cap if one is set; evicted machines are deleted.

    AKS adds a label and a taint to such pools by itself; both are listed, so that no preview shows them as a change.
    Needs a cluster without node auto-provisioning, as AKS takes no autoscaled pools beside it.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: AgentPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:azure:SpotAgentPool", name, pool_from(args, [args["vm_size"]], SPOT), args, opts)


class OnDemandAgentPool(_AgentPool):
    """An on-demand pool of AKS's own: the last tier of a fallback policy, and Ray's heads.

    Needs a cluster without node auto-provisioning.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: AgentPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        pool = pool_from(args, [args["vm_size"]], ON_DEMAND)
        super().__init__("spotproof:azure:OnDemandAgentPool", name, pool, args, opts)


def node_labels(pool: Pool) -> dict[str, str]:
    """The pool's labels, and on spot the one AKS writes itself."""
    return {**pool_labels(pool), **({AKS_PRIORITY_LABEL: SPOT} if pool.is_spot else {})}


def taint_text(taint: Taint) -> str:
    """A taint as AKS takes it: `key=value:Effect`."""
    return f"{taint['key']}={taint['value']}:{taint['effect']}"
