"""A sample of the soak on RayJobs: moves in which a call is refused, cut or the controller killed with it."""

from collections.abc import Iterator

import pytest

from spotproof.rehearsal.control_plane import ControlPlane
from tests.e2e.controller.spoilt import spoilt
from tests.soak.play import PARTS as SOAK
from tests.soak.play import Theatre

PARTS = SOAK
pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def theatre(plane: ControlPlane) -> Iterator[Theatre]:
    """The module's control plane with the controller behind a proxy."""
    with Theatre(plane) as theatre:
        yield theatre


def test_moves_end_as_they_should_whatever_is_spoilt(theatre: Theatre) -> None:
    assert spoilt(theatre, "rayjob") == []
