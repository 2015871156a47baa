"""What several processes found is put together in their order, and one that dies is something wrong."""

import sys
from pathlib import Path
from typing import Final

from tests.resume.report import merged, page
from tests.resume.side_by_side import Side, side_by_side

FINDS: Final = """
import json, sys
name, path = sys.argv[1], sys.argv[3]
row = {"example": name, "store": "file", "kills": 5, "told": 2, "half_written": 1, "lost_steps_mean": 3.5,
       "lost_steps_worst": 7, "seconds_to_resume_mean": 4.0, "seconds_to_resume_worst": 5.0, "megabytes_written": 6.0}
found = {"proven": [row], "caught": [], "not_run": {}, "wrong": []}
open(path, "w").write(json.dumps(found))
"""


def side(name: str, folder: Path, program: str = FINDS) -> Side:
    return Side(name, [sys.executable, "-c", program, name], folder / f"{name}.json")


def test_what_each_found_is_put_together_in_their_order(tmp_path: Path) -> None:
    found = merged(side_by_side([side(each, tmp_path) for each in ("a", "b", "c")], 2))

    assert [row["example"] for row in found["proven"]] == ["a", "b", "c"]
    assert found["wrong"] == []


def test_one_that_dies_without_a_word_is_wrong(tmp_path: Path) -> None:
    found = merged(side_by_side([side("a", tmp_path, "raise SystemExit(3)"), side("b", tmp_path)], 1))

    assert found["wrong"] == ["a: the proof itself ended with 3"]
    assert [row["example"] for row in found["proven"]] == ["b"]


def test_the_page_says_how_many_ran_at_once_and_what_was_not_run(tmp_path: Path) -> None:
    found = merged(side_by_side([side("jax-orbax-jobset", tmp_path)], 2))

    said = page({**found, "not_run": {"torch-dcp-jobset": "too large"}}, 2)

    assert "2 examples side by side" in said
    assert "| jax-orbax-jobset | file | 5 | 2 | 1 | 3.50 | 7 | 20 | 4.00 | 5.00 | 6.00 |" in said
    assert "Not run: torch-dcp-jobset: too large." in said
