"""No tier gives up on a node that is merely still starting."""

from collections.abc import Iterator

from spotproof_policies.fallback import FALLBACK_POLICY, pool, tiers
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, minutes

# Karpenter drops a node that has not registered 15 min after its launch; before that it may still arrive.
_PROVISIONING_MINUTES = 15


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield every tier but the last that waits for ever, or shorter than a healthy launch takes."""
    minimum = config["minimumMinutes"]
    for tier in tiers(resource)[:-1]:
        written = at(tier, "pendingTimeout")
        waited = minutes(written)
        if written is None:
            yield (
                f"The tier `{pool(tier)}` has no pendingTimeout, so a job that cannot be placed there waits for ever "
                "and never reaches the next tier. Write one, for example 1h."
            )
        elif waited is None:
            yield (
                f"The pendingTimeout of tier `{pool(tier)}` is `{written}`, which is no duration, so the controller "
                "refuses the policy. Write it as 90s, 30m, 2h or 1h30m."
            )
        elif waited < minimum:
            yield (
                f"The pendingTimeout of tier `{pool(tier)}` is {written}, shorter than a healthy launch may take "
                f"({minimum:g} min), so jobs leave a tier that was about to serve them. Write {minimum:g}m or more."
            )


POLICY = Policy(
    name="tiers-wait-long-enough",
    description="Every tier but the last waits for nodes, with a bound that is not shorter than provisioning.",
    level="mandatory",
    severity="medium",
    remedy="Write `fallbackPolicies[].tiers[].pendingTimeout`; 1h suits most jobs.",
    url="https://karpenter.sh/docs/concepts/disruption/",
    judges=EachResource((FALLBACK_POLICY,), check),
    config_schema={
        "minimumMinutes": {
            "type": "number",
            "minimum": 0,
            "default": _PROVISIONING_MINUTES,
            "description": "The shortest pendingTimeout, in minutes: launch, registration and image pull.",
        }
    },
)
