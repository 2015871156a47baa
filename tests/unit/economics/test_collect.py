from pathlib import Path

import pytest

from spotproof.economics.collect import collect
from spotproof.economics.traces import TraceError
from tests.unit.economics.trace_files import whole


def test_files_come_in_the_order_given_and_those_of_a_folder_by_name(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    last = whole(tmp_path / "a.json", "1")
    for name in ("c", "b"):
        whole(tmp_path / "folder" / f"{name}.json", "1")

    assert [each.name for each in collect([tmp_path / "folder", last]).traces] == ["b", "c", "a"]


def test_other_json_in_a_folder_is_left_out_with_a_note(tmp_path: Path) -> None:
    whole(tmp_path / "a.json", "1")
    (tmp_path / "starts.json").write_text('{"some": [1]}')
    (tmp_path / "README.md").write_text("no trace")

    found = collect([tmp_path])

    assert [each.name for each in found.traces] == ["a"]
    assert found.notes == (f"{tmp_path / 'starts.json'}: is no trace and was left out",)


def test_a_foreign_file_that_is_named_is_refused(tmp_path: Path) -> None:
    starts = tmp_path / "starts.json"
    starts.write_text('{"some": [1]}')

    with pytest.raises(TraceError, match=r"starts\.json: has no format"):
        collect([starts])


def test_every_file_that_cannot_be_used_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "broken.json").write_text("{")
    whole(tmp_path / "folder" / "wrong.json", "12")

    with pytest.raises(TraceError) as error:
        collect([tmp_path / "none.json", tmp_path / "folder"])

    lines = str(error.value).splitlines()
    assert [line.split(": ")[0].rpartition("/")[2] for line in lines] == ["none.json", "broken.json", "wrong.json"]


def test_a_folder_without_a_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    whole(tmp_path / "below" / "a.json", "1")

    with pytest.raises(TraceError, match="holds no trace"):
        collect([tmp_path])


def test_a_file_that_is_named_twice_is_taken_once(tmp_path: Path) -> None:
    file = whole(tmp_path / "a.json", "1")

    found = collect([file, tmp_path])

    assert len(found.traces) == 1
    assert "named twice" in found.notes[0]


def test_traces_of_one_name_are_called_by_their_folders(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        whole(tmp_path / folder / "a.json", "1")

    assert [each.name for each in collect([tmp_path / "x", tmp_path / "y"]).traces] == ["x/a", "y/a"]
