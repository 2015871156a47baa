"""Pools on a cluster that Karpenter serves: one EC2NodeClass and one NodePool each."""

from datetime import timedelta
from typing import Any, Final, NotRequired, TypedDict

import pulumi

from spotproof.clouds.objects import apply
from spotproof.clouds.options import child_of
from spotproof.manifests.ec2_node_class import EBS_STARTUP_TAINT, NODE_CLASS, ec2_node_class
from spotproof.manifests.karpenter import node_pool
from spotproof.settings import Pool
from spotproof.settings.aws import Aws
from spotproof.settings.aws.instances import accelerator as known_accelerator
from spotproof.vocabulary import ON_DEMAND, SPOT, Capacity

DELETE_TIMEOUT: Final = "45m"
"""On destroy pool and class wait for their machines: 15 min that a launch may take, pods' grace, a drain, the shutdown.
They are the barrier that keeps the controller alive until the last machine is gone. The pool waits too, because the
provider deletes in the foreground and NodeClaims block their owner's deletion (pulumi-kubernetes provider/pkg/await,
whose own limit is 5 min; karpenter nodeclaimtemplate.go)."""


class NodePoolArgs(TypedDict):
    """Nodes of one kind. Selector terms are Karpenter's own: each `{"id": ...}` or `{"tags": {...}}`."""

    pool_name: str
    """Name of the pool; jobs select it by the label `spotproof.dev/pool`."""
    instance_types: list[str]
    """EC2's names, one or many, all with the same accelerators."""
    max_nodes: int
    """At most this many nodes at once: the pool's spending limit."""
    zones: list[str]
    """Zone names the pool may use."""
    node_role_name: str
    """Name, not ARN, of the nodes' IAM role; it needs an access entry of type EC2_LINUX."""
    subnet_terms: list[dict[str, Any]]
    """Which subnets; private ones."""
    security_group_terms: list[dict[str, Any]]
    """Which security groups; for EFA they must admit everything from themselves, both ways."""
    ami_alias: str
    """Image as `al2023@vYYYYMMDD` or `bottlerocket@X.Y.Z`; never `@latest`, which replaces nodes by itself."""
    accelerator_type: NotRequired[str]
    """As `nvidia-a100-40gb`. Default: what the first instance type is known to have."""
    accelerator_count: NotRequired[int]
    """Accelerators of one node; goes with accelerator_type."""
    disk_gib: NotRequired[int]
    """Root disk, GiB. Default 200."""
    consolidate_after_seconds: NotRequired[int]
    """How long an empty node is kept. Default 600."""
    tags: NotRequired[dict[str, str]]
    """Tags of machines, disks and network interfaces."""
    wait_for_ebs_driver: NotRequired[bool]
    """Start nodes with the EBS driver's startup taint. Default false: where the driver does not run nobody lifts it."""


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
            ec2_node_class(
                pool,
                name=pool.name,
                ami_alias=args["ami_alias"],
                node_role_name=args["node_role_name"],
                subnet_terms=args["subnet_terms"],
                security_group_terms=args["security_group_terms"],
                tags=args.get("tags", {}),
            ),
            pulumi.ResourceOptions.merge(child_of(self, opts), waits),
        )
        self.node_pool = apply(
            f"{name}-pool",
            node_pool(
                pool,
                node_class=NODE_CLASS,
                node_class_name=pool.name,
                machine=Aws.machine,
                zones=args["zones"],
                startup_taints=(EBS_STARTUP_TAINT,) if args.get("wait_for_ebs_driver") else (),
            ),
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(parent=self, depends_on=[self.node_class]), waits),
        )
        self.register_outputs({"pool": pool.name})


class SpotNodePool(_NodePool):
    """Nodes that EC2 can reclaim at two minutes' notice, labelled and tainted so that only jobs that ask land there.

    Needs Karpenter with an interruption queue and the account's spot service-linked role. Give the Karpenter release as
    `depends_on`, so that on destroy it outlives the machines.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:aws:SpotNodePool", name, pool_from(args, SPOT), args, opts)


class OnDemandNodePool(_NodePool):
    """Nodes that stay until their job is done: the last tier of a fallback policy, and Ray's heads.

    Needs Karpenter; give its release as `depends_on`, so that on destroy it outlives the machines.

    Raises:
        pydantic.ValidationError: an argument has no possible value.
    """

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:aws:OnDemandNodePool", name, pool_from(args, ON_DEMAND), args, opts)


def pool_from(args: NodePoolArgs, capacity: Capacity) -> Pool:
    """The settings of a pool from a component's plain arguments.

    Numbers are made whole: a host in another language sends every number as a float.
    """
    known = known_accelerator(args["instance_types"][0])
    kind, count = args.get("accelerator_type"), args.get("accelerator_count", 0)
    accelerator = {"type": kind, "count": int(count)} if kind else known and {"type": known[0], "count": known[1]}
    optional: dict[str, Any] = {
        "disk_gib": "disk_gib" in args and int(args["disk_gib"]),
        "consolidate_after": "consolidate_after_seconds" in args
        and timedelta(seconds=int(args["consolidate_after_seconds"])),
        "accelerator": accelerator,
    }
    return Pool.model_validate(
        {
            "name": args["pool_name"],
            "capacity": capacity,
            "instance_types": tuple(args["instance_types"]),
            "zones": tuple(args["zones"]),
            "max_nodes": int(args["max_nodes"]),
            **{key: value for key, value in optional.items() if value},
        }
    )
