"""What GCP resources cost per hour. Pure: reads plain inputs, imports no SDK."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from spotproof.clouds.charges import Bill, Billed, ByUse, Charge, Item, Ledger, PoolCharge, at
from spotproof.clouds.tariff import tariff, unit, with_disk
from spotproof.prices import Price
from spotproof.settings.gcp.machines import GKE_NAMES, machine
from spotproof.vocabulary import ON_DEMAND, POOL_LABEL, SPOT, Capacity

CLOUD: Final = "gcp"
NODE_POOL: Final = "gcp:container/nodePool:NodePool"
NAT_MACHINES: Final = 32
"""Cloud NAT charges by the machine up to so many."""
DEFAULT_MACHINE, DEFAULT_DISK_GIB = "e2-medium", 100
"""What GKE gives a node pool that says nothing (Kubernetes Engine API, NodeConfig)."""

OURS: Final = MappingProxyType({name: kind for kind, name in GKE_NAMES.items()})

FREE: Final = (
    "gcp:compute/firewall:",
    "gcp:compute/network:",
    "gcp:compute/route:",
    "gcp:compute/router:",
    "gcp:compute/subnetwork:",
    "gcp:iam/",
    "gcp:logging/projectExclusion",
    "gcp:logging/projectSink",
    "gcp:projects/",
    "gcp:serviceaccount/",
    "gcp:storage/bucketIAM",
    "gcp:storage/managedFolder",
)
"""Beginnings of types that cost nothing themselves (VPC, IAM, Logging and Cloud Storage price pages)."""


def _nat(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """One address, and every machine that uses it; idle, those are the nodes that stay."""
    region = ledger.region(resource)
    staying = sum(_staying(one) for one in ledger.resources.values() if one.type == NODE_POOL)
    machines = min(staying, NAT_MACHINES)
    yield Charge("Cloud NAT by machine, data apart", machines, ledger.prices.service(CLOUD, region, "nat/machine"))
    yield Charge("public IPv4 address", 1, ledger.prices.service(CLOUD, region, "vpc/external-ipv4"))


def _bucket(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """Soft delete bills what is overwritten or deleted for as long as it is kept, by itself for seven days."""
    del ledger
    seconds = at(resource.inputs, "softDeletePolicy", "retentionDurationSeconds")
    days = seconds / 86_400 if isinstance(seconds, int | float) else 7
    kept = f", and what is overwritten or deleted for {days:g} days more (soft delete)" if days else ""
    yield ByUse(f"Cloud Storage: stored and requested{kept}")


def _logs(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    del resource, ledger
    yield ByUse("Cloud Logging: log data taken in, and kept beyond 30 days")


def _node_pool(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """A pool that grows is what it can become; one of a fixed size is paid for while nothing runs."""
    node = _Node(resource, ledger)
    if resource.inputs.get("autoscaling") is None:
        count = _staying(resource)
        name = resource.inputs.get("name") or resource.name
        kind = node.machine_type if node.capacity == ON_DEMAND else f"{node.machine_type} {SPOT}"
        yield Charge(f"{kind} ({name})", count, node.price(node.capacity))
        yield Charge(f"GiB of disk ({name})", count * node.disk_gib, node.disk)
        return
    price = node.price(node.capacity)
    labels = at(resource.inputs, "nodeConfig", "labels", POOL_LABEL)
    yield PoolCharge(
        pool=str(labels or resource.inputs.get("name") or resource.name),
        capacity=node.capacity,
        nodes=_most(resource),
        instance_type=node.title if price else "",
        price=node.with_disk(price),
        on_demand=node.with_disk(node.price(ON_DEMAND)),
        unpriced=() if price else (node.title,),
    )


def _staying(resource: Billed) -> int:
    """Nodes of a pool without autoscaler, in all its zones; none of one that may go to zero."""
    if resource.inputs.get("autoscaling") is not None:
        return 0
    count = resource.inputs.get("nodeCount", resource.inputs.get("initialNodeCount"))
    return (int(count) if isinstance(count, int | float) else 1) * _zones(resource)


def _most(resource: Billed) -> int | None:
    """The most nodes of a pool: in all zones together, or in each of them."""
    total = at(resource.inputs, "autoscaling", "totalMaxNodeCount")
    if isinstance(total, int | float):
        return int(total)
    each = at(resource.inputs, "autoscaling", "maxNodeCount")
    return int(each) * _zones(resource) if isinstance(each, int | float) else None


def _zones(resource: Billed) -> int:
    zones = resource.inputs.get("nodeLocations")
    return len(zones) if isinstance(zones, list) and zones else 1


class _Node:
    """One node of a pool, as the pool's inputs have it."""

    def __init__(self, resource: Billed, ledger: Ledger) -> None:
        config = at(resource.inputs, "nodeConfig")
        self.ledger, self.region = ledger, ledger.region(resource)
        self.machine_type = str(at(config, "machineType") or DEFAULT_MACHINE)
        reclaimed = at(config, "spot") is True or at(config, "preemptible") is True
        self.capacity: Capacity = SPOT if reclaimed else ON_DEMAND
        self.attached = _attached(self.machine_type, config)
        size = at(config, "diskSizeGb")
        self.disk_gib = float(size) if isinstance(size, int | float) else DEFAULT_DISK_GIB
        kind = at(config, "diskType") or "pd-balanced"
        self.disk = ledger.prices.service(CLOUD, self.region, f"disk/{kind}-gib")

    @property
    def title(self) -> str:
        """The machine with what is attached to it."""
        return " + ".join(
            [
                self.machine_type,
                *([f"{self.attached[1]} {self.attached[0]}"] if self.attached else []),
            ]
        )

    def price(self, capacity: Capacity) -> Price | None:
        """One of them, without its disk."""
        return self.ledger.prices.node(CLOUD, self.region, self.machine_type, capacity, self.attached)

    def with_disk(self, node: Price | None) -> Price | None:
        """The same with its disk, where that has a price."""
        return with_disk(node, self.disk, self.disk_gib)


def _attached(machine_type: str, config: object) -> tuple[str, int] | None:
    """Accelerators that are paid for beside the machine: those of N1."""
    found = machine(machine_type)
    kind, count = (at(config, "guestAccelerators", 0, key) for key in ("type", "count"))
    if found is None or not found.takes_accelerators or not isinstance(count, int | float):
        return None
    return OURS.get(str(kind), str(kind)), int(count)


BILLS: Final[Mapping[str, Bill]] = MappingProxyType(
    {
        "gcp:container/cluster:Cluster": unit(CLOUD, "gke/cluster", "GKE control plane"),
        NODE_POOL: _node_pool,
        "gcp:compute/routerNat:RouterNat": _nat,
        "gcp:storage/bucket:Bucket": _bucket,
        "gcp:logging/projectBucketConfig:ProjectBucketConfig": _logs,
    }
)

bill: Final = tariff(BILLS, {}, FREE)
