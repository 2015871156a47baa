"""What a RayJob cannot lose: its head, and the pod that submits it."""

from collections.abc import Iterator
from typing import Final

from spotproof.controller.jobs.rayjob import HEAD, SUBMITTER
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.spot import spot_selector
from spotproof.controller.preflight.view import View

CODES: Final = {HEAD: "HeadOnSpot", SUBMITTER: "SubmitterOnSpot"}


def head(view: View) -> Iterator[Finding]:
    """Both belong where nothing is reclaimed."""
    for template in view.templates:
        if template.stays and (selector := spot_selector(template, view.policy)):
            yield finding(CODES[template.role], template.dotted("spec", "nodeSelector"), selector=selector)
