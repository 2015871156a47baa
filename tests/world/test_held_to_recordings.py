"""The imitation against what a real control plane did: the same triggers, the same facts."""

import difflib
from functools import cache

import pytest

from spotproof.rehearsal.recording import Recording, load
from tests.conftest import ROOT
from tests.recordings.stories import STORIES, missing
from tests.recordings.world import by_write
from tests.world.facts import lines
from tests.world.plays import PLAYS


@cache
def recorded(name: str) -> Recording:
    found = load(ROOT / "tests" / "recordings" / f"{name}.json")
    return Recording(tuple(by_write(found)), seconds=found.seconds)


@cache
def played(name: str) -> Recording:
    return PLAYS[name](recorded(name)).recorded.recording()


def test_every_recorded_story_is_played() -> None:
    assert set(PLAYS) == set(STORIES)


@pytest.mark.parametrize("name", PLAYS)
def test_a_world_comes_through_a_recorded_story_step_by_step(name: str) -> None:
    assert missing(name, played(name)) == []


@pytest.mark.parametrize("name", PLAYS)
def test_objects_of_a_world_live_as_those_of_the_recording_did(name: str) -> None:
    real, ours = lines(recorded(name)), lines(played(name))
    assert real == ours, "\n" + "\n".join(difflib.unified_diff(real, ours, "recorded", "played", lineterm="", n=0))
