"""Whether KubeRay can suspend the RayJob, and resume it without anybody's help (KubeRay 1.7, validation.go)."""

from collections.abc import Iterator

from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View


def suspension(view: View) -> Iterator[Finding]:
    """What KubeRay refuses only once `suspend` is written, with a status that nothing leaves.

    SidecarMode and HTTPMode are suspended as K8sJobMode is.
    """
    if view.spec.get("clusterSelector") is not None:
        yield finding("ClusterSelector", "spec.clusterSelector")
    if view.spec.get("shutdownAfterJobFinishes") is not True:
        written = "false" if "shutdownAfterJobFinishes" in view.spec else "not written, which means false"
        yield finding("KeepsItsCluster", "spec.shutdownAfterJobFinishes", value=written)
    if (view.spec.get("deletionStrategy") or {}).get("deletionRules") is not None:
        yield finding("DeletionRules", "spec.deletionStrategy.deletionRules")
    if view.spec.get("submissionMode") == "InteractiveMode":
        yield finding("Interactive", "spec.submissionMode")
