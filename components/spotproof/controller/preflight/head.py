"""What a RayJob cannot lose: its head, and the pod that submits it."""

from collections.abc import Iterator
from typing import Final

from spotproof.controller.jobs.rayjob import HEAD, SUBMITTER
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.spot import admitted, admitting, selected
from spotproof.controller.preflight.view import View, enumerated

ON: Final = {HEAD: "HeadOnSpot", SUBMITTER: "SubmitterOnSpot"}
MAY_BE_ON: Final = {HEAD: "HeadMayLandOnSpot", SUBMITTER: "SubmitterMayLandOnSpot"}


def head(view: View) -> Iterator[Finding]:
    """Both belong where nothing is reclaimed."""
    for template in (each for each in view.templates if each.stays):
        if by := selected(template, view.spot):
            yield finding(ON[template.role], by.field, selector=by.words)
        elif tiers := admitted(template, view.spot):
            pools = enumerated([tier.pool for tier in tiers])
            yield finding(MAY_BE_ON[template.role], admitting(template), tiers=pools)
