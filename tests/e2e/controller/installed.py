"""The controller's kinds, rights and home on a control plane, as `up` makes them."""

from typing import Final

from spotproof.manifests import controller_rights, fallback_policy, training_run
from spotproof.manifests.metadata import metadata
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.vocabulary import SYSTEM_NAMESPACE
from tests.e2e.stacks import make

USER: Final = f"system:serviceaccount:{SYSTEM_NAMESPACE}:{controller_rights.NAME}"
"""As the API server calls the service account. Here a client certificate bears the name, and the roles bind it as they
bind a token."""


def install(plane: ControlPlane) -> None:
    """Everything but the Deployment, whose place a process takes."""
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata(SYSTEM_NAMESPACE)}
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": metadata("spotproof-probe"),
        "value": -10,
        "preemptionPolicy": "Never",
    }
    make(plane.kube, [home, fallback_policy.crd(), training_run.crd(), priority, *controller_rights.roles()])
