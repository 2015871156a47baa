"""A job that is suspended by somebody else, or refused, and is frozen on top of that: none of it counts twice."""

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from spotproof.controller.kinds import NAMESPACE
from spotproof.vocabulary import MANUAL_LABEL, WORKSPACE_LABEL
from tests.world.jobs import JOBS, Tier
from tests.world.managed import Managed
from tests.world.test_lifecycle import managed, pause

TIERS: Final = (Tier("spot-a", max_failures=3), Tier("on-demand", -1, capacity="on-demand", usd=30.0))


FREEZE: Final[Mapping[str, Callable[[Managed, str | None], None]]] = {
    "label": lambda world, value: world.label(world.job("train"), MANUAL_LABEL, value),
    "pause": pause,
}


@pytest.fixture(params=JOBS)
def world(request: pytest.FixtureRequest) -> Managed:
    """A whole gang on spot, of either kind, named train."""
    made = managed(request.param, TIERS)
    made.run(5)
    return made


def counted(world: Managed) -> tuple[int, int]:
    world.run(120)
    assert world.is_whole("train", "spot-a")
    status = world.status("train")
    assert (status.phase, status.in_other_hands) == ("Running", False)
    return status.evictions, status.errors


@pytest.mark.parametrize("dies", [False, True], ids=["", "the controller dies"])
@pytest.mark.parametrize("how", FREEZE)
@pytest.mark.parametrize("frozen_for", [0.3, 60])
@pytest.mark.parametrize("apart", [0.3, 30])
def test_an_eviction_before_somebody_suspends_a_job_is_one_though_it_is_frozen_until_they_have_resumed_it(
    world: Managed,
    how: str,
    apart: float,
    frozen_for: float,
    dies: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    world.lose("train", "reclaim")
    world.run(0.5)
    assert world.status("train").evictions == 1
    world.suspend("train")
    world.run(apart)
    FREEZE[how](world, "true")
    world.resume("train")
    world.run(frozen_for)
    if dies:
        world.process.kill()
        world.process.start()
        world.run(3)
    FREEZE[how](world, None)

    assert counted(world) == (1, 0)


def test_what_a_refused_job_loses_counts_for_nobody_though_it_is_frozen_until_it_is_mended(world: Managed) -> None:
    space = world.get(NAMESPACE, world.namespace, "")
    assert space is not None
    world.label(space, WORKSPACE_LABEL, None)
    world.run(5)
    assert world.phase("train") == "Refused"
    world.lose("train", "reclaim")
    world.run(0.5)
    FREEZE["label"](world, "true")
    world.run(1)
    world.label(space, WORKSPACE_LABEL, world.namespace)
    FREEZE["label"](world, None)

    assert counted(world) == (0, 0)


def test_what_a_job_of_ours_loses_while_it_is_frozen_counts(world: Managed) -> None:
    FREEZE["label"](world, "true")
    world.run(5)
    world.lose("train", "reclaim")
    world.run(60)
    FREEZE["label"](world, None)

    assert counted(world) == (1, 0)
