"""Interruptions beyond maxFailures: a tier tolerates M, number M + 1 moves the job, as Ray and JobSet mean it."""

from spotproof.fallback.order import next_tier
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View


def failures(view: View) -> Decision | Instant:
    """Move a job whose tier has failed it too often; on the last tier there is nowhere to go, and it says so."""
    tier = view.tier
    if not view.spent(tier):
        return NEVER
    count, limit = view.failures(tier), tier.max_failures
    after = next_tier(view)
    if after is None:
        reason = Reason(Code.USED_UP, (tier.pool, count, limit))
        return NEVER if view.waiting else view.remain(reason)
    return view.move(after, Reason(Code.FAILURES, (tier.pool, count, limit, after.pool)))
