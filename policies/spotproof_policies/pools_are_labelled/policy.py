"""The labels by which jobs find a pool are there and tell the truth."""

from collections.abc import Iterator

from spotproof.vocabulary import CAPACITY_LABEL, POOL_LABEL
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.node_pool import NodePool
from spotproof_policies.pools import POOL_TYPES, buys_spot, pools_in


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what is wrong with the labels of every pool in the resource."""
    for pool in pools_in(resource):
        yield from _missing(pool)
        yield from _untrue(pool)


def _missing(pool: NodePool) -> Iterator[str]:
    keys = set(pool.labels)
    if not keys & {POOL_LABEL, CAPACITY_LABEL} and not buys_spot(pool):
        return
    for key in (POOL_LABEL, CAPACITY_LABEL):
        if key not in keys:
            yield (
                f"{pool.written.subject} has no label `{key}` on its nodes, so no job can be sent to it or moved off "
                f"it. Add the label to {pool.written.labels}."
            )


def _untrue(pool: NodePool) -> Iterator[str]:
    if CAPACITY_LABEL not in set(pool.labels):
        return
    capacities = pool.capacities
    value = pool.labels[CAPACITY_LABEL]
    if isinstance(value, str) and capacities != frozenset({value}):
        bought = " or ".join(sorted(capacities)) or "whatever the node provisioner chooses"
        yield (
            f"{pool.written.subject} says {value} in the label `{CAPACITY_LABEL}` and buys {bought}, so jobs are "
            f"priced and moved on a wrong premise. Let {pool.written.capacity} and the label say the same one."
        )


POLICY = Policy(
    name="pools-are-labelled",
    description="Pools carry the labels jobs select by, and they match what the pool buys.",
    level="mandatory",
    severity="high",
    remedy="Let `pools[].name` and `pools[].capacity` write the labels.",
    url="https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/",
    judges=EachResource(POOL_TYPES, check),
)
