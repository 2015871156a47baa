"""How long a job has waited, when it is decided again, and what its owner is told of a wait that does not end."""

import pytest

from spotproof.controller.kinds import NODE
from spotproof.controller.writing import COUNTS_SECONDS
from tests.world.jobs import JOBS, Tier, sized
from tests.world.managed import Managed
from tests.world.test_lifecycle import pause

TIERS = (Tier("spot-a", max_failures=3), Tier("on-demand", -1, capacity="on-demand", usd=30.0))
ALONE = (Tier("on-demand", -1, pending_timeout="20m", capacity="on-demand", usd=30.0),)
HOURS = 4 * 3600


@pytest.fixture(params=JOBS)
def world(request: pytest.FixtureRequest) -> Managed:
    """A whole gang on spot, of either kind, named train, whose market is dry from now on."""
    made = Managed(TIERS)
    made.submit(JOBS[request.param]("train", "standard", "spot-a"))
    made.until_whole("train", "spot-a")
    made.pools["spot-a"].dry = True
    return made


def moves(world: Managed) -> list[str]:
    return [each.reason for each in world.status("train").history if each.what == "Moved"]


def runs_for_hours_and_loses_a_node(world: Managed) -> None:
    """The market has room, and is dry again as the gang loses a node."""
    world.pools["spot-a"].dry = False
    world.run(HOURS)
    assert world.is_whole("train", "spot-a")

    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.run(30)


def test_a_wait_that_ended_during_a_pause_is_not_taken_for_one_that_went_on(world: Managed) -> None:
    world.lose("train", "reclaim")
    world.run(120)
    assert world.status("train").waiting_since is not None
    pause(world)
    world.run(5)
    assert world.status("train").waiting_since is None, "nobody knows whether it still waits"
    runs_for_hours_and_loses_a_node(world)
    pause(world, None)
    world.run(14 * 60)
    assert (world.tier("train"), moves(world)) == ("spot-a", [])

    world.until_whole("train", "on-demand", within=180)
    assert moves(world) == ["PendingTimeout"]


def test_a_wait_that_ended_while_no_controller_ran_is_not_taken_for_one_that_went_on(world: Managed) -> None:
    world.lose("train", "reclaim")
    world.run(120)
    world.process.kill()
    runs_for_hours_and_loses_a_node(world)
    world.process.start()
    world.run(14 * 60)
    assert (world.tier("train"), moves(world)) == ("spot-a", [])

    world.until_whole("train", "on-demand", within=180)


def test_a_wait_goes_on_for_a_process_that_begins_in_the_middle_of_it(world: Managed) -> None:
    world.lose("train", "reclaim")
    world.run(10 * 60)
    world.process.kill()
    world.run(60)
    world.process.start()
    world.run(3 * 60)
    assert world.tier("train") == "spot-a"

    world.until_whole("train", "on-demand", within=180)


def test_the_owner_is_told_when_it_is_decided_again_and_then_it_is(world: Managed) -> None:
    world.lose("train", "reclaim")
    world.run(120)
    at = world.status("train").next_decision_time
    assert at is not None

    world.run(at - world.now - 2)
    assert moves(world) == []
    world.run(10)
    assert world.suspended_by_us("train") or moves(world) == ["PendingTimeout"]


@pytest.fixture(params=JOBS)
def waiting(request: pytest.FixtureRequest) -> Managed:
    """A gang that waits for the only tier of its policy, of which it got half: one node is all there is."""
    made = Managed(ALONE, most=1)
    made.submit(JOBS[request.param]("train", "standard", "on-demand"))
    made.run_until(lambda: made.status("train").waiting_since is not None)
    return made


def test_a_job_that_waits_out_its_last_tier_is_told_of_it_then_and_not_before(waiting: Managed) -> None:
    waiting.run(19 * 60)
    assert waiting.status("train").phase == "Waiting"
    assert waiting.told("LastTierWaits") == []
    assert "LastTierWaits" not in waiting.conditions("train")
    due = waiting.status("train").next_decision_time
    assert due is not None
    assert 0 < due - waiting.now <= 60

    waiting.run(80)
    assert len(waiting.told("LastTierWaits")) == 1
    found = waiting.conditions("train")["LastTierWaits"]
    assert (found.status, found.reason) == ("True", "NoRoom")


def test_a_parked_job_says_when_it_comes_again_and_stays_one_that_waits_for_its_last_tier(waiting: Managed) -> None:
    waiting.run_until(lambda: waiting.status("train").phase == "Parked", within=25 * 60)
    status = waiting.status("train")
    assert status.move is not None
    assert status.next_decision_time == status.move.resume_at
    assert status.next_decision_time is not None

    waiting.run(status.next_decision_time - waiting.now + 120)
    assert waiting.status("train").phase != "Parked"
    found = waiting.conditions("train")["LastTierWaits"]
    assert found.status == "True"
    assert len(waiting.told("LastTierWaits")) == 1, "told once for as long as it waits"

    waiting.pools["on-demand"].most = 10
    waiting.until_whole("train", "on-demand", within=40 * 60)
    found = waiting.conditions("train")["LastTierWaits"]
    assert found.status == "False"


@pytest.mark.parametrize("kind", JOBS)
def test_a_disruption_that_is_nobodys_fault_is_in_the_story_until_its_node_turns_out_to_be_reclaimed(kind: str) -> None:
    world = Managed(TIERS)
    world.submit(JOBS[kind]("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(5)
    world.lose("train", "drain")
    world.run(400)
    world.until_whole("train")
    assert [each.what for each in world.status("train").history] == ["Disrupted"]
    assert len(world.told("Disrupted")) == 1
    assert world.process.counts.interruptions == [(kind, "voluntary")]

    node = world.nodes("train")[0]
    world.lose("train", "drain")
    world.run(15)
    world.note("train", "eviction")
    world.vanish(node)
    world.run(20)
    assert [each.what for each in world.status("train").history] == ["Disrupted", "Evicted"]
    assert world.get(NODE, node, "") is None


@pytest.mark.parametrize("kind", JOBS)
def test_the_record_tells_of_nodes_that_come_while_the_gang_waits_for_the_rest(kind: str) -> None:
    world = Managed(ALONE, most=0)
    world.add_nodes("on-demand", 1)
    world.submit(JOBS[kind]("train", "standard", "on-demand", **sized(kind, 6)))
    world.run_until(lambda: world.status("train").waiting_since is not None)

    for there, come in ((1, 2), (3, 1)):
        world.add_nodes("on-demand", come)
        world.run_until(lambda all_=there + come: len(world.nodes("train")) == all_)
        world.run(COUNTS_SECONDS + 1)
        status = world.status("train")
        assert (status.phase, status.nodes, status.nodes_held) == ("Pending", there + come, there + come)
