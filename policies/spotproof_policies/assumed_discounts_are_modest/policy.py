"""A discount that nobody has seen is not taken for a large one."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.fallback import FALLBACK_POLICY, pool
from spotproof_policies.fallback_costs import last_on_demand, percent, spot_tiers, usd
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, text

_TOO_CHEAP: Final = 0.12
"""Of on-demand. GPU spot was at 15 to 35 % of it on AWS in US regions (p5, p4d) and at 18 to 71 % on GCP (A3)."""
_ASSUMED: Final = "assumed"


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every spot tier whose discount is about 90 % and a guess."""
    fallback = last_on_demand(resource)
    dear = usd(fallback) if fallback else None
    if fallback is None or dear is None:
        return
    for tier in spot_tiers(resource):
        cheap = usd(tier)
        if cheap is not None and cheap < _TOO_CHEAP * dear and _ASSUMED in text(at(tier, "priceSource")):
            yield (
                f"The price of the spot tier `{pool(tier)}` is assumed and {percent(cheap / dear)} of that of "
                f"`{pool(fallback)}` on demand ({cheap:g} of {dear:g} USD an hour), less than GPU spot mostly costs, "
                "so every saving that follows from it is too good. Look the price up and write it into the prices file."
            )


POLICY = Policy(
    name="assumed-discounts-are-modest",
    description="A spot price that is assumed is not under 12 % of the on-demand price.",
    level="advisory",
    severity="medium",
    remedy="Write the spot price of the day into the prices file (`prices`).",
    url="docs/how-to/choose-max-failures.md",
    judges=EachResource((FALLBACK_POLICY,), check),
)
