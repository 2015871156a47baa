"""Stories of the controller in a world: what happens to a job, told in a few lines."""

from typing import Any

import pytest

from spotproof.controller.kinds import NODE, POD
from spotproof.controller.watched import WATCHED
from spotproof.vocabulary import FALLBACK_POLICY_LABEL
from tests.world.jobs import JOBS, Tier, jobset, rayjob
from tests.world.line import Trouble
from tests.world.managed import Managed
from tests.world.things import ended, node_of

TIERS = (Tier("spot-a", max_failures=1), Tier("on-demand", -1, capacity="on-demand", usd=30.0))


@pytest.fixture(params=JOBS)
def world(request: pytest.FixtureRequest) -> Managed:
    """A whole gang on spot, of either kind, named train."""
    made = Managed(TIERS)
    made.submit(JOBS[request.param]("train", "standard", "spot-a"))
    made.until_whole("train", "spot-a")
    return made


def test_a_tier_tolerates_max_failures_evictions(world: Managed) -> None:
    world.lose("train", "reclaim")
    world.run(20)

    world.until_whole("train", "spot-a")
    assert (world.status("train").evictions, world.status("train").tier) == (1, "spot-a")


def test_one_eviction_more_moves_the_job_to_the_next_tier(world: Managed) -> None:
    for tier in ("spot-a", "on-demand"):
        world.lose("train", "reclaim")
        world.run(5)
        world.until_whole("train", tier)

    status = world.status("train")
    assert (status.evictions, status.errors, status.tier) == (2, 0, "on-demand")
    assert [each.reason for each in status.history if each.what == "Moved"] == ["TooManyFailures"]
    kind, counts = world.job("train")["kind"], world.process.counts
    assert counts.moves == [(kind, "TooManyFailures")]
    assert counts.interruptions == [(kind, "eviction")] * 2


@pytest.mark.parametrize("how", ["reclaim", "vanish"])
def test_pods_that_are_lost_together_are_one_eviction(world: Managed, how: str) -> None:
    world.lose("train", how, count=2)
    world.run(20)

    world.until_whole("train")
    assert world.status("train").evictions == 1


def test_the_restart_begins_within_five_seconds_of_the_loss_of_a_node_that_only_vanished(world: Managed) -> None:
    lost = world.nodes("train")[0]
    world.lose("train", "vanish")

    assert world.run_until(lambda: lost not in world.nodes("train")) < 5


def test_a_node_that_goes_between_the_end_of_its_pod_and_its_removal_holds_nobody_up(world: Managed) -> None:
    pod = world.gang("train")[0]
    name = pod["metadata"]["name"]
    world.note("train", "eviction")
    world.server.delete("v1", "Pod", name, world.namespace)
    world.run_until(lambda: ended(world.get(POD, name) or pod))
    world.vanish(node_of(pod))

    assert world.until_whole("train", "spot-a") < 15
    assert (world.status("train").evictions, world.status("train").errors) == (1, 0)


def test_a_drain_of_a_node_that_stays_is_charged_to_nobody(world: Managed) -> None:
    world.lose("train", "drain")
    world.run(600)

    world.until_whole("train")
    assert (world.status("train").evictions, world.status("train").errors) == (0, 0)


def test_a_drained_node_that_goes_long_after_its_pods_is_an_eviction_as_soon_as_it_goes(world: Managed) -> None:
    node = world.nodes("train")[0]
    world.lose("train", "drain")
    world.run(15)
    world.until_whole("train")
    assert world.get(NODE, node, "") is not None
    assert world.status("train").evictions == 0

    world.note("train", "eviction")
    world.vanish(node)
    assert world.run_until(lambda: world.status("train").evictions == 1) < 2


def test_an_error_of_the_program_is_an_error_and_moves_nothing(world: Managed) -> None:
    world.fail("train", 1)
    world.run(20)

    world.until_whole("train", "spot-a")
    assert (world.status("train").evictions, world.status("train").errors) == (0, 1)


def test_a_dry_market_moves_the_job_once_pending_timeout_has_passed(world: Managed) -> None:
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.run(14 * 60)
    assert world.tier("train") == "spot-a"

    world.run(120)

    world.until_whole("train", "on-demand")
    assert [each.reason for each in world.status("train").history if each.what == "Moved"] == ["PendingTimeout"]


def test_a_worker_that_was_lost_before_it_was_recorded_that_all_were_there_is_an_eviction() -> None:
    world = Managed(TIERS)
    world.submit(rayjob("train", "standard", "spot-a"))
    world.run_until(lambda: world.status("train").phase == "Running")
    assert world.status("train").counted.whole_since is None
    world.process.kill()
    world.run_until(lambda: world.is_whole("train"))
    world.run(2)

    node = world.nodes("train")[0]
    world.lose("train", "drain")
    world.run(2)
    world.vanish(node)
    world.run(5)
    world.process.start()
    world.run(10)
    assert (world.status("train").evictions, world.status("train").errors) == (1, 0)


@pytest.mark.parametrize("trouble", ["conflict", "too many", "cut before", "cut after"])
def test_a_loss_that_is_over_before_anybody_looks_is_one_eviction_though_its_write_goes_wrong(
    world: Managed, trouble: Trouble
) -> None:
    world.run(5)
    for place in range(len(WATCHED)):
        world.process.hold(place)
    world.lose("train", "reclaim")
    world.run(5)
    world.run_until(lambda: world.is_whole("train"))
    world.run(2)

    world.process.line.troubles[0] = trouble
    world.process.release()
    world.run(30)

    assert world.process.line.happened[trouble] == 1
    assert (world.status("train").evictions, world.status("train").errors) == (1, 0)


def counted_across_a_death(  # noqa: PLR0913  # what is lost, and when who looks is there
    kind: str, how: str, *, whole: float, dies: float, back: float, heard_late: bool = False
) -> tuple[int, int]:
    """Evictions and errors of a gang that loses a node so many seconds after it is whole.

    The controller dies so many seconds after the loss, and another one is there so many after that.
    """
    world = Managed(TIERS)
    world.submit(JOBS[kind]("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(whole)
    node = world.nodes("train")[0]
    world.lose("train", how)
    world.run(dies)
    world.process.kill()
    world.run(back)
    world.process.start()
    for place, watched in enumerate(WATCHED):
        if heard_late and watched.kind.kind == kind:
            world.process.hold(place)
    world.run(3)
    world.process.release()
    if how == "drain":
        world.vanish(node)
    world.run(120)
    return world.status("train").evictions, world.status("train").errors


@pytest.mark.parametrize("heard_late", [False, True], ids=["", "its job is heard of late"])
@pytest.mark.parametrize("how", ["drain", "reclaim", "vanish", "silence"])
@pytest.mark.parametrize("kind", JOBS)
def test_a_node_that_goes_is_one_eviction_whenever_the_controller_dies_and_whenever_it_is_back(
    kind: str,
    how: str,
    heard_late: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    found = {
        (dies, back): counted_across_a_death(kind, how, whole=5, dies=dies, back=back, heard_late=heard_late)
        for dies in (0, 0.8, 1.6, 2.4, 4)
        for back in (0.4, 1.2, 2, 2.8, 4)
    }

    assert {when: each for when, each in found.items() if each != (1, 0)} == {}


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("trouble", ["killed before", "killed after"])
def test_a_node_that_vanishes_as_its_gang_becomes_whole_is_one_eviction_at_whatever_call_the_controller_dies(
    kind: str, trouble: Trouble
) -> None:
    def counted(call: int) -> tuple[int, int]:
        world = Managed(TIERS)
        world.submit(JOBS[kind]("train", "standard", "spot-a"))
        world.until_whole("train", "spot-a")
        world.process.line.troubles[call] = trouble
        world.lose("train", "vanish")
        world.run_until(lambda: not world.process.up)
        world.run(3)
        world.process.start()
        world.run(120)
        return world.status("train").evictions, world.status("train").errors

    found = {call: counted(call) for call in range(8)}

    assert {call: each for call, each in found.items() if each != (1, 0)} == {}


@pytest.mark.parametrize("how", ["drain", "reclaim", "vanish", "silence"])
@pytest.mark.parametrize("kind", JOBS)
def test_a_node_that_goes_as_its_gang_becomes_whole_is_one_eviction_though_the_controller_dies(
    kind: str, how: str
) -> None:
    found = {
        (whole, back): counted_across_a_death(kind, how, whole=whole, dies=0, back=back)
        for whole in (0, 0.3, 0.7)
        for back in (0.4, 1.2, 2, 5)
    }

    assert {when: each for when, each in found.items() if each != (1, 0)} == {}


@pytest.mark.parametrize("kind", JOBS)
def test_a_gang_that_left_spot_before_it_had_waited_there_returns_only_once_spot_has_answered(kind: str) -> None:
    rule: dict[str, Any] = {"probe": {"every": "30m"}, "return": {"minStay": "10m"}}
    world = Managed((Tier("spot-a", max_failures=0), TIERS[1]), **rule)
    world.submit(JOBS[kind]("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand")
    assert next(each for each in world.status("train").tiers if each.pool == "spot-a").there
    world.run(3600)
    assert [each.reason for each in world.status("train").history if each.what == "Moved"] == ["TooManyFailures"]

    world.pools["spot-a"].dry = False

    world.until_whole("train", "spot-a", within=3600)


def test_a_node_that_goes_explains_one_loss_and_not_the_one_before_it_too() -> None:
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a", pods=1))
    world.until_whole("train", "spot-a")
    world.run(5)
    node = world.nodes("train")[0]
    world.delete_pod("train")
    world.run(2)
    world.run_until(lambda: world.is_whole("train"))
    world.run(4)
    assert world.nodes("train") == [node]

    world.lose("train", "reclaim")
    world.run(60)

    assert (world.status("train").evictions, world.status("train").tier) == (1, "spot-a")


@pytest.mark.parametrize("away", [2, 20])
@pytest.mark.parametrize("late", [0, 1])
def test_a_job_that_somebody_suspends_and_resumes_while_no_controller_looks_has_lost_nothing_to_spot(
    world: Managed, away: int, late: int
) -> None:
    world.run(5)
    world.process.kill()
    world.suspend("train")
    world.run(away)
    world.resume("train")
    world.run(late)
    world.process.start()
    world.run(60)

    assert world.is_whole("train", "spot-a")
    assert (world.status("train").evictions, world.status("train").errors) == (0, 0)


def test_an_error_of_a_job_that_is_moved_at_once_for_clocks_that_are_apart_is_an_error_still() -> None:
    world = Managed(TIERS)
    world.submit(rayjob("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(15)
    world.process.skew = 1200.0
    world.finish("train", "FAILED")

    world.until_whole("train", "on-demand", within=1200)
    assert (world.status("train").evictions, world.status("train").errors) == (0, 1)
    assert len([each for each in world.status("train").history if each.what == "Failed"]) == 1


def test_a_controller_that_dies_in_the_middle_of_a_move_finishes_it_when_it_is_back(world: Managed) -> None:
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.run_until(lambda: world.suspended_by_us("train"), within=1000)
    world.process.kill()
    world.run(300)
    assert world.suspended_by_us("train")

    world.process.start()

    world.until_whole("train", "on-demand")


def test_a_suspension_by_somebody_else_stays_as_long_as_they_want(world: Managed) -> None:
    world.suspend("train")
    world.run(3600)
    assert world.status("train").phase == "Suspended"
    assert world.job("train")["spec"]["suspend"]

    world.resume("train")

    world.until_whole("train", "spot-a")


def test_a_job_that_names_its_policy_after_it_has_begun_is_managed_from_then_on() -> None:
    for make in JOBS.values():
        world = Managed(TIERS)
        world.submit(make("train", "standard", "spot-a"))
        world.label(world.job("train"), FALLBACK_POLICY_LABEL, None)
        world.run(20)
        assert world.is_whole("train", "spot-a")

        world.label(world.job("train"), FALLBACK_POLICY_LABEL, "standard")
        world.until_whole("train", "spot-a")
        world.run(5)
        world.lose("train", "reclaim")
        world.run(20)

        world.until_whole("train", "spot-a")
        assert world.status("train").evictions == 1
