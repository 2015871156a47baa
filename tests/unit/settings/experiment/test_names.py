"""What a run is called, and how long that may be."""

from typing import Any

import pytest

from tests.unit.settings.experiment.experiments import experiment, load, problems, ray


@pytest.mark.parametrize(("stem", "run"), [("train", "train"), ("My_Run 2", "my-run-2")])
def test_a_run_without_a_name_is_called_like_its_file(stem: str, run: str) -> None:
    assert load(experiment(), stem=stem).run == run


def test_a_file_whose_name_is_none_asks_for_one() -> None:
    assert "Write a name" in problems(experiment(), stem="2026-run")["name"]


@pytest.mark.parametrize(("raw", "longest"), [(experiment(), 63 - len("-worker-0-1-abcde")), (ray(), 47)])
def test_a_name_may_be_as_long_as_the_operator_takes(raw: dict[str, Any], longest: int) -> None:
    assert load(raw, stem="n" * longest).run == "n" * longest
    assert "name" in problems(raw, stem="n" * (longest + 1))
