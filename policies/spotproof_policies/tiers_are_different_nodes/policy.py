"""Two tiers of one policy are different nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.fallback import FALLBACK_POLICY, pool, tiers
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, table


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every tier that selects the nodes of one before it."""
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for tier in tiers(resource):
        selector = _selector(tier)
        if not selector:
            continue
        first = seen.setdefault(selector, pool(tier))
        if first != pool(tier):
            labels = ", ".join(f"{key}={value}" for key, value in selector)
            yield (
                f"Tiers `{first}` and `{pool(tier)}` both name the nodes with {labels}, so a job that moves from one "
                "to the other changes nothing and waits for the same capacity again. Give their pools labels that tell "
                "them apart, or remove one tier."
            )


def _selector(tier: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    labels = table(at(tier, "nodeSelector"))
    return tuple(sorted((key, str(labels[key])) for key in set(labels)))


POLICY = Policy(
    name="tiers-are-different-nodes",
    description="Every tier of a fallback policy selects nodes of its own.",
    level="mandatory",
    severity="high",
    remedy="Give the pools of `fallbackPolicies[].tiers` node labels that tell them apart, or remove a tier.",
    url="policies/spotproof_policies/tiers_are_different_nodes/README.md",
    judges=EachResource((FALLBACK_POLICY,), check),
)
