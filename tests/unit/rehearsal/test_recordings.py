"""The recordings of a real control plane: readable, fit for a file, and each the story that its README row tells."""

from pathlib import Path

import pytest

from spotproof.rehearsal.recording import load
from spotproof.rehearsal.redaction import DROPPED, PLACE, SECRET_TEXT, TIME, UUID
from tests.conftest import ROOT
from tests.recordings.stories import STORIES, missing, row

FOLDER = ROOT / "tests" / "recordings"
FILES = sorted(FOLDER.glob("*.json"))
REHEARSALS = "rehearse-"
"""Files of `spotproof rehearse`, which tell no fixed story."""
LARGEST_BYTES = 350_000


def test_every_story_has_a_recording_and_every_recording_a_story() -> None:
    stems = {path.stem for path in FILES}
    assert {stem for stem in stems if not stem.startswith(REHEARSALS)} == set(STORIES)


def test_the_readme_has_a_row_for_each_story_with_its_whole_sequence() -> None:
    lines = (FOLDER / "README.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| `") and REHEARSALS not in line]
    assert rows == [row(name) for name in STORIES]


@pytest.mark.parametrize("name", STORIES)
def test_a_recording_is_its_story_step_by_step(name: str) -> None:
    recording = load(FOLDER / f"{name}.json")
    assert missing(name, recording) == []
    assert recording.about["story"] == STORIES[name].about
    assert recording.marks


@pytest.mark.parametrize("name", STORIES)
def test_a_recording_without_its_end_is_not_its_story(name: str) -> None:
    recording = load(FOLDER / f"{name}.json")
    half = type(recording)(recording.versions[: len(recording.versions) // 2])
    assert missing(name, half)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recording_is_small_and_says_nothing_of_the_machine_or_the_day(path: Path) -> None:
    text = path.read_text()
    assert len(text) < LARGEST_BYTES
    assert [found[0] for each in (UUID, TIME, PLACE, SECRET_TEXT) if (found := each.search(text))] == []
    assert [field for field in DROPPED if f'"{field}"' in text] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recording_is_written_as_it_was_read(path: Path) -> None:
    assert load(path).text() == path.read_text()
