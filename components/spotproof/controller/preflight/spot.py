"""Whether a template's pods land on spot, by any label in use for it, or as a tier of a policy."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from spotproof.controller.preflight.labels import Labels
from spotproof.controller.preflight.placement import AFFINITY
from spotproof.controller.preflight.tolerance import tolerates
from spotproof.controller.templates import Template, selects
from spotproof.fallback.resolved import ResolvedTier
from spotproof.vocabulary import ON_DEMAND, SPOT, SPOT_SELECTORS

ON_SPOT: Final = Labels(SPOT)
ON_DEMAND_NODES: Final = Labels(ON_DEMAND)
SELECTOR: Final = ("spec", "nodeSelector")
TOLERATIONS: Final = ("spec", "tolerations")


class Selected(NamedTuple):
    """By what a template selects spot, as its author wrote it, and the field that holds it."""

    words: str
    field: str


def selected(template: Template, spot: Iterable[ResolvedTier]) -> Selected | None:
    """How a template selects spot; None where it does not. `spot` are tiers that are known to be it."""
    for tier in spot:
        if selects(template, tier):
            words = ", ".join(f"{key}: {value}" for key, value in tier.node_selector.items())
            return Selected(words, template.dotted(*SELECTOR))
    for key, value in SPOT_SELECTORS.items():
        if template.selector.get(key) == value:
            return Selected(f"{key}: {value}", template.dotted(*SELECTOR))
    if ON_DEMAND_NODES.admit(template.spec) is False and ON_SPOT.land(template.spec) is not False:
        return Selected("its required node affinity", template.dotted(*AFFINITY))
    return None


def admitted(template: Template, spot: Iterable[ResolvedTier]) -> list[ResolvedTier]:
    """The spot tiers that a template selects by nothing, and on which its pods may land all the same.

    They tolerate whatever the nodes repel, and all that they ask of a node is known to be there.
    """
    carried = template.spec.get("tolerations") or []
    return [
        tier
        for tier in spot
        if Labels.of(tier).land(template.spec) is True
        and all(any(tolerates(each, wanted) for each in carried) for wanted in tier.tolerations)
    ]


def admitting(template: Template) -> str:
    """The field by which it may land there: what lets it, or what does not keep it off."""
    affinity = (template.spec.get("affinity") or {}).get("nodeAffinity") or {}
    if affinity.get(AFFINITY[-1]) is not None:
        return template.dotted(*AFFINITY)
    return template.dotted(*(TOLERATIONS if template.spec.get("tolerations") else SELECTOR))
