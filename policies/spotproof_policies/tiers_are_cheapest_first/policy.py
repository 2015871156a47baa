"""A job that falls does not fall to something cheaper."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from spotproof_policies.fallback import FALLBACK_POLICY, pool, tiers
from spotproof_policies.fallback_costs import usd
from spotproof_policies.model import Config, EachResource, Policy, Resource

_EQUAL_WITHIN: Final = 0.1
"""Of the dearer: the fallback rule takes such prices for one."""


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every tier that is dearer than the next one."""
    for tier, following in pairwise(tiers(resource)):
        here, there = usd(tier), usd(following)
        if here is not None and there is not None and there < (1 - _EQUAL_WITHIN) * here:
            yield (
                f"The tier `{pool(tier)}` costs {here:g} USD an hour and the next one `{pool(following)}` {there:g}, "
                "so jobs start on the dearer one and reach the cheaper only when it fails them. "
                "Order the tiers by price, or correct the prices file."
            )


POLICY = Policy(
    name="tiers-are-cheapest-first",
    description="No tier of a fallback policy is dearer than the next one; prices within 10 % are equal.",
    level="advisory",
    severity="medium",
    remedy="Order `fallbackPolicies[].tiers` by price, cheapest first.",
    url="policies/spotproof_policies/tiers_are_cheapest_first/README.md",
    judges=EachResource((FALLBACK_POLICY,), check),
)
