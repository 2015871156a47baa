"""`return`: back to a cheaper tier, after a stay so long that a flickering market does not cost a restart each time."""

from spotproof.fallback.asking import ask_due
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View


def climb(view: View) -> Decision | Instant:
    """Ask cheaper tiers once the job has stayed its time, and take the first that answers.

    With a deadline only while leaving and coming back once would still end in time.
    """
    policy, tier = view.policy, view.tier
    cheaper = policy.cheaper[tier.pool]
    if policy.min_stay is None or not cheaper or view.waiting:
        return NEVER
    stayed = view.now - view.state.arrived
    if stayed < policy.min_stay:
        reason = Reason(Code.MIN_STAY, (tier.pool, stayed, policy.min_stay))
        return view.remain(reason, view.state.arrived + policy.min_stay)
    budget = view.budget
    if budget is not None and budget.spare < 0:
        return NEVER
    if budget is not None and not budget.may_start():
        # the guard would refuse the return, and a tier would be asked for nothing
        return view.now + budget.until_done()
    there = view.fresh(cheaper)
    if there:
        after = view.cheapest(there)
        return view.move(after, Reason(Code.RETURN, (tier.pool, after.pool)))
    return ask_due(view, cheaper)
