"""The labels by which jobs find a pool are there, are strings and tell the truth."""

from collections.abc import Iterator

from spotproof.vocabulary import CAPACITY_LABEL, POOL_LABEL, RESERVED_LABEL_DOMAINS
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import POOL_TYPES, NodePool, buys_spot, read

# Inside kubernetes.io, but made for users: the kubelet may not write it, everybody else may.
_OPEN_DOMAIN = "node-restriction.kubernetes.io"


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what is wrong with the labels of one pool."""
    pool = read(resource)
    yield from _reserved(pool)
    yield from _missing(pool)
    yield from _not_text(pool)
    yield from _untrue(pool)


def _reserved(pool: NodePool) -> Iterator[str]:
    for key in sorted(set(pool.labels)):
        domain = key.rpartition("/")[0]
        if domain.endswith(_OPEN_DOMAIN):
            continue
        if any(domain == reserved or domain.endswith(f".{reserved}") for reserved in RESERVED_LABEL_DOMAINS):
            yield (
                f"The label `{key}` is in the reserved domain {domain}, so the API server refuses the pool or the "
                "cloud overwrites the value. Use a label in a domain of your own."
            )


def _missing(pool: NodePool) -> Iterator[str]:
    keys = set(pool.labels)
    if not keys & {POOL_LABEL, CAPACITY_LABEL} and not buys_spot(pool):
        return
    for key in (POOL_LABEL, CAPACITY_LABEL):
        if key not in keys:
            yield (
                f"The node template has no label `{key}`, so no job can be sent to this pool or moved off it. "
                f"Add the label to spec.template.metadata.labels."
            )


def _not_text(pool: NodePool) -> Iterator[str]:
    for key in sorted(set(pool.labels)):
        value = pool.labels[key]
        if not isinstance(value, str):
            kind = "a boolean" if isinstance(value, bool) else "not a string"
            yield (
                f"The value of the label `{key}` is {kind}, so the API server refuses the pool, and a selector "
                'that compares strings never matches. Write it in quotes, for example "true".'
            )


def _untrue(pool: NodePool) -> Iterator[str]:
    if CAPACITY_LABEL not in set(pool.labels):
        return
    capacities = pool.capacities
    value = pool.labels[CAPACITY_LABEL]
    if isinstance(value, str) and capacities != frozenset({value}):
        bought = " or ".join(sorted(capacities)) or "whatever the node provisioner chooses"
        yield (
            f"The label `{CAPACITY_LABEL}` says {value} and the pool buys {bought}, so jobs are priced and moved on a "
            "wrong premise. Give the pool one capacity type and the label the same value."
        )


POLICY = Policy(
    name="pools-are-labelled",
    description="Pools carry the labels jobs select by, as strings, and they match what the pool buys.",
    level="mandatory",
    severity="high",
    remedy="Let `pools[].name` and `pools[].capacity` write the labels; own labels stay out of reserved domains.",
    url="https://karpenter.sh/docs/concepts/nodepools/",
    judges=EachResource(POOL_TYPES, check),
)
