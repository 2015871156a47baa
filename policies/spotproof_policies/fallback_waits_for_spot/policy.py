"""Says what waiting for spot without bound costs in time. The choice stays the user's."""

from collections.abc import Iterator

from spotproof_policies.fallback import FALLBACK_POLICY, is_spot, pool, tiers, waits_for_ever
from spotproof_policies.model import Config, EachResource, Policy, Resource


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield the expected wait when the last tier is spot and nothing ends the stay on it."""
    last = tiers(resource)[-1:]
    for tier in last:
        if is_spot(tier) and waits_for_ever(tier):
            # 8 AWS traces of 2022, starts 0 to 1400 in steps of 10, 12 min restart: 1003 of 1128 runs end in the data.
            yield (
                f"The last tier `{pool(tier)}` is spot with maxFailures -1, so a dry spot market is waited out with no "
                "bound: on recorded AWS traces 48 h of work took 115 h on average, and 81 % of the runs that ended "
                "did so after 60 h. Add an on-demand tier at the end if the job has to be done by some day."
            )


POLICY = Policy(
    name="fallback-waits-for-spot",
    description="A fallback policy that ends on spot waits for it with no bound, which is a choice to make knowingly.",
    level="advisory",
    severity="medium",
    remedy="Add an on-demand pool as the last entry of `fallbackPolicies[].tiers`, or keep the choice.",
    url="https://www.usenix.org/conference/nsdi24/presentation/wu-zhanghao",
    judges=EachResource((FALLBACK_POLICY,), check),
)
