"""The controller's kinds, rights and home on a control plane, as `up` makes them."""

from typing import Final

from spotproof.rehearsal import controller
from spotproof.rehearsal.control_plane import ControlPlane

USER: Final = controller.USER


def install(plane: ControlPlane) -> None:
    """Everything but the process itself."""
    controller.install(plane.site)
