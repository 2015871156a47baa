"""Extra selectors and tolerations of an experiment: each is done, or refused with the reason."""

from collections.abc import Iterator, Sequence

from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.experiment.landing import Landing
from spotproof.settings.experiment.parts import Part, is_capacity_key
from spotproof.settings.near import one_of
from spotproof.settings.pools import Pool
from spotproof.vocabulary import (
    LOST_NODE_TAINTS,
    ON_DEMAND_SELECTORS,
    POOL_LABEL,
    RESERVED_LABEL_DOMAINS,
    SPOT_SELECTORS,
    TYPE_LABELS,
    ZONE_LABELS,
)


def problems(parts: Sequence[Part], landed: Sequence[Landing], env: Environment) -> Iterator[Problem]:
    """What could never be met, or would be met against what the file says elsewhere."""
    for part in parts:
        yield from _said_twice(part)
        yield from _capacities(part)
        yield from _tolerations(part)
        yield from _pool_keys(part)
    for landing in landed:
        yield from _against_the_pool(landing)
        yield from _unknown_labels(landing, env)
        yield from _out_of_reach(landing, env)


def _said_twice(part: Part) -> Iterator[Problem]:
    first: dict[str, tuple[str, str]] = {}
    for at, key, value in part.selectors():
        if key in first and first[key][1] != value:
            yield Problem(
                at,
                f"is {shown(value)}, and {first[key][0]} is {shown(first[key][1])}",
                "a pod has one value for a label",
                "Keep one of them",
            )
        first.setdefault(key, (at, value))


def _capacities(part: Part) -> Iterator[Problem]:
    for at, key, value in part.selectors():
        words = [words[key] for words in (SPOT_SELECTORS, ON_DEMAND_SELECTORS) if key in words]
        if is_capacity_key(key) and value not in words:
            yield Problem(
                at,
                f"is {shown(value)}, which is no capacity a pool here has",
                "the pods would wait for ever",
                f"Write {one_of(shown(word) for word in words)}",
            )
    named = list(part.capacity_selectors.items())
    for at, (said, capacity) in named[1:]:
        first, (other, wanted) = named[0]
        if capacity != wanted:
            yield Problem(
                at,
                f"selects {capacity} ({said}), and {first} selects {wanted} ({other})",
                "no node is both",
                "Keep one of them",
            )


def _against_the_pool(landing: Landing) -> Iterator[Problem]:
    """With a policy the tiers decide, and that is said; a pool that contradicts the file is a mistake in it."""
    if landing.moves:
        return
    for at, (said, capacity) in landing.part.capacity_selectors.items():
        if capacity != landing.pool.capacity:
            yield Problem(
                at,
                f"selects {capacity} ({said}), and the role lands on {landing.pool.name}, which is "
                f"{landing.pool.capacity}",
                "no node is both",
                f"Remove it, or name a pool that is {capacity}",
            )


def _pool_keys(part: Part) -> Iterator[Problem]:
    for at, key, value in part.selectors():
        if key == POOL_LABEL:
            yield Problem(
                at,
                f"is {shown(value)}",
                "it would stand against the pool that is chosen by `pool` or by a fallback policy",
                f"Write `pool: {value}` beside the role's count, or in spec",
            )


def _unknown_labels(landing: Landing, env: Environment) -> Iterator[Problem]:
    """Nodes that are made here carry our labels and the cloud's; Karpenter launches nothing for another one."""
    if not env.provider.makes_nodes:
        return
    for at, key, value in landing.part.selectors():
        if is_capacity_key(key) or key == POOL_LABEL or _of_the_cloud(key, env):
            continue
        yield Problem(
            at,
            f"is {shown(value)}, a label that no node of this stack has",
            "the pods would wait for ever",
            "Remove it; `pool` names the nodes by their pool",
        )


def _of_the_cloud(key: str, env: Environment) -> bool:
    domain = key.partition("/")[0] if "/" in key else ""
    known = (*RESERVED_LABEL_DOMAINS, *filter(None, [env.provider.node_class_group]))
    return any(domain == name or domain.endswith(f".{name}") for name in known)


def _out_of_reach(landing: Landing, env: Environment) -> Iterator[Problem]:
    for at, key, value in landing.part.selectors():
        for pool in landing.pools:
            offered = _offered(key, pool, env)
            if offered and value not in offered:
                yield Problem(
                    at,
                    f"is {shown(value)}, and pool {pool.name} has {one_of(offered)}",
                    "the pods would wait there for ever",
                    "Remove it, or name a pool that has it; a policy's tiers must all have it",
                )
                break


def _offered(key: str, pool: Pool, env: Environment) -> tuple[str, ...]:
    if pool.node_labels and key in pool.node_labels:
        return (pool.node_labels[key],)
    if key in ZONE_LABELS:
        return env.zones_of(pool)
    return pool.instance_types if key in TYPE_LABELS else ()


def _tolerations(part: Part) -> Iterator[Problem]:
    for at, toleration in part.tolerations():
        if toleration.key in LOST_NODE_TAINTS:
            yield Problem(
                f"{at}.key",
                f"is {toleration.key}, which every rendered job tolerates for a short while",
                "the shorter of the two would count, so this one would have no effect",
                "Remove it",
            )
