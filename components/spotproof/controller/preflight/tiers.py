"""What moves: the templates that select a tier, all of them the same one."""

from collections.abc import Iterator

from spotproof.controller.jobs import JOBS
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.spot import selected
from spotproof.controller.preflight.view import View
from spotproof.controller.templates import Template, selects


def tiers(view: View) -> Iterator[Finding]:
    """No template on a tier has nothing to move, and templates on two are counted on one."""
    if not view.moving:
        (first, *_) = view.policy.tiers
        selector = ", ".join(f"{key}: {value}" for key, value in first.node_selector.items())
        yield finding("NoTier", JOBS[view.job["kind"]].roles, policy=view.policy.name, selector=selector)
        return
    first = _tier(view, view.moving[0])
    for template in view.moving[1:]:
        if (tier := _tier(view, template)) != first:
            yield finding("MixedTiers", template.dotted("spec", "nodeSelector"), tier=tier, other=first)
    for template in view.templates:
        if not template.stays and template not in view.moving and (by := selected(template, view.spot)):
            yield finding("SpotBesideTiers", by.field, selector=by.words, policy=view.policy.name)


def _tier(view: View, template: Template) -> str:
    return next(tier.pool for tier in view.policy.tiers if selects(template, tier))
