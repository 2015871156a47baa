"""Every input of every stack against its cloud's own API model; what cannot be judged is listed."""

from collections.abc import Callable, Iterator

import pytest

from tests.api_models.clouds import CLOUDS, resources
from tests.api_models.judge import judged
from tests.api_models.rows import Own, Row


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_clouds_api_would_take_every_input(cloud: str) -> None:
    found = [finding for one in resources(cloud) for finding in judged(one, CLOUDS[cloud])[1]]

    assert [f"{one.urn.rpartition('::')[2]} {one.path}: {one.message}" for one in found] == []


@pytest.mark.parametrize("cloud", CLOUDS)
def test_every_row_of_the_table_is_needed(cloud: str) -> None:
    used = {(one.type, key) for one in resources(cloud) for key in ("", *judged(one, CLOUDS[cloud])[0].used)}

    assert sorted(set(_lines(cloud)) - used) == []


def _lines(cloud: str) -> Iterator[tuple[str, str]]:
    for kind, row in CLOUDS[cloud].table.items():
        yield kind, ""
        yield from ((kind, key) for key in (row.inputs if isinstance(row, Row) else ()))


def test_what_no_model_can_judge_is_what_the_list_says(golden: Callable[[str, object], None]) -> None:
    golden("api_models/unmapped.md", "\n".join([*_INTRODUCTION, *(line for cloud in CLOUDS for line in _table(cloud))]))


_INTRODUCTION = (
    "# Inputs without a field in the cloud's API",
    "",
    "`tests/api_models` judges every other input of the stacks' AWS, GCP and Azure resources by the API's own model.",
    "These are judged by nothing there, each for the reason beside it.",
    "",
)


def _table(cloud: str) -> Iterator[str]:
    yield from (f"## {cloud}", "", "| resource | input | why |", "| --- | --- | --- |")
    for kind, row in CLOUDS[cloud].table.items():
        if isinstance(row, Own):
            yield f"| {kind} | all | {row.why} |"
            continue
        yield from (f"| {kind} | {key} | {to.why} |" for key, to in row.inputs.items() if isinstance(to, Own))
    yield ""
