"""What comes after the rules: the brake on flapping, and the guard of the deadline, which has the last word."""

from typing import Final

from spotproof.fallback.asking import ask_due
from spotproof.fallback.budget import Budget
from spotproof.fallback.history import HOUR
from spotproof.fallback.policy import Tier
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import NEVER, Action, Decision, Instant
from spotproof.fallback.view import View

# looked up once: a member of an enumeration costs ten times a name
MOVE: Final = Action.MOVE
REMAIN: Final = (Action.STAY, Action.WAIT)


def brake(view: View, decision: Decision) -> Decision:
    """At most maxMovesPerHour moves of one job within an hour; the next is made when the oldest has aged out.

    Nor is a tier asked for a move that would not be made.
    """
    limit = view.policy.max_moves_per_hour
    if not limit or len(view.state.moves) < limit or decision.action in REMAIN:
        return decision
    recent = [at for at in view.state.moves if at > view.now - HOUR]
    if len(recent) < limit:
        return decision
    reason = Reason(Code.BRAKE, (len(recent), limit), view.held)
    return view.remain(reason, recent[-limit] + HOUR)


def guard(view: View, decision: Decision) -> Decision:
    """On-demand, if after this decision it could no longer end in time.

    Exact under the assumption that an on-demand node starts within the restart time; `margin` is for when it does not.
    """
    budget, escape = view.budget, view.policy.on_demand
    if budget is None or escape is None or (view.waiting and not view.tier.spot):
        # a job that on-demand has no place for takes whatever answers
        return decision
    stays = decision.action is not MOVE
    tier = view.tier if stays else view.policy.by_pool[decision.tier]
    if not tier.spot:
        return decision
    if _in_time(view, budget, tier, stays=stays):
        until = budget.until_short()
        return decision if until == NEVER else _at_the_latest(decision, view.now + until)
    if not view.tier.spot:
        return view.remain(_needed(budget, escape), min(decision.next_at, view.now + budget.until_done()))
    return _without(view, decision, budget, escape) if view.was_dry(escape) else _escape(view, decision, budget, escape)


def _in_time(view: View, budget: Budget, tier: Tier, *, stays: bool) -> bool:
    if stays and not view.waiting:
        return budget.may_stay()
    return budget.may_start() if view.sight(tier).there else budget.may_wait()


def _escape(view: View, decision: Decision, budget: Budget, escape: Tier) -> Decision:
    """Take on-demand, unless it is too late for that and the running attempt might still make it."""
    late = budget.work + budget.risk + budget.restart - budget.left - view.policy.margin
    if late <= 0:
        return view.move(escape, _needed(budget, escape))
    numbers = (budget.left + view.policy.margin, budget.work, budget.restart, escape.pool)
    if decision.action is not MOVE and not view.waiting:
        # on-demand would be late for certain, the running attempt only if it is lost
        return view.remain(Reason(Code.LATE_STAY, numbers), decision.next_at)
    return view.move(escape, Reason(Code.LATE, numbers))


def _without(view: View, decision: Decision, budget: Budget, escape: Tier) -> Decision:
    """On-demand had no room: ask it again in its turn, and meanwhile do what the rules say."""
    found = ask_due(view, (escape,))
    if isinstance(found, Decision):
        return found
    if decision.action in REMAIN:
        numbers = (budget.left, budget.work, budget.restart, escape.pool)
        decision = decision._replace(reason=Reason(Code.GUARD_DRY, numbers, view.held))
    return _at_the_latest(decision, found)


def _at_the_latest(decision: Decision, at: Instant) -> Decision:
    return decision._replace(next_at=at) if at < decision.next_at else decision


def _needed(budget: Budget, escape: Tier) -> Reason:
    return Reason(Code.GUARD, (budget.left, budget.work, budget.restart, escape.pool))
