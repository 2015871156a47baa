"""What a move of the soak begins with, before anything can be spoilt."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.e2e.jobs import SPOT_POOL
from tests.soak.moves import MOVES


class Scenery:
    """A workspace in which everything that is waited for is there; it keeps what is done, in order."""

    def __init__(self) -> None:
        self.namespace = "soak-1"
        self.did: list[str] = []
        self.recorder = SimpleNamespace(mark=self.did.append)

    def policy(self, *_: object, **rest: Any) -> str:
        """A policy is made, or made another one."""
        self.did.append("a policy that returns" if "return_" in rest else "a policy that stays")
        return self.namespace

    def add_nodes(self, pool: str, count: int) -> None:
        """Nodes come."""
        self.did += [f"a node of {pool}"] * count

    def submit(self, _: object) -> None:
        """A job is submitted."""
        self.did.append("the job")

    def wait(self, _: Callable[[], object], what: str, __: float) -> list[object]:
        """Something is waited for."""
        self.did.append(what)
        return []

    def says(self, *_: object, phase: str, **__: object) -> None:
        """A TrainingRun is waited for."""
        self.did.append(phase)


@pytest.mark.parametrize("name", ["jobset-up", "rayjob-up"])
def test_a_job_asks_for_spot_only_once_that_can_be_spoilt_and_spot_comes_after_the_question(name: str) -> None:
    move, here = MOVES[name], Scenery()
    quiet: Any = here
    move.begin(quiet, move.gang)
    assert here.did[-1] == "Running"
    assert "a policy that returns" not in here.did
    here.did.clear()
    move.happen(quiet, move.gang)
    node = f"a node of {SPOT_POOL}"
    assert here.did == ["a policy that returns", "the job to ask for spot", "spot comes back", node, node]
