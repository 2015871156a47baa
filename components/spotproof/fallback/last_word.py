"""What comes after the rules: the brake on flapping, and the guard of the deadline, which has the last word."""

from spotproof.fallback.budget import Budget
from spotproof.fallback.history import HOUR
from spotproof.fallback.policy import Tier
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Action, Decision
from spotproof.fallback.view import View


def brake(view: View, decision: Decision) -> Decision:
    """At most maxMovesPerHour moves of one job within an hour; the next is made when the oldest has aged out."""
    limit = view.policy.max_moves_per_hour
    if decision.action is not Action.MOVE or not limit or len(view.state.moves) < limit:
        return decision
    recent = [at for at in view.state.moves if at > view.now - HOUR]
    if len(recent) < limit:
        return decision
    reason = Reason(Code.BRAKE, (len(recent), limit), view.seen.nodes_held if view.waiting else 0)
    return view.remain(reason, recent[-limit] + HOUR)


def guard(view: View, decision: Decision) -> Decision:
    """On-demand, if after this decision it could no longer end in time.

    Exact under the assumption that an on-demand node starts within the restart time; `margin` is for when it does not.
    """
    budget, escape = view.budget, view.policy.on_demand
    if budget is None or escape is None or (view.waiting and not view.tier.spot):
        # a job that on-demand has no place for takes whatever answers
        return decision
    stays = decision.action is not Action.MOVE
    tier = view.tier if stays else view.policy.by_pool[decision.tier]
    if not tier.spot:
        return decision
    if not _in_time(view, budget, tier, stays=stays):
        reason = _reason(view, budget, escape)
        return view.move(escape, reason) if view.tier.spot else view.remain(reason)
    until = budget.until_short()
    if until == NEVER or decision.next_at <= view.now + until:
        return decision
    return decision._replace(next_at=view.now + until)


def _in_time(view: View, budget: Budget, tier: Tier, *, stays: bool) -> bool:
    if stays and not view.waiting:
        return budget.may_stay()
    return budget.may_start() if view.sight(tier).there else budget.may_wait()


def _reason(view: View, budget: Budget, escape: Tier) -> Reason:
    if budget.work > budget.left:
        return Reason(Code.LATE, (budget.left, budget.work, escape.pool), view.seen.nodes_held)
    return Reason(Code.GUARD, (budget.left, budget.work, budget.restart, escape.pool), view.seen.nodes_held)
