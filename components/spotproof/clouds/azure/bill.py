"""What Azure resources cost per hour. Pure: reads plain inputs, imports no SDK."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from spotproof.clouds.charges import KARPENTER_POOL, Bill, Billed, Charge, Item, Ledger, at
from spotproof.clouds.tariff import KarpenterPool, Nodes, tariff, unit
from spotproof.prices import Price
from spotproof.vocabulary import ON_DEMAND, POOL_LABEL, SPOT

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
    pool, region = KarpenterPool(resource), ledger.region(resource)
    # where a local disk is large enough AKS takes that one, and this one is not paid for
    yield Nodes(CLOUD, region, _disk(_class_disk(pool, ledger), region, ledger)).charge(
        ledger, pool=pool.name, capacity=pool.capacity, types=pool.instance_types, nodes=pool.max_nodes
    )


def _agent_pool(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    inputs, region = resource.inputs, ledger.region(resource)
    most = inputs.get("maxCount") if inputs.get("enableAutoScaling") else inputs.get("count")
    yield Nodes(CLOUD, region, _disk(inputs.get("osDiskSizeGB"), region, ledger)).charge(
        ledger,
        pool=str(at(inputs, "nodeLabels", POOL_LABEL) or inputs.get("agentPoolName") or resource.name),
        capacity=SPOT if inputs.get("scaleSetPriority") == "Spot" else ON_DEMAND,
        types=[str(inputs.get("vmSize"))],
        nodes=int(most) if isinstance(most, int | float) else None,
    )


def _class_disk(pool: KarpenterPool, ledger: Ledger) -> object:
    for resource in ledger.resources.values():
        if resource.type == NODE_CLASS and at(resource.inputs, "metadata", "name") == pool.node_class:
            return at(resource.inputs, "spec", "osDiskSizeGB")
    return None


def _disk(gib: object, region: str, ledger: Ledger) -> Price | None:
    """A premium SSD of the smallest tier that holds so much."""
    size = float(gib) if isinstance(gib, int | float) else DEFAULT_DISK_GIB
    tier = next((name for most, name in DISKS if size <= most), DISKS[-1][1])
    return ledger.prices.service(CLOUD, region, f"disk/{tier}")


BILLS: Final[Mapping[str, Bill]] = MappingProxyType(
    {
        "azure-native:containerservice:ManagedCluster": _cluster,
        "azure-native:containerservice:AgentPool": _agent_pool,
        "azure-native:network:NatGateway": unit(CLOUD, "network/nat-gateway", "NAT gateway (data apart)"),
        "azure-native:network:PublicIPAddress": unit(CLOUD, "network/public-ipv4", "public IPv4 address"),
        KARPENTER_POOL: _karpenter_pool,
    }
)

bill: Final = tariff(BILLS, BY_USE, FREE)
