"""The whole story of one job."""

import pytest

from spotproof.fallback.record import Outlook, RunTier
from spotproof.status.story import CAUSES, STEPS, answer, outlook, stories
from tests.unit.status.worlds import MOVING, NOW, WAITING, run, world


def test_a_story_is_told_of_the_job_that_was_asked_for_wherever_it_is() -> None:
    found = stories(world(WAITING, MOVING, run("tune", namespace="speech")), "tune")
    assert sorted(each.row.namespace for each in found) == ["research", "speech"]


def test_an_interruption_and_a_move_are_told_with_their_begin() -> None:
    (story,) = stories(world(MOVING), "tune")
    lost, move = story.doing
    assert (lost.what, NOW - lost.since) == ("interrupted", 90)
    assert lost.more == "on a100-spot-a-7zk2m, taken for an eviction: spot node a100-spot-a-7zk2m is gone"
    assert (move.what, NOW - move.since) == ("move begun", 60)
    assert move.more == "from a100-spot-a to a100, now waiting for its last pod to go"


def test_a_restart_is_a_move_to_where_it_was_and_says_why_if_the_status_does_not() -> None:
    move = MOVING["status"]["move"] | {"to": "a100-spot-a", "message": "its nodes were given back"}
    (story,) = stories(world(run("x", phase="Parked", move=move)), "x")
    assert story.doing[0].more == "again on a100-spot-a (its nodes were given back), now waiting for its last pod to go"


def test_every_step_and_cause_has_its_words() -> None:
    for step in STEPS:
        assert stories(world(run("x", move=MOVING["status"]["move"] | {"step": step})), "x")[0].doing
    for cause in CAUSES:
        lost = MOVING["status"]["interruption"] | {"cause": cause}
        assert stories(world(run("x", interruption=lost)), "x")[0].doing


@pytest.mark.parametrize(
    ("tier", "said"),
    [
        (RunTier(pool="a"), "not looked at yet"),
        (RunTier(pool="a", there=True, up=NOW - 60), "had room 1m ago"),
        (RunTier(pool="a", there=True, up=NOW - 60, asked=NOW - 60), "had room 1m ago, asked 1m ago"),
        (RunTier(pool="a", up=NOW - 900, down=NOW - 3600), "had no room 1h ago"),
        (RunTier(pool="a", asking_since=NOW - 5, down=NOW - 3600), "being asked for 5s"),
    ],
)
def test_a_tiers_last_answer(tier: RunTier, said: str) -> None:
    assert answer(tier, NOW) == said


SAVED = "9h of 10h of work is saved (reported); without another break"


@pytest.mark.parametrize(
    ("spare", "at", "said"),
    [
        (1800, NOW + 7200, f"2026-11-21 14:00 UTC, in 2h: {SAVED} 30m to spare"),
        (-600, NOW + 7200, f"2026-11-21 14:00 UTC, in 2h: {SAVED} 10m late"),
        (-7200, NOW - 60, f"2026-11-21 11:59 UTC, 1m ago: {SAVED} 2h late"),
    ],
)
def test_a_deadlines_outlook(spare: int, at: int, said: str) -> None:
    deadline = Outlook(at=at, work_seconds=36000, done_seconds=32400, spare_seconds=spare, progress="reported")
    assert outlook(deadline, NOW) == said
