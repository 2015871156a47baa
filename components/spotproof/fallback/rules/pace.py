"""The spare-share rule: with a deadline, the time to spare decides between waiting, spot and on-demand.

Uniform Progress leaves on-demand when it is ahead of a linear schedule; what leaving costs is fixed, so this rule asks
how long spot has been up and how much time is spare. On recorded markets that saves 2 to 3 points more.

Spot tiers of different prices are the same question with less at stake: between two tiers the share asked for is
divided by the part of the whole saving that lies between their prices. No constant was fitted for it, and halving or
doubling the part gains nothing on recorded markets (docs/economics.md).
"""

from collections.abc import Iterable, Sequence
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

CHEAP_PROBE: Final = 90
"""Seconds of the whole job's nodes: on recorded markets probes ahead of need gain 0.1 points where they cost 60, and
lose 1.0 to 3.3 where they cost 600."""


def pace(view: View) -> Decision | Instant:
    """Decide everything for a job that names deadline and work; nothing for others."""
    budget = view.budget
    if view.policy.mode != "pace" or budget is None or not view.policy.spot:
        return NEVER
    if view.waiting and view.tier.spot:
        return _idle(view, budget)
    return _running(view, budget)


def _running(view: View, budget: Budget) -> Decision | Instant:
    """Leave for the first tier, in the order of the policy, that has been up long enough for what is spare.

    Only for a cheaper one: among equals the job stays until it is evicted, for a move there provably cannot pay.
    """
    policy, here = view.policy, view.tier
    cheaper = policy.below[here.pool]
    if not cheaper:
        return view.remain(Reason(Code.RUNNING, (here.pool,)))
    there = view.in_order(view.there(cheaper))
    next_at = NEVER
    for tier in there:
        age, stake = view.now - view.failed(tier), policy.stake(here, tier)
        if not spare.may_leave(budget, age, stake):
            next_at = min(next_at, view.now + spare.until_leave(budget, age, stake))
        elif budget.may_start():
            if view.sight(tier).asking:
                continue
            if not view.is_fresh(tier):
                return view.ask(tier)
            # of a tier that was never seen without room the job knows for as long as it is there
            known = min(age, view.now - view.state.created)
            numbers = (spare.share(budget), spare.needed(budget, age, stake), tier.pool, known)
            return view.move(tier, Reason(Code.SPARE_LEAVE, numbers))
        else:
            next_at = min(next_at, view.now + budget.until_done())
    if policy.probe_every and budget.spare >= 0:
        turn = _turn(view, budget, cheaper)
        if turn <= view.now:
            return view.ask(view.first(cheaper))
        next_at = min(next_at, turn)
    if view.waiting:
        return next_at
    return view.remain(_staying(view, budget, there), next_at)


def _staying(view: View, budget: Budget, there: list[Tier]) -> Reason:
    pool = view.tier.pool
    if view.tier.spot:
        return Reason(Code.RUNNING, (pool,))
    if not there:
        return Reason(Code.NO_SPOT, (pool,))
    best = there[0]
    least = spare.needed(budget, view.now - view.failed(best), view.policy.stake(view.tier, best))
    return Reason(Code.SPARE_KEEP, (spare.share(budget), least, pool))


def _turn(view: View, budget: Budget, tiers: Sequence[Tier]) -> Instant:
    """When the next of several tiers is asked: one at each turn, whichever it is.

    A dear probe is made once a yes could be acted on, a cheap one before, to learn how long the tier has been up.
    """
    policy, state = view.policy, view.state
    asked = [at for tier in tiers if (at := view.sight(tier).asked) is not None]
    turn = max(asked) + policy.probe_every if asked else view.now
    if turn > view.now or policy.probe_seconds * (1 if policy.probe_all else 1 / state.nodes) <= CHEAP_PROBE:
        return turn
    tier = view.first(tiers)
    sight, stake = view.sight(tier), policy.stake(view.tier, tier)
    age = 0 if sight.down is None else view.now - sight.down
    age = age if sight.there else age // 2
    return view.now if spare.may_leave(budget, age, stake) else view.now + spare.until_leave(budget, age, stake)


def _idle(view: View, budget: Budget) -> Decision | Instant:
    """Take the cheapest tier that is there; else ask every tier once; else wait, or pay for on-demand."""
    tiers = view.policy.spot
    others = [tier for tier in tiers if tier is not view.tier]
    there = view.fresh(others)
    if view.sight(view.tier).there:
        there.append(view.tier)
    if there:
        return _take(view, budget, view.first(there))
    unasked = [tier for tier in others if _is_unasked(view, tier)]
    if unasked:
        return view.ask(view.first(unasked))
    outage, pay = _outage(view, tiers), view.policy.on_demand
    numbers = (spare.share(budget), spare.kept(outage))
    if pay is not None and not spare.may_wait(budget, outage):
        return view.move(pay, Reason(Code.SPARE_PAY, (*numbers, pay.pool)))
    due = ask_due(view, others)
    if isinstance(due, Decision):
        return due
    next_at = due if pay is None else min(due, view.now + spare.until_no_wait(budget, outage))
    return view.remain(Reason(Code.SPARE_WAIT, numbers, view.held), next_at)


def _take(view: View, budget: Budget, tier: Tier) -> Decision | Instant:
    """Take a tier that is there, unless so much is spare that waiting for a cheaper one is worth it."""
    reason = Reason(Code.SPOT_THERE, (tier.pool,))
    cheaper = view.policy.below[tier.pool]
    if cheaper:
        best, outage = view.first(cheaper), _outage(view, cheaper)
        stake = view.policy.stake(tier, best)
        if spare.may_wait(budget, outage, stake):
            numbers = (spare.share(budget), spare.kept(outage, stake), tier.pool)
            waits = Reason(Code.SPARE_DECLINE, numbers, view.held)
            if view.tier not in cheaper:
                return view.move(best, waits)
            due = ask_due(view, [other for other in view.policy.spot if other is not view.tier])
            if isinstance(due, Decision):
                return due
            return view.remain(waits, min(due, view.now + spare.until_no_wait(budget, outage, stake)))
    return view.remain(reason) if tier is view.tier else view.move(tier, reason)


def _is_unasked(view: View, tier: Tier) -> bool:
    """Whether a tier still has to be asked once before on-demand is paid."""
    if not view.policy.probe_every or view.now - view.seen.since > SWEEP:
        return False
    asked = view.sight(tier).asked
    return asked is None or asked < view.seen.since


def _outage(view: View, tiers: Iterable[Tier]) -> int:
    """Seconds since any of the tiers was seen with capacity; none of them yet: since the job was made."""
    return view.now - max(view.state.created if (up := view.sight(tier).up) is None else up for tier in tiers)
