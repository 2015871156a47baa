"""Broken stack files never end in a traceback, and every error names its key."""

import json
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotproof.settings import ENVIRONMENT_KEY, SettingsError, load_stack
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.stack_file import parse_yaml
from tests.unit.settings.damage import VARIANTS, Damage, damaged

TODAY = date(2026, 11, 20)


def problems_of(text: str) -> SettingsError | None:
    try:
        config = parse_yaml(text, "Pulumi.broken.yaml").get("config")
        load_stack(config if isinstance(config, dict) else {}, today=TODAY)
    except SettingsError as error:
        return error
    return None


def test_a_document_of_every_cloud_is_damaged() -> None:
    clouds = {document["provider"]["cloud"] for document in VARIANTS}  # pyright: ignore[reportIndexIssue]

    assert clouds == set(PROVIDERS)


@pytest.mark.parametrize("document", VARIANTS)
def test_what_is_damaged_was_whole_before(document: dict[str, object]) -> None:
    assert problems_of(json.dumps({"config": {ENVIRONMENT_KEY: document}})) is None


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_each_of_500_damaged_files_is_refused_with_the_key_that_is_broken(damage: Damage) -> None:
    error = problems_of(damage.text)

    assert error is not None
    assert any(damage.names in problem.key or damage.names in str(problem) for problem in error.problems), str(error)
    assert all(problem.key and problem.what and problem.consequence and problem.remedy for problem in error.problems)
    assert str(error).replace("\n", "").isprintable()


@settings(max_examples=300)
@given(st.text(max_size=200))
def test_any_text_at_all_gives_settings_or_problems(text: str) -> None:
    problems_of(text)


def test_a_file_that_expands_without_end_is_refused() -> None:
    bomb = "a: &a [x, x]\n" + "\n".join(
        f"a{n}: &a{n} [*a{n - 1 if n else ''}, *a{n - 1 if n else ''}]" for n in range(40)
    )

    error = problems_of(bomb.replace("*a-1", "*a"))

    assert error is not None
    assert "aliases" in str(error)


def test_a_file_that_holds_itself_is_refused() -> None:
    error = problems_of("config: &c {again: *c}\n")

    assert error is not None
    assert "aliases" in str(error)
