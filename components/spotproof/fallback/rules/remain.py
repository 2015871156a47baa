"""The last rule: leave the job where it is."""

from spotproof.fallback.order import is_last
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import Decision, Instant
from spotproof.fallback.view import View


def remain(view: View) -> Decision | Instant:
    """Say whether the job runs, is being placed, or waits, and for how long it may."""
    tier = view.tier
    if not view.waiting:
        return view.remain(Reason(Code.RUNNING, (tier.pool,)))
    if view.sight(tier).there:
        return view.remain(Reason(Code.PLACED, (tier.pool,)))
    waited = view.now - view.seen.since
    if is_last(view):
        return view.remain(Reason(Code.LAST, (tier.pool, waited), view.held))
    return view.remain(Reason(Code.WAITING, (tier.pool, waited, tier.pending_timeout), view.held))
