"""The fallback rule: when a job leaves a tier, waits, asks, and comes back. Pure: no clock, no API.

>>> decision = decide(policy, state, seen, now)
>>> sentence(decision.reason)
'waiting for spot: 14 % of the time left is spare, 12 % is kept in an outage so old'
"""

from spotproof.fallback.decide import decide
from spotproof.fallback.policy import Order, Policy, Tier, policy_of
from spotproof.fallback.reasons import Code, Reason, sentence
from spotproof.fallback.run import NEVER, Action, Decision, Failure, Instant, Observation, Phase, RunState, Sight

__all__ = [
    "NEVER",
    "Action",
    "Code",
    "Decision",
    "Failure",
    "Instant",
    "Observation",
    "Order",
    "Phase",
    "Policy",
    "Reason",
    "RunState",
    "Sight",
    "Tier",
    "decide",
    "policy_of",
    "sentence",
]
