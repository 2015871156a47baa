"""Every pool has a node limit, and one that trains has a limit above zero."""

from collections.abc import Iterator

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.node_pool import NodePool
from spotproof_policies.pools import POOL_TYPES, pools_in, trains


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield the missing or useless limit of every pool in the resource."""
    for pool in pools_in(resource):
        yield from _wrong(pool)


def _wrong(pool: NodePool) -> Iterator[str]:
    written = pool.written
    max_nodes = pool.max_nodes
    if max_nodes is None:
        yield (
            f"{written.subject} has no limit on its nodes, so one job with a wrong count buys GPU nodes until the "
            f"account's quota stops it. Write the largest number of nodes in {written.max_nodes}."
        )
    elif max_nodes <= 0 and trains(pool):
        yield (
            f"{written.subject} is limited to 0 nodes, so every job sent to it waits for ever. "
            f"Write a limit of at least 1 in {written.max_nodes}, or remove the pool."
        )


POLICY = Policy(
    name="pools-are-limited",
    description="Every pool has a limit on its nodes, and a training pool one above zero.",
    level="mandatory",
    severity="high",
    remedy="Write `pools[].maxNodes`; in a program of your own, write the field that the sentence names.",
    url="https://karpenter.sh/docs/concepts/nodepools/",
    judges=EachResource(POOL_TYPES, check),
)
