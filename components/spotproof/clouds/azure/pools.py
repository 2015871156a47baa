"""Pools on a cluster with node auto-provisioning: one AKSNodeClass and one NodePool each."""

from typing import Final, NotRequired, TypedDict

import pulumi

from spotproof.clouds.azure.pool_settings import pool_from
from spotproof.clouds.objects import apply
from spotproof.clouds.options import child_of
from spotproof.manifests.aks_node_class import NODE_CLASS, aks_node_class
from spotproof.manifests.karpenter import node_pool
from spotproof.settings import Pool
from spotproof.settings.azure import Azure
from spotproof.vocabulary import AKS_SPOT_TAINT, ON_DEMAND, SPOT

DELETE_TIMEOUT: Final = "45m"
"""On destroy pool and class wait for their machines: 15 min that a launch may take, pods' grace, a drain, the shutdown.
AKS keeps the controller, so it is there as long as the cluster is; the class is the barrier before the cluster goes."""


class NodePoolArgs(TypedDict):
    """Nodes of one kind."""

    pool_name: str
    """Name of the pool; jobs select it by the label `spotproof.dev/pool`."""
    instance_types: list[str]
    """VM sizes, one or many, all with the same accelerators."""
    max_nodes: int
    """At most this many nodes at once: the pool's spending limit."""
    subnet_id: str
    """Id of the subnet of the nodes; the cluster's identity may join it. It cannot change later."""
    zones: NotRequired[list[str]]
    """Zones the pool may use, as `eastus-1`. Default: any, as in a region that has none."""
    accelerator_type: NotRequired[str]
    """As `nvidia-a100-80gb`. Default: what the first size is known to have."""
    accelerator_count: NotRequired[int]
    """Accelerators of one node; goes with accelerator_type."""
    disk_gib: NotRequired[int]
    """OS disk, GiB. Default 200."""
    consolidate_after_seconds: NotRequired[int]
    """How long an empty node is kept. Default 600."""
    tags: NotRequired[dict[str, str]]
    """Tags of machines, disks and network interfaces."""


class _NodePool(pulumi.ComponentResource):
    # annotated attributes become outputs of a hosted component, which plain custom resources cannot be

    def __init__(
        self, token: str, name: str, pool: Pool, args: NodePoolArgs, opts: pulumi.ResourceOptions | None
    ) -> None:
        props = {"pool": pool.name, "capacity": pool.capacity, "maxNodes": pool.max_nodes}
        super().__init__(token, name, props, opts)
        waits = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(delete=DELETE_TIMEOUT))
        self.node_class = apply(
            f"{name}-class",
            aks_node_class(pool, name=pool.name, subnet_id=args["subnet_id"], tags=args.get("tags", {})),
            pulumi.ResourceOptions.merge(child_of(self, opts), waits),
        )
        self.node_pool = apply(
            f"{name}-pool",
            node_pool(
                pool,
                node_class=NODE_CLASS,
                node_class_name=pool.name,
                machine=Azure.machine,
                zones=args.get("zones", []),
                spot_taint=AKS_SPOT_TAINT,
            ),
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(parent=self, depends_on=[self.node_class]), waits),
        )
        self.register_outputs({"pool": pool.name})


class SpotNodePool(_NodePool):
    """Nodes that Azure can reclaim at any moment, labelled and tainted so that only jobs that ask land there.

    Node auto-provisioning adds no taint of its own: the one AKS writes on its own spot pools is written here. There is
    no price cap, as nothing would keep it (Azure/AKS #5517). Needs a cluster with node auto-provisioning; give it as
    `depends_on`.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            "spotproof:azure:SpotNodePool", name, pool_from(args, args["instance_types"], SPOT), args, opts
        )


class OnDemandNodePool(_NodePool):
    """Nodes that stay until their job is done: the last tier of a fallback policy, and Ray's heads.

    Needs a cluster with node auto-provisioning; give it as `depends_on`.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        pool = pool_from(args, args["instance_types"], ON_DEMAND)
        super().__init__("spotproof:azure:OnDemandNodePool", name, pool, args, opts)
