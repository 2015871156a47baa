"""Whether a template's pods land on spot, by any label in use for it, or as a tier of the policy."""

from typing import Final

from spotproof.controller.preflight.labels import Labels
from spotproof.controller.templates import Template, selects
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.vocabulary import ON_DEMAND, SPOT, SPOT_SELECTORS

ON_SPOT: Final = Labels(SPOT)
ON_DEMAND_NODES: Final = Labels(ON_DEMAND)


def spot_selector(template: Template, policy: ResolvedPolicy) -> str | None:
    """By what it selects spot, as its author wrote it; None where it does not."""
    for tier in policy.tiers:
        if tier.capacity == SPOT and selects(template, tier):
            return ", ".join(f"{key}: {value}" for key, value in tier.node_selector.items())
    for key, value in SPOT_SELECTORS.items():
        if template.selector.get(key) == value:
            return f"{key}: {value}"
    if ON_DEMAND_NODES.land(template.spec) is False and ON_SPOT.land(template.spec) is not False:
        return "its required node affinity"
    return None
