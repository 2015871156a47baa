import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.rehearsal.recording import Mark, Recording, RecordingError, Version, load, read
from tests.unit.rehearsal.tale import Tale, node, pod
from tests.unit.rehearsal.test_patches import OBJECTS


def version(at: float, uid: str, body: Any) -> Version:
    kind = uid.partition("-")[0]
    return Version(at, "modified", {"kind": kind, "metadata": {"uid": uid}, "body": body})


VERSIONS = st.lists(
    st.builds(version, st.sampled_from([0.0, 0.25, 1.5]), st.sampled_from(["pod-1", "pod-2", "node-1"]), OBJECTS),
    max_size=8,
)


@given(VERSIONS, st.lists(st.builds(Mark, st.just(1.5), st.sampled_from(["a", "b"]), st.sampled_from(["", "Pod/x"]))))
def test_what_is_written_is_read_back_version_by_version(versions: list[Version], marks: list[Mark]) -> None:
    recording = Recording(tuple(versions), tuple(marks), 2.5, {"story": "ü"})

    assert read(recording.text()) == recording
    assert read(recording.text()).text() == recording.text()


def test_a_version_is_a_line_that_holds_what_is_new(tmp_path: Path) -> None:
    tale = Tale().put(1, pod("a"), pod("b", rank=1)).put(2, pod("a", phase="Running"))
    file = tmp_path / "x.json"
    tale.ends(3).save(file)
    lines = [json.loads(line.strip().rstrip(",")) for line in file.read_text().splitlines() if '"of"' in line]

    assert [(line["of"], line.get("like")) for line in lines] == [("pod-a", None), ("pod-b", "pod-a"), ("pod-a", None)]
    assert lines[1]["patch"] == {
        "metadata": {
            "labels": {"batch.kubernetes.io/job-completion-index": "1"},
            "name": "b",
            "uid": "pod-b",
        }
    }
    assert lines[2]["patch"] == {"status": {"phase": "Running"}}


def test_a_file_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    recording = Tale().put(1, pod("a")).put(2, node("n")).gone(3, pod("a")).mark(2.5, "reclaim", "Node/n").ends(4)
    recording.save(tmp_path / "x.json")

    assert load(tmp_path / "x.json") == recording


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "x.json is not JSON"),
        ("[]", "format None"),
        ('{"format": "spotproof-recording/9"}', "what is read here is spotproof-recording/1"),
        ('{"format": "spotproof-recording/1", "versions": [{}]}', "is damaged"),
        ('{"format": "spotproof-recording/1", "versions": [{"of": "a", "like": "b"}]}', "is damaged"),
    ],
)
def test_a_file_that_is_no_recording_says_so(text: str, says: str) -> None:
    with pytest.raises(RecordingError, match=says):
        read(text, "x.json")
