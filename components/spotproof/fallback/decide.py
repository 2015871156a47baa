"""The rule: what a job should do now."""

from spotproof.fallback.last_word import brake, guard
from spotproof.fallback.policy import Policy
from spotproof.fallback.rules import RULES
from spotproof.fallback.run import Decision, Instant, Observation, RunState
from spotproof.fallback.view import View


def decide(policy: Policy, state: RunState, seen: Observation, now: Instant) -> Decision:
    """The move this job should make now, with the reason its owner will read.

    Pure: reads no clock and no API, so the controller, the simulator and the tests run the same line.

    Raises:
        KeyError: the job is on a pool that is no tier of the policy.
    """
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
