"""A job finds the same accelerators on every tier."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.fallback import FALLBACK_POLICY, pool, tiers
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, number

_WORDS = {"type": "accelerator type", "count": "accelerators per node", "memoryGib": "accelerator memory in GiB"}


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every difference between the first tier and a later one."""
    first, *later = tiers(resource) or ({},)
    for tier in later:
        for key, meaning in _WORDS.items():
            here, there = _accelerator(tier, key), _accelerator(first, key)
            if here != there:
                yield (
                    f"The tier `{pool(tier)}` has {meaning} {here} where the first tier `{pool(first)}` has {there}, "
                    "so a moved job does not fit, runs out of memory or runs at another speed than the deadline "
                    "assumes. Use pools with the same accelerators in one policy, and another policy for the others."
                )


def _accelerator(tier: Mapping[str, Any], key: str) -> str:
    value = at(tier, "accelerator", key)
    plain = number(value)
    return f"{plain:g}" if plain is not None else str(value or "none")


POLICY = Policy(
    name="tiers-are-interchangeable",
    description="All tiers of a fallback policy have the same accelerator type, memory and count.",
    level="mandatory",
    severity="high",
    remedy="Give the pools named in `fallbackPolicies[].tiers` the same `pools[].accelerator`.",
    url="policies/spotproof_policies/tiers_are_interchangeable/README.md",
    judges=EachResource((FALLBACK_POLICY,), check),
)
