"""Whether every tier can take the pods: no other selector or required affinity that some tier cannot meet."""

from collections.abc import Iterator, Mapping

from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.labels import Labels
from spotproof.controller.preflight.view import View, enumerated
from spotproof.controller.templates import Template
from spotproof.settings.errors import shown

AFFINITY = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


def placement(view: View) -> Iterator[Finding]:
    """A selector of one capacity beside the tier's own, or an affinity to one pool, would strand a moved job."""
    known = {tier.pool: Labels.of(tier) for tier in view.policy.tiers}
    moved = {key for tier in view.policy.tiers for key in tier.node_selector}
    for template in view.moving:
        for key, value in template.selector.items():
            if key not in moved and (
                cannot := [pool for pool, each in known.items() if each.select(key, value) is False]
            ):
                field = f"{template.dotted('spec', 'nodeSelector')}['{key}']"
                yield finding("Selector", field, value=shown(value), tiers=enumerated(cannot))
        yield from _affinity(template, known)


def _affinity(template: Template, known: Mapping[str, Labels]) -> Iterator[Finding]:
    if cannot := [pool for pool, each in known.items() if each.admit(template.spec) is False]:
        yield finding("Affinity", template.dotted(*AFFINITY), tiers=enumerated(cannot))
