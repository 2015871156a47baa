"""pendingTimeout: how long a job waits for a place before it goes down the list."""

from spotproof.fallback.order import next_tier
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View


def pending(view: View) -> Decision | Instant:
    """Move a job that has waited too long, while it still has no place."""
    tier = view.tier
    if not view.waiting or view.sight(tier).there:
        return NEVER
    after = next_tier(view)
    if after is None:
        return NEVER
    waited = view.now - view.seen.since
    if waited < tier.pending_timeout:
        return view.seen.since + tier.pending_timeout
    return view.move(after, Reason(Code.TIMEOUT, (tier.pool, waited, tier.pending_timeout, after.pool)))
