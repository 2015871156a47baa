"""Node pools: what a pool offers, in which capacity, up to how many nodes."""

from datetime import timedelta
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.base import Count, Duration, ListOf, PoolName, Settings
from spotproof.vocabulary import POOL_LABEL, SPOT, Capacity


class Accelerator(Settings):
    """The accelerators of one node. Tiers of one fallback policy must offer the same."""

    type: str = Field(
        description="Model and memory, as in the table of accelerators.",
        examples=["nvidia-a100-40gb"],
        json_schema_extra={"enum": list(MEMORY_GIB)},
    )
    count: Annotated[int, Field(ge=1, le=16)] = Field(description="Accelerators of one node.", examples=[8])

    @property
    def memory_gib(self) -> int:
        """Memory of one accelerator, GiB."""
        return MEMORY_GIB[self.type]


LabelKey: TypeAlias = Annotated[
    str,
    StringConstraints(
        pattern=r"^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$", max_length=317
    ),
]
LabelValue: TypeAlias = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$")]


class NodeTaint(Settings):
    """A taint of nodes that exist."""

    key: LabelKey = Field(description="Its key.", examples=["dedicated"])
    value: LabelValue = Field(default="", description="Its value; left out, any.", examples=["training"])
    effect: Literal["NoSchedule", "NoExecute"] = Field(
        default="NoSchedule", description="What it does to pods that do not tolerate it.", examples=["NoSchedule"]
    )


class Pool(Settings):
    """Nodes of one kind and one capacity. A job lands on it by `spotproof.dev/pool: <name>`."""

    name: PoolName = Field(
        description="Lower-case letters, digits and hyphens, at most 40; the value of the label `spotproof.dev/pool`.",
        examples=["a100-spot"],
    )
    capacity: Capacity = Field(
        description="`spot` is a third of the price and can be reclaimed, at two minutes' notice on AWS and half a "
        "minute or less elsewhere; `on-demand` stays. "
        "One of the two, never both, so that a gang is never mixed.",
        examples=["spot"],
    )
    instance_types: Annotated[
        ListOf[Annotated[str, StringConstraints(min_length=1, max_length=40)]], Field(max_length=60)
    ] = Field(
        default=(),
        description="The cloud's own names (instance types, machine types, VM sizes), one or many. More types "
        "make spot easier to get; all must offer the same accelerators. At most 60, the most one EC2 fleet "
        "request takes. A node pool of GKE has one. Required but on a cluster somebody else made, "
        "where it only names a price.",
        examples=[["p4d.24xlarge"]],
    )
    accelerator: Accelerator | None = Field(
        default=None,
        description="What one node offers. Left out: taken from the instance types where they are known, none else.",
        examples=[{"type": "nvidia-a100-40gb", "count": 8}],
    )
    zones: Annotated[ListOf[str], Field(min_length=1)] | None = Field(
        default=None,
        description="Zones the pool may use; left out: all of the network's. One pool a zone makes zones equal tiers "
        "and keeps a gang in one zone.",
        examples=[["us-west-2a"]],
    )
    max_nodes: Count = Field(
        description="At most this many nodes at once: the pool's spending limit. No default, because it is money.",
        examples=[16],
    )
    disk_gib: Annotated[int, Field(ge=50, le=16384)] = Field(
        default=200,
        description="Root disk, GiB. 200, because CUDA training images are 10 to 20 GiB and the node image's own "
        "default, 20 GiB on EKS, fills up at the second pull. Azure has at most 2048. Local NVMe, "
        "where the type has it, comes on top.",
        examples=[500],
    )
    consolidate_after: Duration = Field(
        default=timedelta(minutes=10),
        description="How long an empty node is kept. 10m, so that a restarting gang finds its nodes again; "
        "a node with pods on it is never taken away.",
        examples=["10m"],
    )
    spot_max_price: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="USD per node hour. Left out: the market price, up to on-demand. Refused where nothing keeps it: "
        "only AKS's spot node pools do, with `autoscaler: cluster-autoscaler`.",
        examples=[12.5],
    )
    autoscaler: Literal["node-auto-provisioning", "cluster-autoscaler"] | None = Field(
        default=None,
        description="On AKS: what makes the nodes. Left out: node auto-provisioning, which is Karpenter. "
        "`cluster-autoscaler` is a node pool of AKS's own, one VM size each, and keeps a spotMaxPrice.",
        examples=["cluster-autoscaler"],
    )
    node_labels: dict[LabelKey, LabelValue] | None = Field(
        default=None,
        description="Labels the pool's nodes carry, and no others do, on a cluster somebody else made. Left out: "
        "`spotproof.dev/pool: <name>`, which you write on them. Pools of one fallback policy have the same keys.",
        examples=[{"node.example.com/group": "a100-spot"}],
    )
    taints: ListOf[NodeTaint] | None = Field(
        default=None,
        description="Taints of those nodes, which jobs then tolerate. Left out: the spot taint on spot, the GPU "
        "taint with accelerators. `[]`: none.",
        examples=[[{"key": "dedicated", "value": "training", "effect": "NoSchedule"}]],
    )

    @property
    def selector(self) -> dict[str, str]:
        """Labels by which pods select its nodes: the pool's name, or what nodes of somebody else's carry."""
        return {POOL_LABEL: self.name} if self.node_labels is None else dict(self.node_labels)

    @property
    def is_spot(self) -> bool:
        """Whether the nodes can be reclaimed."""
        return self.capacity == SPOT


class Network(Settings):
    """The cluster's network: made here over several zones or, on AWS, one that exists."""

    cidr: str = Field(
        default="10.40.0.0/16",
        description="IPv4 range of the network, /16 to /20; on AWS and GCP every pod takes an address of it. Must not "
        "overlap the range of Kubernetes services or networks you peer with.",
        examples=["10.40.0.0/16"],
    )
    zones: Annotated[int, Field(ge=2, le=6)] | Annotated[ListOf[str], Field(min_length=2, max_length=6)] = Field(
        default=3,
        description="How many zones, or their names (on Azure as `eastus-1`). At least 2, which EKS asks for; 3, as "
        "a second and third spot market is worth more than any refinement of the fallback rule. For the life of the "
        "cluster: EKS takes no subnet in a zone it was not made with, and node pools of AKS keep theirs. With "
        "`existing` by name. A region of Azure without zones has none, whatever the number.",
        examples=[3],
    )
    nat_gateways: Annotated[str, StringConstraints(pattern=r"^(single|per-zone)$")] = Field(
        default="single",
        description="On AWS: `single` is one NAT gateway for all zones; `per-zone` costs one a zone and survives the "
        "loss of a zone.",
        examples=["single"],
    )
    existing: "ExistingNetwork | None" = Field(
        default=None,
        description="On AWS: a VPC somebody else made; then nothing of a network is made here.",
        examples=[
            {"vpcId": "vpc-0a1b2c3d4e5f60718", "subnetIds": ["subnet-0a1b2c3d4e5f60718", "subnet-0f1e2d3c4b5a69788"]}
        ],
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        made_here = self.model_fields_set & {"cidr", "nat_gateways"}
        if self.existing is not None and made_here:
            raise ValueError(
                "has existing beside cidr or natGateways; the VPC that exists has its own; "
                "Keep existing (and zones, to name its zones), or remove it"
            )
        return self


class ExistingNetwork(Settings):
    """Subnets that exist: private, with a way out to ECR, STS and S3."""

    vpc_id: Annotated[str, StringConstraints(pattern=r"^vpc-[0-9a-f]{8,17}$")] = Field(
        description="The VPC of the subnets.", examples=["vpc-0a1b2c3d4e5f60718"]
    )
    subnet_ids: Annotated[
        ListOf[Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")]], Field(min_length=2)
    ] = Field(
        description="Private subnets in at least two zones, for the control plane and the nodes.",
        examples=[["subnet-0a1b2c3d4e5f60718", "subnet-0f1e2d3c4b5a69788"]],
    )


Network.model_rebuild()
