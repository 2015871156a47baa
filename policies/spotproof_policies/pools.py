"""The table of node pools: which resources hold some, and who reads them.

Another cloud is one file with its reader and one line in `READERS`; the policies over pools then judge it too.
"""

from collections.abc import Callable, Iterable
from typing import Final

from spotproof.vocabulary import POOL_LABEL, SPOT, SPOT_TAINTS, Taint
from spotproof_policies.aks_pools import AKS_AGENT_POOL, AKS_CLUSTER, aks_agent_pool, aks_cluster_pools
from spotproof_policies.gke_pools import GKE_CLUSTER, GKE_NODE_POOL, gke_cluster_pools, gke_node_pool
from spotproof_policies.karpenter_pools import KARPENTER_NODE_POOL, karpenter_pools
from spotproof_policies.model import Props, Resource
from spotproof_policies.node_pool import NodePool
from spotproof_policies.reading import at, text

READERS: Final[dict[str, Callable[[Props], Iterable[NodePool]]]] = {
    KARPENTER_NODE_POOL: karpenter_pools,
    GKE_NODE_POOL: gke_node_pool,
    GKE_CLUSTER: gke_cluster_pools,
    AKS_AGENT_POOL: aks_agent_pool,
    AKS_CLUSTER: aks_cluster_pools,
}
"""Resource type -> the pools in it: one where the resource is a pool, any number where it is a cluster."""

POOL_TYPES: Final = tuple(READERS)


def pools_in(resource: Resource) -> Iterable[NodePool]:
    """The neutral view of every pool in a resource whose type is in `POOL_TYPES`."""
    return READERS[resource.type](resource.props)


def buys_spot(pool: NodePool) -> bool:
    """Whether any of its nodes may be reclaimed."""
    return SPOT in pool.capacities


def trains(pool: NodePool) -> bool:
    """Whether jobs of ours may be sent to it: then it carries the pool label."""
    return POOL_LABEL in set(pool.labels)


def spot_taints(pool: NodePool) -> list[Taint]:
    """Those taints that one of the clouds' spot taints equals, each once."""
    seen = [{key: text(at(taint, key)) for key in ("key", "value", "effect")} for taint in pool.taints]
    return [taint for taint in SPOT_TAINTS if taint in seen]
