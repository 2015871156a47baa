"""A dry market on the last tier: the job waits as long as it takes, and takes whatever answers first."""

from typing import Final

from spotproof.fallback.asking import ask_due
from spotproof.fallback.order import is_last
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View

LAUNCH: Final = 900
"""How long a healthy launch may take (Karpenter gives a node 15 min to register): no market is dry before."""


def dry(view: View) -> Decision | Instant:
    """Ask every other tier while the last one has no place for the job, with or without `return`."""
    tier = view.tier
    if not view.waiting or view.sight(tier).there or _is_paced(view) or not is_last(view):
        return NEVER
    waited = view.now - view.seen.since
    grace = min(tier.pending_timeout, LAUNCH)
    if waited < grace and not tier.spot:
        return view.seen.since + grace
    others = [other for other in view.policy.tiers if other is not tier]
    there = view.fresh(others)
    if there:
        after = view.cheapest(there)
        return view.move(after, Reason(Code.OTHER, (tier.pool, waited, after.pool)))
    found = ask_due(view, others)
    if isinstance(found, Decision):
        return found
    code = Code.DRY if others else Code.DRY_ALONE
    return view.remain(Reason(code, (tier.pool, waited), view.held), found)


def _is_paced(view: View) -> bool:
    """Whether the time to spare decides between waiting for spot and on-demand: then no spot tier is the last."""
    policy = view.policy
    return policy.mode == "pace" and view.tier.spot and policy.on_demand is not None and view.budget is not None
