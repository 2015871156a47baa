"""Tiers of one price are equals: a job without a place takes the first that answers."""

from spotproof.fallback.asking import ask_due
from spotproof.fallback.history import TAKEN_AGAIN
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View


def equal(view: View) -> Decision | Instant:
    """Ask all equal tiers at once while the job waits; those that are used up are left out.

    So are those that were left twice since the job last ran: where one node can be had and a whole gang cannot, a job
    went from one equal tier to the other and back, its clock began anew each time, and on-demand was never paid.
    """
    tier = view.tier
    if not view.waiting or view.sight(tier).there:
        return NEVER
    equals, left = view.policy.equals[tier.pool], view.state.waited
    others = [other for other in equals if left.count(other.pool) < TAKEN_AGAIN and not view.spent(other)]
    there = view.fresh(others)
    if there:
        after = view.first(there)
        return view.move(after, Reason(Code.EQUAL, (tier.pool, after.pool)))
    return ask_due(view, others)
