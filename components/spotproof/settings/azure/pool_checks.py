"""Pools that Azure or AKS would refuse, or that would quietly be something else."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from spotproof.settings.azure import sizes
from spotproof.settings.azure.regions import PRICES_READ, UNPRICED
from spotproof.settings.base import render_duration
from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import SAME_CLOUD, near

if TYPE_CHECKING:
    from spotproof.settings.azure.model import Azure
    from spotproof.settings.environment import Environment
    from spotproof.settings.pools import Pool

AUTO_PROVISIONING: Final = "node-auto-provisioning"
CLASSIC: Final = "cluster-autoscaler"
PRICE_DECIMALS: Final = 5
MAX_DISK_GIB: Final = 2048
"""osDiskSizeGB of an AKSNodeClass and of an agent pool."""
MAX_CLASSIC_NODES: Final = 1000
"""Nodes of one agent pool (AKS quotas and limits)."""


def uses_cluster_autoscaler(env: "Environment") -> bool:
    """Whether the pools are AKS's own node pools; an environment has one kind (`autoscalers_are_not_mixed`)."""
    return any(is_classic(pool) for pool in env.pools)


def is_classic(pool: "Pool") -> bool:
    """Whether a pool is one of AKS's own node pools."""
    return pool.autoscaler == CLASSIC


def sizes_exist(env: "Environment") -> Iterator[Problem]:
    """Names that do not look like Azure's, and GPUs that nobody here can drive."""
    for index, pool in enumerate(env.pools):
        for number, name in enumerate(pool.instance_types):
            key = f"pools[{index}].instanceTypes[{number}]"
            if not sizes.SIZE.match(name):
                guess = near(name, sizes.KNOWN_SIZES, SAME_CLOUD)
                yield Problem(
                    key,
                    f"is {shown(name)}, which is not the form of a VM size",
                    "no node could be made, and pods would stay pending",
                    f"Write {guess}" if guess else "Write it whole, as in Standard_D8s_v5",
                )
            elif sizes.AMD_GPU.search(name):
                yield Problem(
                    key,
                    f"is {name}, whose GPUs are AMD's",
                    "the device plugin and every job here ask for nvidia.com/gpu, which such a node never has",
                    "Write a size with NVIDIA GPUs, as in Standard_NC24ads_A100_v4",
                )
            elif pool.accelerator is None and sizes.PART_OF_A_GPU.match(name) and name not in sizes.GPU_SIZES:
                yield Problem(
                    key,
                    f"is {name}, which has a part of a GPU",
                    "no device plugin comes with a pool that names no accelerator, and its nodes never become ready",
                    "Write a size with whole GPUs, as in Standard_NV36ads_A10_v5",
                )


def sizes_without_a_price(azure: "Azure", env: "Environment") -> Iterator[Problem]:
    """GPU sizes that may not be sold in the region. For a warning: a price list is no list of what is sold."""
    missing = UNPRICED.get(azure.location, frozenset())
    for index, pool in enumerate(env.pools):
        for number, name in enumerate(pool.instance_types):
            if name in missing:
                yield Problem(
                    f"pools[{index}].instanceTypes[{number}]",
                    f"is {name}, for which Azure's price list of {PRICES_READ} has no price in {azure.location}",
                    "if it is not sold there its pool never launches a node",
                    f"Look with `az vm list-skus --location {azure.location} --size {name} --output table`",
                )


def autoscalers_are_not_mixed(env: "Environment") -> Iterator[Problem]:
    """The API takes no autoscaled agent pool beside node auto-provisioning (API text of nodeProvisioningProfile)."""
    kinds = [(index, is_classic(pool)) for index, pool in enumerate(env.pools)]
    if not any(classic for _, classic in kinds):
        return
    for index, classic in kinds:
        if not classic:
            yield Problem(
                f"pools[{index}].autoscaler",
                f"is {env.pools[index].autoscaler or f'left out ({AUTO_PROVISIONING})'}, beside pools with {CLASSIC}",
                "AKS takes no autoscaled node pools on a cluster with node auto-provisioning, and `up` would stop",
                f"Write `autoscaler: {CLASSIC}` on every pool, or on none",
            )


def spot_price_caps_are_kept(env: "Environment") -> Iterator[Problem]:
    """A cap is kept by AKS's own spot pools only: NAP's VMs have maxPrice -1, fixed in its code (Azure/AKS #5517)."""
    for index, pool in enumerate(env.pools):
        cap, key = pool.spot_max_price, f"pools[{index}].spotMaxPrice"
        if cap is None:
            continue
        if not pool.is_spot:
            yield Problem(key, f"is {cap:g} on an on-demand pool", "on-demand has one price, and no cap", "Remove it")
        elif not is_classic(pool):
            yield Problem(
                key,
                f"is {cap:g}, and node auto-provisioning has nothing that keeps it",
                "nodes would be bought at the market price all the same, up to on-demand",
                f"Remove it, or write `autoscaler: {CLASSIC}` on every pool: AKS's own spot pools keep a cap",
            )
        elif round(cap, PRICE_DECIMALS) != cap:
            yield Problem(
                key,
                f"is {cap!r}, with more than {PRICE_DECIMALS} decimals",
                "AKS would refuse the pool",
                f"Write {max(round(cap, PRICE_DECIMALS), 10**-PRICE_DECIMALS):.{PRICE_DECIMALS}f}",
            )


def classic_pools_are_possible(env: "Environment") -> Iterator[Problem]:
    """AKS's own node pools: one VM size each, at most 1000 nodes, one time for all before an empty node goes."""
    first: tuple[int, Pool] | None = None
    for index, pool in enumerate(env.pools):
        at = f"pools[{index}]"
        if not is_classic(pool):
            continue
        first = first or (index, pool)
        if len(pool.instance_types) > 1:
            yield Problem(
                f"{at}.instanceTypes",
                f"has {len(pool.instance_types)} sizes, with `autoscaler: {CLASSIC}`",
                "a node pool of AKS has one",
                "Make a pool for each size; tiers of one policy may name them all",
            )
        if pool.max_nodes > MAX_CLASSIC_NODES:
            yield Problem(
                f"{at}.maxNodes",
                f"is {pool.max_nodes}, with `autoscaler: {CLASSIC}`",
                f"a node pool of AKS has at most {MAX_CLASSIC_NODES} nodes",
                f"Write {MAX_CLASSIC_NODES} or fewer, or a second pool",
            )
        if pool.consolidate_after.total_seconds() % 60:
            yield Problem(
                f"{at}.consolidateAfter",
                f"is {render_duration(pool.consolidate_after)}, with `autoscaler: {CLASSIC}`",
                "the cluster autoscaler counts in whole minutes",
                "Write whole minutes, as in 10m",
            )
        elif pool.consolidate_after != first[1].consolidate_after:
            yield Problem(
                f"{at}.consolidateAfter",
                f"is {render_duration(pool.consolidate_after)}, and pools[{first[0]}] has "
                f"{render_duration(first[1].consolidate_after)}",
                "the cluster autoscaler has one such time for the whole cluster",
                "Write the same on every pool",
            )


def disks_are_possible(env: "Environment") -> Iterator[Problem]:
    """The largest OS disk of a node."""
    for index, pool in enumerate(env.pools):
        if pool.disk_gib > MAX_DISK_GIB:
            yield Problem(
                f"pools[{index}].diskGib",
                f"is {pool.disk_gib}",
                f"the OS disk of a node on AKS has at most {MAX_DISK_GIB} GiB",
                f"Write {MAX_DISK_GIB} or less; GPU sizes bring local NVMe as well",
            )


CHECKS: Final[tuple[Callable[["Environment"], Iterator[Problem]], ...]] = (
    sizes_exist,
    autoscalers_are_not_mixed,
    spot_price_caps_are_kept,
    classic_pools_are_possible,
    disks_are_possible,
)
