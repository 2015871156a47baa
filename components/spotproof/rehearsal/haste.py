"""A policy's times as a rehearsal has them: seconds in place of hours. Its tiers and counts stay as they are."""

from datetime import timedelta
from typing import Final

from spotproof.fallback.resolved import ResolvedPolicy

PENDING: Final = timedelta(seconds=20)
"""Longer than a node takes here, so that a wait that ends by itself is no move. The last tier keeps its own: nothing
comes after it, and half a gang would give its nodes back before the other half is there."""
ASKED_EVERY: Final = timedelta(seconds=5)
STAY: Final = timedelta(seconds=10)


def hastened(policy: ResolvedPolicy) -> ResolvedPolicy:
    """The policy with no time that a rehearsal would not live to see; what is shorter stays."""
    back = policy.return_ and policy.return_.model_copy(update={"min_stay": min(policy.return_.min_stay, STAY)})
    *left, last = policy.tiers
    tiers = (
        *(tier.model_copy(update={"pending_timeout": min(tier.pending_timeout, PENDING)}) for tier in left),
        last,
    )
    probe = policy.probe.model_copy(update={"every": min(policy.probe.every, ASKED_EVERY)})
    return policy.model_copy(update={"tiers": tiers, "return_": back, "probe": probe})
