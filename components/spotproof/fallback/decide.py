"""The rule: what a job should do now."""

from spotproof.fallback.last_word import brake, guard
from spotproof.fallback.policy import Policy
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.rules import RULES
from spotproof.fallback.run import Action, Decision, Instant, Observation, Phase, RunState
from spotproof.fallback.view import View


def decide(policy: Policy, state: RunState, seen: Observation, now: Instant) -> Decision:
    """The move this job should make now, with the reason its owner will read.

    Pure: reads no clock and no API, so the controller, the simulator and the tests run the same line.
    """
    if seen.tier not in policy.by_pool:
        return _gone(policy, seen)
    view = View(policy, state, seen, now)
    soonest = view.aged()
    for rule in RULES:
        answer = rule(view)
        if isinstance(answer, Decision):
            break
        soonest = min(soonest, answer)
    else:
        raise AssertionError("the last rule always answers")
    if answer.next_at > soonest:
        answer = answer._replace(next_at=soonest)
    return guard(view, brake(view, answer))


def _gone(policy: Policy, seen: Observation) -> Decision:
    """The policy was edited: the attempt is not disturbed, the next one takes the first tier."""
    first = policy.tiers[0].pool
    reason = Reason(Code.GONE, (seen.tier, first))
    if seen.phase is Phase.RUNNING:
        return Decision(Action.STAY, seen.tier, reason)
    return Decision(Action.MOVE, first, reason)
