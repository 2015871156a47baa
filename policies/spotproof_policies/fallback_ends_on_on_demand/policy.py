"""The last tier is one that can always be bought, unless the user chose to wait for spot."""

from collections.abc import Iterator

from spotproof_policies.fallback import FALLBACK_POLICY, deadline_mode, is_spot, pool, tiers, waits_for_ever
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, number


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield why the list of tiers of one fallback policy leads nowhere."""
    all_tiers = tiers(resource)
    if not all_tiers:
        yield (
            "This fallback policy has no tiers, so no job that names it can start. "
            "List at least one spot tier and one on-demand tier."
        )
        return
    last = all_tiers[-1]
    if not is_spot(last):
        return
    if not waits_for_ever(last):
        yield (
            f"The last tier `{pool(last)}` is spot and tolerates {_failures(last)}, so the failure after that has "
            "nowhere to go. Add an on-demand tier at the end, or write maxFailures: -1 to wait for spot without bound."
        )
    mode = deadline_mode(resource)
    if mode == "guard" and all(is_spot(tier) for tier in all_tiers):
        yield (
            "The deadline mode is guard and every tier is spot, so the guard has no capacity to escape to and a dry "
            "spot market breaks the deadline. Add an on-demand tier at the end."
        )
    if mode == "pace":
        yield (
            f"The deadline mode is pace and the last tier `{pool(last)}` is spot, so a job that has come down the list "
            "has no on-demand tier to catch up on and a dry spot market breaks the deadline. "
            "Add an on-demand tier at the end."
        )


def _failures(tier: object) -> str:
    count = number(at(tier, "maxFailures"))
    return "no stated number of failures" if count is None else f"{count:g} failures"


POLICY = Policy(
    name="fallback-ends-on-on-demand",
    description="A fallback policy ends on on-demand; without a deadline it may wait for spot with maxFailures -1.",
    level="mandatory",
    severity="high",
    remedy="Add an on-demand pool as the last entry of `fallbackPolicies[].tiers`.",
    url="https://www.usenix.org/conference/nsdi24/presentation/wu-zhanghao",
    judges=EachResource((FALLBACK_POLICY,), check),
)
