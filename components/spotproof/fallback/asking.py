"""When other tiers are asked."""

from collections.abc import Sequence

from spotproof.fallback.policy import Tier
from spotproof.fallback.run import NEVER, Decision, Instant
from spotproof.fallback.view import View


def ask_due(view: View, tiers: Sequence[Tier]) -> Decision | Instant:
    """Ask the first tier whose turn it is, all of them one after another at one moment; or when the next turn is."""
    if not view.policy.probe_every or not tiers:
        return NEVER
    turns = [(view.due(tier), tier) for tier in tiers]
    ready = [tier for due, tier in turns if due <= view.now]
    return view.ask(view.first(ready)) if ready else min(due for due, _ in turns)
