"""Which tier comes after the present one."""

from spotproof.fallback.policy import Tier
from spotproof.fallback.view import View


def next_tier(view: View) -> Tier | None:
    """An equal tier that is neither used up nor waited out, or the next of another price further down the list.

    None on the last tier.
    """
    policy, waited = view.policy, view.state.waited
    equals = policy.equals[view.tier.pool]
    fit = [tier for tier in equals if tier.pool not in waited and not view.spent(tier)]
    if fit:
        return view.first(fit)
    after = policy.tiers[view.tier.rank + 1 :]
    return next((tier for tier in after if tier not in equals), None)


def is_last(view: View) -> bool:
    """Whether no tier of another price comes after this one, and its equals have been waited out."""
    return next_tier(view) is None
