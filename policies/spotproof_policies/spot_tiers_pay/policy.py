"""A spot tier is cheaper than on-demand by more than its evictions cost."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spotproof.economics.break_even import break_even_mtbf_seconds, pays
from spotproof.economics.checkpoints import Cycle
from spotproof_policies.fallback import FALLBACK_POLICY, pool
from spotproof_policies.fallback_costs import (
    CHECKPOINT_WRITE_SECONDS,
    EVICTIONS_PER_HOUR,
    cycle,
    last_on_demand,
    percent,
    spot_tiers,
    time,
    usd,
)
from spotproof_policies.model import Config, EachResource, Policy, Resource

_HARDLY_CHEAPER: Final = 0.9
"""Of on-demand. Prices within 10 % are one price to the fallback rule too: it would never climb back to such a tier."""


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield every spot tier whose discount its evictions use up."""
    fallback = last_on_demand(resource)
    dear = usd(fallback) if fallback else None
    if fallback is None or dear is None:
        return
    repeated = cycle(resource, config)
    for tier in spot_tiers(resource):
        cheap = usd(tier)
        if cheap is None:
            continue
        share = cheap / dear
        prices = f"{percent(share)} of the on-demand tier `{pool(fallback)}` ({cheap:g} of {dear:g} USD an hour)"
        if share > _HARDLY_CHEAPER:
            yield (
                f"The spot tier `{pool(tier)}` costs {prices}, so evictions are paid for and next to nothing is saved. "
                "Remove the tier, or correct its price in the prices file if it is out of date."
            )
        elif repeated and not pays(share, config["evictionsPerHour"], repeated):
            yield _loses(tier, prices, share, config["evictionsPerHour"], repeated)


def _loses(tier: Mapping[str, Any], prices: str, share: float, rate: float, repeated: Cycle) -> str:
    slow = repeated.slowdown(rate)
    return (
        f"At {rate:g} evictions an hour, with a restart of {time(repeated.restart)} and checkpoints every "
        f"{time(repeated.every)}, an hour of work takes {slow:.2f} h on the spot tier `{pool(tier)}`, which costs "
        f"{prices}; so an hour of work costs as much as {share * slow:.2f} h of on-demand, where on-demand needs "
        f"{repeated.overhead:.2f}. Spot pays here from {time(break_even_mtbf_seconds(share, repeated))} between two "
        "evictions on: write checkpoints more often, shorten the restart, or remove the tier."
    )


POLICY = Policy(
    name="spot-tiers-pay",
    description="A spot tier is cheaper than the last on-demand tier by more than its evictions cost.",
    level="advisory",
    severity="high",
    remedy="Remove the tier from `fallbackPolicies[].tiers`, or correct `deadline.restart`, `deadline.checkpointEvery` "
    "or the prices file.",
    url="docs/how-to/choose-max-failures.md",
    judges=EachResource((FALLBACK_POLICY,), check),
    config_schema={**EVICTIONS_PER_HOUR, **CHECKPOINT_WRITE_SECONDS},
)
