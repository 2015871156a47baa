"""How results are kept, so that a soak goes on where it was stopped, and which of them are counted."""

from pathlib import Path

import pytest

from tests.soak.play import TRIES, Result, until_made
from tests.soak.results import Results

CALLS = ["patch trainingruns/status", "patch jobsets", "list pods", "patch jobsets"]
MOVES = ["jobset-down", "rayjob-down"]
OLD, NEW = "0123456789ab", "ba9876543210"


@pytest.fixture
def begun(tmp_path: Path) -> Results:
    """A soak that has played three cases: one went well, of one the call was not made, one went wrong."""
    results = Results.read(tmp_path / "results.jsonl", OLD)
    results.rehearsed("jobset-down", CALLS, ["pods"])
    first, second, third, *_ = results.cases(MOVES)
    results.played(first, Result(reached=True, why="", seconds=1.0, tries=2))
    results.played(second, Result(reached=False, why="", seconds=1.0, tries=3))
    results.played(third, Result(reached=True, why="two writers", seconds=1.0))
    return results


def test_a_soak_that_was_stopped_goes_on_with_what_is_left(begun: Results) -> None:
    found = begun.cases(MOVES)
    again = Results.read(begun.path, OLD)
    assert again == begun
    assert again.left(found) == found[3:]
    again.played(found[3], Result(reached=True, why="", seconds=1.0))
    assert Results.read(begun.path, OLD).left(found) == found[4:]


def test_a_line_cut_short_is_left_out_and_spoils_none_that_follows(begun: Results) -> None:
    with begun.path.open("a", encoding="utf-8") as file:
        file.write('{"move": "jobset-do')
    again = Results.read(begun.path, OLD)
    assert again == begun
    fourth = again.cases(MOVES)[3]
    again.played(fourth, Result(reached=True, why="", seconds=1.0))
    assert Results.read(begun.path, OLD).of.keys() == {*begun.of, fourth}


def test_results_of_other_code_are_not_counted_and_are_played_again(begun: Results) -> None:
    changed = Results.read(begun.path, NEW)
    assert (changed.calls, changed.of) == ({}, {})
    assert "| all | 0 | 0 | 0 | 0 | 0 |" in changed.text()
    changed.rehearsed("jobset-down", CALLS[:2], ["pods"])
    found = changed.cases(MOVES)
    assert changed.left(found) == found
    changed.played(found[0], Result(reached=True, why="", seconds=1.0))
    assert Results.read(begun.path, NEW).of.keys() == {found[0]}
    # and those of before are still there for whoever goes back to that code
    assert Results.read(begun.path, OLD) == begun


def test_lines_that_name_no_code_are_of_none(begun: Results) -> None:
    begun.path.write_text('{"move": "jobset-down", "calls": ["list pods"], "watched": []}\n', encoding="utf-8")
    assert Results.read(begun.path, OLD).calls == {}


def test_the_page_counts_cases_and_names_those_that_are_wrong_or_whose_call_was_never_made(begun: Results) -> None:
    _, second, third = begun.of
    text = begun.text()
    assert "| jobset-down | 4 | 3 | 1 | 1 | 1 |" in text
    assert "The call of 1 cases was made at the second or third try." in text
    assert f"Not made in any of 3 tries, as calls that occur only sometimes: `{second}`." in text
    assert f"Wrong: `{third}`." in text


@pytest.mark.parametrize(
    ("each", "tries", "reached", "why"),
    [
        (["made"], 1, True, ""),
        (["not", "made"], 2, True, ""),
        (["not", "not", "not", "made"], TRIES, False, ""),
        (["not", "wrong", "made"], 2, False, "two writers"),
    ],
)
def test_a_case_is_played_until_its_call_is_made_or_something_is_wrong_and_three_times_at_most(
    each: list[str], tries: int, why: str, *, reached: bool
) -> None:
    came = iter(each)

    def play() -> Result:
        word = next(came)
        return Result(word == "made", "two writers" if word == "wrong" else "", 1.5)

    assert until_made(play) == Result(reached, why, 1.5 * tries, tries)
