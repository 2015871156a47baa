"""A plan of kills is its seed's, and can be carried out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resume.awaited import Awaited
from tests.resume.jax_orbax import JAX_ORBAX
from tests.resume.kills import Ground, Kill, plan
from tests.resume.torch_dcp import TORCH_DCP

GROUND = Ground(steps=120, save_steps=20, processes=2, writes=17)


@given(seed=st.integers(0, 10**6), kills=st.integers(1, 50))
def test_every_kill_of_a_plan_comes_while_the_run_still_has_a_save_before_it(seed: int, kills: int) -> None:
    made = plan(seed, kills, GROUND)

    assert len(made) == kills
    assert made == plan(seed, kills, GROUND)
    steps = [kill.step for kill in made if kill.moment != "resume"]
    assert steps == sorted(steps)
    assert all(1 <= step < GROUND.steps - GROUND.save_steps for step in steps)
    assert all(1 <= kill.write <= GROUND.writes and 0 <= kill.process < GROUND.processes for kill in made)


def test_five_kills_are_of_every_kind() -> None:
    made = plan(1, 5, GROUND)

    assert {kill.moment for kill in made} == {"resume", "step", "save"}
    assert sum(kill.told for kill in made) == 2


def test_more_kills_than_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="100 kills need more than 99 steps"):
        plan(1, 100, GROUND)


@pytest.mark.parametrize("second", [40, 41, 113, 120])
@pytest.mark.parametrize(
    ("kill", "folder"),
    [
        *((kill, "{}") for fault in JAX_ORBAX.faults for kill in fault.kills if kill.moment == "save"),
        *((kill, "step-{:09d}") for fault in TORCH_DCP.faults for kill in fault.kills if kill.moment == "save"),
    ],
)
def test_the_save_that_is_torn_is_the_second_whichever_step_it_is_of(kill: Kill, folder: str, second: int) -> None:
    saves = Awaited()
    saves.watch(kill.write, lambda: None, kill.to)

    first = [saves.begun(f"{folder.format(20)}/{part}") is not None for part in range(12)]
    torn = [saves.begun(f"{folder.format(second)}/{part}") is not None for part in range(12)]

    assert not any(first)
    assert torn.index(True) == kill.write - 1
