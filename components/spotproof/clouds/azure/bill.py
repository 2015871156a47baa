"""What Azure resources cost per hour. Pure: reads plain inputs, imports no SDK."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from spotproof.clouds.charges import KARPENTER_POOL, Bill, Billed, ByUse, Charge, Item, Ledger, PoolCharge, at
from spotproof.prices import Price
from spotproof.vocabulary import KARPENTER_CAPACITY_LABEL, ON_DEMAND, POOL_LABEL, SPOT, Capacity

CLOUD: Final = "azure"
NODE_CLASS: Final = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"
DEFAULT_DISK_GIB: Final = 128
"""What AKS and Karpenter give a node that says nothing."""

DISKS: Final = ((64, "p6"), (128, "p10"), (256, "p15"), (512, "p20"), (1024, "p30"), (2048, "p40"))
"""Tiers of premium SSDs by their GiB; a disk costs what its whole tier costs. Smaller ones hold no training image."""

FREE: Final = (
    "azure-native:authorization:",
    "azure-native:managedidentity:",
    "azure-native:resources:",
    "azure-native:network:VirtualNetwork",
    "azure-native:network:Subnet",
    "azure-native:monitor:",
    "azure-native:storage:BlobContainer",
    "azure-native:storage:BlobServiceProperties",
    "azure-native:storage:ManagementPolicy",
)
"""Beginnings of types that cost nothing themselves (price pages of AKS, networks, Monitor and storage)."""

BY_USE: Final = MappingProxyType(
    {
        "azure-native:storage:StorageAccount": "Blob Storage: stored and requested",
        "azure-native:operationalinsights:Workspace": "Log Analytics: log data taken in, and kept beyond 30 days",
    }
)


def bill(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """The charges of one resource; a type that is neither priced, free nor billed by use is named as unpriced."""
    if handler := BILLS.get(resource.type):
        yield from handler(resource, ledger)
    elif what := BY_USE.get(resource.type):
        yield ByUse(what)
    elif not resource.type.startswith(FREE):
        yield Charge(resource.type, 1, None)


def _service(item: str, what: str) -> Bill:
    def one(resource: Billed, ledger: Ledger) -> Iterator[Item]:
        yield Charge(what, 1, ledger.prices.service(CLOUD, ledger.region(resource), item))

    return one


def _cluster(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """The control plane, whose free tier has no price, and the nodes of the pools that stand in the cluster itself."""
    region = ledger.region(resource)
    if at(resource.inputs, "sku", "tier") not in {None, "Free"}:
        yield Charge("AKS control plane", 1, ledger.prices.service(CLOUD, region, "aks/standard"))
    pools = resource.inputs.get("agentPoolProfiles")
    for pool in pools if isinstance(pools, list) else ():
        count, size = at(pool, "count"), str(at(pool, "vmSize"))
        nodes = float(count) if isinstance(count, int | float) else 1.0
        what = f"{at(pool, 'name')}: {size} {ON_DEMAND}"
        yield Charge(what, nodes, ledger.prices.node(CLOUD, region, size, ON_DEMAND))
        if at(pool, "osDiskType") != "Ephemeral":
            disk = _disk(at(pool, "osDiskSizeGB"), region, ledger)
            yield Charge(f"{at(pool, 'name')}: OS disk", nodes, disk)


def _karpenter_pool(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    spec = at(resource.inputs, "spec", "template", "spec")
    # a pool that allows both is billed as on-demand, which is the most it can cost
    capacity: Capacity = SPOT if _values(spec, KARPENTER_CAPACITY_LABEL) == [SPOT] else ON_DEMAND
    nodes = at(resource.inputs, "spec", "limits", "nodes")
    yield _pool_charge(
        ledger,
        region=ledger.region(resource),
        pool=str(at(resource.inputs, "metadata", "name") or resource.name),
        capacity=capacity,
        sizes=_values(spec, "node.kubernetes.io/instance-type"),
        nodes=int(str(nodes)) if str(nodes).isdigit() else None,
        disk_gib=_class_disk(spec, ledger),
    )


def _agent_pool(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    inputs = resource.inputs
    most = inputs.get("maxCount") if inputs.get("enableAutoScaling") else inputs.get("count")
    yield _pool_charge(
        ledger,
        region=ledger.region(resource),
        pool=str(at(inputs, "nodeLabels", POOL_LABEL) or inputs.get("agentPoolName") or resource.name),
        capacity=SPOT if inputs.get("scaleSetPriority") == "Spot" else ON_DEMAND,
        sizes=[str(inputs.get("vmSize"))],
        nodes=int(most) if isinstance(most, int | float) else None,
        disk_gib=inputs.get("osDiskSizeGB"),
    )


def _pool_charge(  # noqa: PLR0913 - what a pool is, each by keyword
    ledger: Ledger,
    *,
    region: str,
    pool: str,
    capacity: Capacity,
    sizes: Sequence[str],
    nodes: int | None,
    disk_gib: object,
) -> PoolCharge:
    priced = {size: price for size in sizes if (price := ledger.prices.node(CLOUD, region, size, capacity))}
    dearest = max(priced, key=lambda size: priced[size].usd_per_hour, default="")
    # where a local disk is large enough AKS takes that one, and this one is not paid for
    disk = _disk(disk_gib, region, ledger)
    return PoolCharge(
        pool=pool,
        capacity=capacity,
        nodes=nodes,
        instance_type=dearest,
        price=_with_disk(priced.get(dearest), disk),
        on_demand=_with_disk(ledger.prices.node(CLOUD, region, dearest, ON_DEMAND), disk),
        unpriced=tuple(size for size in sizes if size not in priced),
    )


def _values(spec: object, key: str) -> list[str]:
    requirements = at(spec, "requirements")
    for requirement in requirements if isinstance(requirements, list) else ():
        values = at(requirement, "values")
        if at(requirement, "key") == key and at(requirement, "operator") == "In" and isinstance(values, list):
            return [str(value) for value in values]
    return []


def _class_disk(spec: object, ledger: Ledger) -> object:
    name = at(spec, "nodeClassRef", "name")
    for resource in ledger.resources.values():
        if resource.type == NODE_CLASS and at(resource.inputs, "metadata", "name") == name:
            return at(resource.inputs, "spec", "osDiskSizeGB")
    return None


def _disk(gib: object, region: str, ledger: Ledger) -> Price | None:
    """A premium SSD of the smallest tier that holds so much."""
    size = float(gib) if isinstance(gib, int | float) else DEFAULT_DISK_GIB
    tier = next((name for most, name in DISKS if size <= most), DISKS[-1][1])
    return ledger.prices.service(CLOUD, region, f"disk/{tier}")


def _with_disk(node: Price | None, disk: Price | None) -> Price | None:
    if node is None or disk is None:
        return node
    usd = node.usd_per_hour + disk.usd_per_hour
    return replace(node, usd_per_hour=usd, borrowed=node.borrowed or disk.borrowed)


BILLS: Final[Mapping[str, Bill]] = MappingProxyType(
    {
        "azure-native:containerservice:ManagedCluster": _cluster,
        "azure-native:containerservice:AgentPool": _agent_pool,
        "azure-native:network:NatGateway": _service("network/nat-gateway", "NAT gateway (data apart)"),
        "azure-native:network:PublicIPAddress": _service("network/public-ipv4", "public IPv4 address"),
        KARPENTER_POOL: _karpenter_pool,
    }
)
