"""A sample of the soak on JobSets: moves in which a call is refused, cut or the controller killed with it."""

from collections.abc import Iterator

import pytest

from spotproof.rehearsal.control_plane import ControlPlane
from tests.e2e.controller.spoilt import MARKS, moves_of, well
from tests.soak.play import PARTS as SOAK
from tests.soak.play import Theatre

PARTS = SOAK
pytestmark = MARKS


@pytest.fixture(scope="module")
def theatre(plane: ControlPlane) -> Iterator[Theatre]:
    """The module's control plane with the controller behind a proxy."""
    with Theatre(plane) as theatre:
        yield theatre


@pytest.mark.parametrize("move", moves_of("jobset"))
def test_a_move_ends_as_it_should_whatever_is_spoilt(theatre: Theatre, move: str) -> None:
    assert well(theatre, move) == []
