"""A gang that is whole again is interrupted once more: what is seen then belongs to the second time alone."""

from typing import Final

import pytest

from tests.world.jobs import JOBS, Tier, rayjob, sized
from tests.world.managed import Managed

TIERS: Final = (Tier("spot-a", max_failures=3), Tier("on-demand", -1, capacity="on-demand", usd=30.0))


def whole(kind: str, pods: int) -> Managed:
    """A gang of so many pods, named train, that has been whole on spot for a while."""
    world = Managed(TIERS)
    world.submit(JOBS[kind]("train", "standard", "spot-a", **sized(kind, pods)))
    world.until_whole("train", "spot-a")
    world.run(5)
    return world


def counted(world: Managed, seconds: float = 200) -> tuple[int, int]:
    world.run(seconds)
    assert world.is_whole("train", "spot-a")
    return world.status("train").evictions, world.status("train").errors


def lost_again(kind: str, pods: int, first: str, how: str, *, after: float) -> tuple[int, int]:
    """Evictions and errors of a gang that is whole again on the nodes it had, and loses one of them.

    `first` is the loss before, an `error` or a pod that somebody `deleted`; the other is so many seconds after that the
    gang is whole.
    """
    world = whole(kind, pods)
    nodes = world.nodes("train")
    if first == "error":
        world.fail("train", 1)
    else:
        world.delete_pod("train")
    world.run_until(lambda: not world.is_whole("train"))
    world.run_until(lambda: world.is_whole("train"))
    world.run(after)
    assert world.nodes("train") == nodes
    world.lose("train", how)
    return counted(world)


@pytest.mark.parametrize("how", ["reclaim", "vanish"])
@pytest.mark.parametrize("pods", [1, 3])
@pytest.mark.parametrize("kind", JOBS)
def test_a_node_that_goes_as_the_gang_is_whole_on_it_again_is_one_eviction_and_the_error_before_it_none(
    kind: str, pods: int, how: str
) -> None:
    found = {after: lost_again(kind, pods, "error", how, after=after) for after in (0, 0.1, 0.4, 1, 2)}

    # a gang that is whole for no second at all may be seen as whole or not: then both are one interruption
    at_once = found.pop(0)
    assert at_once in {(1, 1), (1, 0)}
    assert {when: each for when, each in found.items() if each != (1, 1)} == {}


@pytest.mark.parametrize("pods", [1, 3])
@pytest.mark.parametrize("kind", JOBS)
def test_a_node_that_goes_as_the_gang_is_whole_on_it_again_tells_nothing_of_a_pod_that_somebody_deleted(
    kind: str, pods: int
) -> None:
    found = {after: lost_again(kind, pods, "deleted", "reclaim", after=after) for after in (0, 0.1, 0.4, 1, 2)}

    assert {when: each for when, each in found.items() if each != (1, 0)} == {}


@pytest.mark.parametrize("after", [0, 0.3, 1, 5])
def test_a_ray_program_that_fails_soon_after_somebody_deleted_a_worker_is_one_error(after: float) -> None:
    world = whole("RayJob", 1)
    world.delete_pod("train")
    world.run_until(lambda: not world.is_whole("train"))
    world.run_until(lambda: world.is_whole("train"))
    world.run(after)
    world.finish("train", "FAILED")

    assert counted(world) == (0, 1)


@pytest.mark.parametrize("away", [2, 30])
def test_a_node_that_went_while_somebody_had_suspended_the_job_unseen_is_charged_to_nobody(away: float) -> None:
    world = whole("JobSet", 1)
    world.delete_pod("train")
    world.run(7)
    assert world.is_whole("train")
    world.process.kill()
    world.suspend("train")
    world.run(away)
    world.resume("train")
    world.process.start()

    assert counted(world) == (0, 0)


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("late", [0, 0.5])
def test_a_gang_that_ran_while_no_controller_looked_has_not_waited_all_that_time(kind: str, late: float) -> None:
    world = whole(kind, 1)
    world.lose("train", "reclaim")
    world.run_until(lambda: world.status("train").waiting_since)
    world.process.kill()
    world.run(3600)
    world.delete_pod("train")
    world.run(late)
    world.lose("train", "reclaim")
    world.process.start()
    world.run(60)

    assert [each for each in world.status("train").history if each.what == "Moved"] == []
    assert world.is_whole("train", "spot-a")


def test_a_parked_job_keeps_the_nodes_it_comes_back_to_for_as_long_as_it_may_by_a_clock_far_ahead() -> None:
    world = Managed((TIERS[1],))
    world.process.skew = 3600.0
    world.pools["on-demand"].dry = True
    world.submit(rayjob("train", "standard", "on-demand", workers=2))
    world.add_nodes("on-demand", 1)
    world.run_until(lambda: world.phase("train") == "Parked", within=3600)
    world.run_until(lambda: world.phase("train") != "Parked", within=3600)
    began = world.now

    world.run_until(lambda: world.status("train").nodes_held == 1)
    world.run_until(lambda: world.phase("train") == "Parked", within=3600)

    assert world.now - began > 14 * 60
