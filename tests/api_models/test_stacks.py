"""Every input of every stack against its cloud's own API model; what cannot be judged is listed."""

from collections.abc import Callable, Iterator

import pytest

from tests.api_models.clouds import CLOUDS, MODELS, resources
from tests.api_models.judge import judged
from tests.api_models.rows import Own, Row


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_clouds_api_would_take_every_input(cloud: str) -> None:
    found = [finding for one in resources(cloud) for finding in judged(one, MODELS[cloud])[1]]

    assert [f"{one.urn.rpartition('::')[2]} {one.path}: {one.message}" for one in found] == []


@pytest.mark.parametrize("cloud", CLOUDS)
def test_every_line_of_the_table_is_needed(cloud: str) -> None:
    used = {(one.type, key) for one in resources(cloud) for key in ("", *judged(one, MODELS[cloud])[0].used)}

    assert sorted(set(_lines(cloud)) - used) == []


def _lines(cloud: str) -> Iterator[tuple[str, str]]:
    for kind, row in MODELS[cloud].table.items():
        yield kind, ""
        yield from ((kind, key) for key in ((*row.inputs, *row.unlisted) if isinstance(row, Row) else ()))


@pytest.mark.parametrize("cloud", CLOUDS)
def test_what_no_model_can_judge_is_what_the_list_says(cloud: str, golden: Callable[[str, object], None]) -> None:
    golden(f"api_models/{cloud}.md", "\n".join([*_INTRODUCTION, *_unjudged(cloud), ""]))


_INTRODUCTION = (
    "# What the cloud's own API model cannot judge",
    "",
    "Every other input of the stacks is in a field of the API and judged by its model (tests/api_models).",
    "",
    "| resource | input | why not |",
    "| --- | --- | --- |",
)


def _unjudged(cloud: str) -> Iterator[str]:
    for kind, row in MODELS[cloud].table.items():
        if isinstance(row, Own):
            yield f"| {kind} | all | {row.why} |"
            continue
        yield from (f"| {kind} | {key} | {to.why} |" for key, to in row.inputs.items() if isinstance(to, Own))
        yield from (f"| {kind} | {key} (which value) | {why} |" for key, why in row.unlisted.items())
