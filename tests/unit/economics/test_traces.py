"""Two probe formats are read, and whatever else a path holds is named for what it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from spotproof.economics.traces import TraceError, Window, read_trace

WHOLE: dict[str, Any] = {
    "format": "spot-trace/1",
    "zone": "us-west-2a",
    "instance": "p3.2xlarge",
    "gap_seconds": 600,
    "start": "2022-10-26T22:05:04.000Z",
    "ticks": 4,
    "capacity": "1101",
    "source": "not read",
}
WINDOWS: dict[str, Any] = {
    "format": "spot-trace-windows/1",
    "zone": "us-east-1a",
    "instance": "p3.2xlarge",
    "gap_seconds": 195,
    "ticks_per_window": 3,
    "windows": [
        {"id": 0, "start": "2023-03-30T13:38:47", "capacity": "110"},
        {"id": 7, "start": "2023-02-16T00:00:00", "capacity": "000"},
    ],
}


def written(folder: Path, value: object) -> Path:
    path = folder / "market.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_whole_trace_is_one_window_without_an_id(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, WHOLE))

    assert (trace.name, trace.zone, trace.instance, trace.gap_seconds) == ("market", "us-west-2a", "p3.2xlarge", 600)
    assert trace.whole
    assert trace.windows == (Window(None, "2022-10-26T22:05:04.000Z", "1101"),)
    assert trace.availability == 0.75


def test_windows_keep_their_ids_and_their_order(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, WINDOWS))

    assert not trace.whole
    assert [(window.id, window.capacity) for window in trace.windows] == [(0, "110"), (7, "000")]
    assert trace.availability == pytest.approx(2 / 6)


def test_a_mark_of_byte_order_before_the_json_does_no_harm(tmp_path: Path) -> None:
    assert read_trace(written(tmp_path, "\ufeff" + json.dumps(WHOLE))).gap_seconds == 600


def test_number_of_ticks_and_start_may_be_left_out(tmp_path: Path) -> None:
    short = {key: value for key, value in WHOLE.items() if key not in {"ticks", "start"}}

    assert read_trace(written(tmp_path, short)).windows == (Window(None, None, "1101"),)


def without(values: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != key}


WRONG: dict[str, tuple[object, str]] = {
    "no JSON": ("{", "is not JSON (Expecting property name enclosed in double quotes in line 1)"),
    "a number too long": ("1" * 5000, "is not JSON"),
    "nested for ever": ("[" * 100_000, "is nested too deeply"),
    "a list": ([1, 0], "holds [1, 0], not a trace"),
    "a text": ('"110"', 'holds "110", not a trace'),
    "no format": (without(WHOLE, "format"), "has no format; a trace is a JSON object whose format is spot-trace/1"),
    "another format": ({"format": "spot-steps/1"}, 'its format is "spot-steps/1", which holds no market per tick'),
    "a format that is no text": ({"format": ["spot-trace/1"]}, 'its format is ["spot-trace/1"]'),
    "a raw probe file": (
        {"metadata": {}, "data": [1, 0]},
        "is a raw probe file, whose 1 may mean that the launch failed",
    ),
    "no zone": (without(WHOLE, "zone"), "zone is missing; it has to be the zone's name"),
    "no gap": (without(WHOLE, "gap_seconds"), "gap_seconds is missing; it has to be the length of a tick"),
    "no capacity": (without(WHOLE, "capacity"), "capacity is missing; it has to be one digit per tick"),
    "no windows": (without(WINDOWS, "windows"), "windows is missing; it has to be a list of at least one window"),
    "gap of nothing": (WHOLE | {"gap_seconds": 0}, "gap_seconds is 0; it has to be"),
    "gap below nothing": (WHOLE | {"gap_seconds": -600}, "gap_seconds is -600; it has to be"),
    "gap with decimals": (WHOLE | {"gap_seconds": 600.0}, "gap_seconds is 600.0; it has to be"),
    "gap as text": (WHOLE | {"gap_seconds": "600"}, 'gap_seconds is "600"; it has to be'),
    "gap that is true": (WHOLE | {"gap_seconds": True}, "gap_seconds is true; it has to be"),
    "empty capacity": (WHOLE | {"capacity": "", "ticks": 0}, 'capacity is ""; it has to be'),
    "capacity of counts": (WHOLE | {"capacity": "1021"}, 'capacity has "2" at tick 2; it has to be'),
    "capacity with a line end": (WHOLE | {"capacity": "110\n"}, 'capacity has "\\n" at tick 3'),
    "digits of another script": (WHOLE | {"capacity": "11\u0661"}, 'capacity has "\u0661" at tick 2'),
    "capacity as a list": (WHOLE | {"capacity": [1, 1, 0, 1]}, "capacity is [1, 1, 0, 1]; it has to be"),
    "ticks of another number": (WHOLE | {"ticks": 5}, "ticks is 5, and capacity has 4 digits"),
    "an empty list of windows": (
        WINDOWS | {"windows": []},
        "windows is []; it has to be a list of at least one window",
    ),
    "a window that is none": (WINDOWS | {"windows": ["110"]}, 'windows[0] is "110"; it has to be a window'),
    "a window without id": (WINDOWS | {"windows": [{"capacity": "110"}]}, "windows[0].id is missing"),
    "an id as text": (WINDOWS | {"windows": [{"id": "0", "capacity": "110"}]}, 'windows[0].id is "0"; it has to be'),
    "a window of counts": (
        WINDOWS | {"windows": [{"id": 0, "capacity": "130"}]},
        'windows[0].capacity has "3" at tick 1',
    ),
    "one id twice": (WINDOWS | {"windows": WINDOWS["windows"][:1] * 2}, "window 0 is there 2 times"),
    "windows of another length": (
        WINDOWS | {"ticks_per_window": 9},
        "ticks_per_window is 9, and the capacity of window 0",
    ),
    "windows in a whole trace's format": (WINDOWS | {"format": "spot-trace/1"}, "capacity is missing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_sentence_that_names_the_file(case: str, tmp_path: Path) -> None:
    value, sentence = WRONG[case]
    path = written(tmp_path, value)

    with pytest.raises(TraceError) as error:
        read_trace(path)

    assert str(error.value).startswith(f"{path}: ")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_is_a_folder_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"none\.json: cannot be read \(No such file or directory\)"):
        read_trace(tmp_path / "none.json")
    with pytest.raises(TraceError, match=r"cannot be read \(Is a directory\); name the file of one trace"):
        read_trace(tmp_path)


def test_text_in_another_encoding_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    path.write_bytes(json.dumps(WHOLE).encode("utf-16"))

    with pytest.raises(TraceError, match="is not text in UTF-8"):
        read_trace(path)


def test_a_list_of_starts_beside_the_traces_is_no_trace(shared: Path) -> None:
    with pytest.raises(TraceError, match="has no format"):
        read_trace(shared / "traces" / "probe-1node-2022" / "starts.json")
