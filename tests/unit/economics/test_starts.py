"""Runs start at the same ticks every time, and tiers side by side see one time."""

import json
from pathlib import Path

import pytest

from spotproof.economics.starts import Every, Listed, Run, read_starts, runs
from spotproof.economics.traces import Trace, TraceError, Window, read_trace

HOUR = 3600


def whole(capacity: str, name: str = "a", gap: int = 600) -> Trace:
    return Trace(name, name, "p3.2xlarge", gap, (Window(None, None, capacity),), whole=True)


def windows(capacities: dict[int, str], name: str = "a", gap: int = 195) -> Trace:
    several = tuple(Window(number, None, capacity) for number, capacity in capacities.items())
    return Trace(name, name, "p3.2xlarge", gap, several, whole=False)


def test_the_last_start_of_a_whole_trace_leaves_room_for_the_deadline_and_twelve_ticks() -> None:
    starts = [run.start_tick for run in runs([whole("1" * 39)], Every(5), 2 * HOUR)]

    assert starts == [0, 5, 10]  # 15 is not below 39 - (12 + 12)


def test_a_deadline_inside_a_tick_counts_the_whole_tick() -> None:
    starts = [run.start_tick for run in runs([whole("1" * 39)], Every(1), 2 * HOUR + 1)]

    assert starts[-1] == 13


def test_a_run_sees_the_record_from_its_start_to_the_end() -> None:
    trace = whole("1" * 10 + "0" * 15)

    assert list(runs([trace], Listed("starts", (8,)), HOUR)) == [Run(None, 8, ("11" + "0" * 15,))]


def test_every_window_is_one_run_from_its_first_tick() -> None:
    found = list(runs([windows({4: "110", 2: "001"})], Every(10), HOUR))

    assert found == [Run(4, 0, ("110",)), Run(2, 0, ("001",))]


def test_windows_of_several_tiers_are_joined_by_the_ids_that_all_have() -> None:
    tiers = [windows({1: "11", 2: "10", 3: "00"}), windows({3: "01", 1: "00"}, "b")]

    assert list(runs(tiers, Every(10), HOUR)) == [Run(1, 0, ("11", "00")), Run(3, 0, ("00", "01"))]


def test_whole_traces_run_side_by_side_by_tick_to_the_end_of_the_shorter() -> None:
    tiers = [whole("1" * 21), whole("0" * 30, "b")]

    assert list(runs(tiers, Every(2), HOUR)) == [Run(None, 0, ("1" * 21, "0" * 21)), Run(None, 2, ("1" * 19, "0" * 19))]


@pytest.mark.parametrize(
    ("tiers", "sentence"),
    [
        ([whole("1"), whole("1", "b", gap=195)], "a and b: ticks of 600 s and of 195 s cannot run side by side"),
        ([whole("1", gap=195), windows({0: "1"}, "b")], "a and b: a whole trace and a file of windows cannot"),
        ([windows({0: "1"}), windows({1: "1"}, "b")], "a, b: have no window id in common"),
        ([whole("1" * 18)], "a: 18 ticks are too few, the deadline needs 19 (6 and 12 to spare)"),
    ],
)
def test_tiers_that_do_not_fit_are_refused(tiers: list[Trace], sentence: str) -> None:
    with pytest.raises(TraceError) as error:
        list(runs(tiers, Every(10), HOUR))

    assert sentence in str(error.value)


def test_a_file_of_starts_is_for_whole_traces(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    path.write_text("[0, 3]", encoding="utf-8")
    starts = read_starts(str(path))

    assert [run.start_tick for run in runs([whole("1" * 4)], starts, HOUR)] == [0, 3]
    with pytest.raises(TraceError, match="starts are for whole traces, and a starts every window in its first tick"):
        list(runs([windows({0: "1"})], starts, HOUR))
    with pytest.raises(TraceError, match="holds the start 3, and a ends after 3 ticks"):
        list(runs([whole("1" * 3)], starts, HOUR))


def test_one_list_of_several_is_named_behind_a_colon(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    path.write_text(json.dumps({"note": "what", "one": [1, 2], "two": [5]}), encoding="utf-8")

    assert read_starts(f"{path}:two") == Listed(f"{path}:two", (5,))
    with pytest.raises(TraceError, match=r"holds 2 lists of starts, and which is not said; write \S+:one or \S+:two"):
        read_starts(str(path))
    with pytest.raises(TraceError, match=r'has no list of starts "three"; write \S+:one or \S+:two'):
        read_starts(f"{path}:three")


def test_a_path_with_a_colon_is_a_path_where_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "starts:2022.json"
    path.write_text("[4]", encoding="utf-8")

    assert read_starts(str(path)) == Listed(str(path), (4,))


@pytest.mark.parametrize("text", ["every:", "every:0", "every:-1", "every:1.5", "every:x", "every: 3", "every:\u0663"])
def test_a_step_is_a_whole_number_of_ticks_from_one(text: str) -> None:
    with pytest.raises(TraceError, match="write every:10"):
        read_starts(text)


def test_a_step_is_read() -> None:
    assert read_starts("every:25") == Every(25)


@pytest.mark.parametrize("content", ["[]", "{}", "3", "[1, -1]", "[1, 1.5]", '["1"]', "[true]", "{"])
def test_a_file_without_ticks_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(TraceError, match=r"starts\.json"):
        read_starts(str(path))


def test_a_file_of_starts_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read"):
        read_starts(str(tmp_path / "none.json"))


def test_the_starts_of_the_published_figures_are_there(shared: Path) -> None:
    folder = shared / "traces" / "probe-1node-2022"
    starts = read_starts(f"{folder / 'starts.json'}:authors_1000_us_west_2a_v100_1")
    trace = read_trace(folder / "2022-10-26_us-west-2a_v100_1.json")

    assert len(list(runs([trace], starts, 52 * HOUR))) == 1000
