"""Pace has prices to weigh, and something to save."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.fallback import FALLBACK_POLICY, deadline_mode, pool, tiers
from spotproof_policies.fallback_costs import usd
from spotproof_policies.model import Config, EachResource, Policy, Resource

_EQUAL_WITHIN: Final = 0.1
"""Of the dearer: the fallback rule takes such prices for one."""


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what keeps the pace from being one: a price that nobody knows, or prices that are all the same."""
    if deadline_mode(resource) != "pace":
        return
    priced = [(pool(tier), usd(tier)) for tier in tiers(resource)]
    known = [price for _, price in priced if price is not None]
    if unknown := [f"`{name}`" for name, price in priced if price is None]:
        tier = "tier" if len(unknown) == 1 else "tiers"
        yield (
            f"The deadline mode is pace and no price is known of the {tier} {', '.join(unknown)}, so the order of the "
            "list stands in for the saving that waiting is weighed against. "
            "Write the price into the prices file, or deadline.mode: guard."
        )
    elif len(known) > 1 and min(known) >= (1 - _EQUAL_WITHIN) * max(known):
        yield (
            f"The deadline mode is pace and all tiers cost the same ({min(known):g} to {max(known):g} USD an hour), so "
            "a job that waits for a cheaper one loses time and saves nothing. Write deadline.mode: guard."
        )


POLICY = Policy(
    name="pace-knows-its-prices",
    description="Deadline mode pace has a price for every tier, and a cheaper one to wait for.",
    level="advisory",
    severity="medium",
    remedy="Add the prices to the prices file (`prices`), or write `deadline: guard`.",
    url="policies/spotproof_policies/pace_knows_its_prices/README.md",
    judges=EachResource((FALLBACK_POLICY,), check),
)
