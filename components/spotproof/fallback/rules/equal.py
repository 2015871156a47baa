"""Tiers of one price are equals: a job without a place takes the first that answers."""

from spotproof.fallback.asking import ask_due
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View


def equal(view: View) -> Decision | Instant:
    """Ask all equal tiers at once while the job waits; those that are used up are left out."""
    tier = view.tier
    if not view.waiting or view.sight(tier).there:
        return NEVER
    others = [other for other in view.policy.equals[tier.pool] if not view.spent(other)]
    there = view.fresh(others)
    if there:
        after = view.first(there)
        return view.move(after, Reason(Code.EQUAL, (tier.pool, after.pool)))
    return ask_due(view, others)
