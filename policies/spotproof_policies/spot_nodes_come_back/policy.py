"""A reclaimed node of an AKS agent pool is replaced, and leaves nothing behind."""

from collections.abc import Iterator

from spotproof_policies.aks_pools import AKS_AGENT_POOL, AksPool
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import buys_spot, trains
from spotproof_policies.reading import at


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what keeps a spot pool for training from getting its nodes again."""
    pool = AksPool(resource.props)
    if not trains(pool) or not buys_spot(pool):
        return
    if at(pool.props, "enableAutoScaling") is not True:
        yield (
            "This spot pool has no autoscaler, and AKS replaces no evicted node by itself, so the pool shrinks with "
            "every eviction until jobs wait for ever. Write enableAutoScaling: true with minCount and maxCount."
        )
    if at(pool.props, "scaleSetEvictionPolicy") == "Deallocate":
        yield (
            "Evicted nodes of this pool are deallocated and stay as NotReady nodes whose disks and quota are paid for, "
            'so the autoscaler counts them and buys none. Write scaleSetEvictionPolicy: "Delete".'
        )


POLICY = Policy(
    name="spot-nodes-come-back",
    description="A spot agent pool of AKS that trains has the autoscaler and deletes evicted nodes.",
    level="mandatory",
    severity="high",
    remedy="Pools of the settings are written so; in a program of your own write what the sentence names.",
    url="https://learn.microsoft.com/azure/aks/spot-node-pool",
    judges=EachResource((AKS_AGENT_POOL,), check),
)
