"""The spare-share rule: with a deadline, the time to spare decides between waiting, spot and on-demand.

Uniform Progress leaves on-demand when it is ahead of a linear schedule; what leaving costs is fixed, so this rule asks
how long spot has been up and how much time is spare. On recorded markets that saves 2 to 3 points more.
"""

from typing import Final

from spotproof.fallback import spare
from spotproof.fallback.asking import ask_due
from spotproof.fallback.budget import Budget
from spotproof.fallback.policy import Tier
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View

SWEEP: Final = 2_400
"""Seconds after which on-demand is paid without having asked every tier once: with slow answers a longer sweep cost
0.7 points."""


def pace(view: View) -> Decision | Instant:
    """Decide everything for a job that names deadline and work; nothing for others."""
    budget = view.budget
    if view.policy.mode != "pace" or budget is None or not view.policy.spot:
        return NEVER
    if not view.tier.spot:
        return _on_demand(view, budget)
    return _idle(view, budget) if view.waiting else _on_spot(view)


def _on_spot(view: View) -> Decision | Instant:
    """Stay until evicted: a move between equal tiers provably cannot pay."""
    return view.remain(Reason(Code.RUNNING, (view.tier.pool,)))


def _idle(view: View, budget: Budget) -> Decision | Instant:
    tiers = view.policy.spot
    there = [tier for tier in tiers if (tier is view.tier and view.sight(tier).there)] + view.fresh(
        [tier for tier in tiers if tier is not view.tier]
    )
    if there:
        tier = view.first(there)
        reason = Reason(Code.SPOT_THERE, (tier.pool,))
        return view.remain(reason) if tier is view.tier else view.move(tier, reason)
    others = [tier for tier in tiers if tier is not view.tier]
    unasked = [tier for tier in others if _unasked(view, tier)]
    if unasked:
        return view.ask(view.first(unasked))
    outage = view.now - max(_up(view, tier) for tier in tiers)
    numbers = (spare.share(budget), spare.kept(outage))
    pay = view.policy.on_demand
    if pay is None or spare.may_wait(budget, outage):
        due = ask_due(view, others)
        if isinstance(due, Decision):
            return due
        next_at = due if pay is None else min(due, view.now + spare.until_no_wait(budget, outage))
        return view.remain(Reason(Code.SPARE_WAIT, numbers, view.held), next_at)
    return view.move(pay, Reason(Code.SPARE_PAY, (*numbers, pay.pool)))


def _unasked(view: View, tier: Tier) -> bool:
    asked = view.sight(tier).asked
    if not view.policy.probe_every or view.now - view.seen.since > SWEEP:
        return False
    return asked is None or asked < view.seen.since


def _up(view: View, tier: Tier) -> Instant:
    up = view.sight(tier).up
    return view.state.created if up is None else up


def _on_demand(view: View, budget: Budget) -> Decision | Instant:
    """Leave for the first tier, in the order of the policy, that has been up long enough for what is spare."""
    tiers = view.policy.spot
    there = view.in_order(view.there(tiers))
    next_at = NEVER
    for tier in there:
        age = view.now - view.failed(tier)
        if not spare.may_leave(budget, age):
            next_at = min(next_at, view.now + spare.until_leave(budget, age))
        elif budget.may_start():
            if not view.is_fresh(tier):
                return view.ask(tier)
            numbers = (spare.share(budget), spare.needed(budget, age), tier.pool, age)
            return view.move(tier, Reason(Code.SPARE_LEAVE, numbers))
        else:
            next_at = min(next_at, view.now + budget.until_done())
    if view.policy.probe_every and budget.spare >= 0:
        turn = _turn(view)
        if turn <= view.now:
            return view.ask(view.first(tiers))
        next_at = min(next_at, turn)
    if view.waiting:
        return next_at
    if not there:
        return view.remain(Reason(Code.NO_SPOT, (view.tier.pool,)), next_at)
    least = spare.needed(budget, view.now - view.failed(there[0]))
    return view.remain(Reason(Code.SPARE_KEEP, (spare.share(budget), least, view.tier.pool)), next_at)


def _turn(view: View) -> Instant:
    """One tier is asked at each turn, whichever it is."""
    asked = [at for tier in view.policy.spot if (at := view.sight(tier).asked) is not None]
    return max(asked) + view.policy.probe_every if asked else view.now
