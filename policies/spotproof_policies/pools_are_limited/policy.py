"""Every pool has a node limit above zero."""

from collections.abc import Iterator

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import POOL_TYPES, read


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield the missing or useless limit of one pool."""
    max_nodes = read(resource).max_nodes
    if max_nodes is None:
        yield (
            "This pool has no limit on its nodes, so one job with a wrong count buys GPU nodes until the account's "
            "quota stops it. Write the largest number of nodes in spec.limits.nodes."
        )
    elif max_nodes <= 0:
        yield (
            "This pool is limited to 0 nodes, so every job sent to it waits for ever. "
            "Write a limit of at least 1 in spec.limits.nodes, or remove the pool."
        )


POLICY = Policy(
    name="pools-are-limited",
    description="Every pool has a limit on its nodes that is above zero.",
    level="mandatory",
    severity="high",
    remedy="Write `pools[].maxNodes`; in a program of your own, write spec.limits.nodes (a flat map).",
    url="https://karpenter.sh/docs/concepts/nodepools/",
    judges=EachResource(POOL_TYPES, check),
)
