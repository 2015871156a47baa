"""The workers of a RayJob are a gang: as many as it says, neither more nor fewer."""

from collections.abc import Iterator

from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View


def workers(view: View) -> Iterator[Finding]:
    """Ray's own autoscaler would change their number, which nobody here would hear of."""
    if (view.spec.get("rayClusterSpec") or {}).get("enableInTreeAutoscaling"):
        yield finding("Autoscaler", "spec.rayClusterSpec.enableInTreeAutoscaling")
