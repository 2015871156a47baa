"""From what a user wrote to an Environment, or to every problem it has, at once."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from typing import Final

from pydantic import Field, ValidationError, create_model

from spotproof.settings import checks, defaults, network_checks, pool_checks, support
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, SettingsError
from spotproof.settings.explain import explain
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.refuse import (
    ENVIRONMENT_KEY,
    beside,
    cloud_of,
    example_provider,
    missing_environment,
    names_a_cloud,
    refused,
    unreadable,
    wrong_environment,
)
from spotproof.settings.repair import repaired
from spotproof.settings.walk import Path, parts, position, touches

ROUNDS: Final = 4
"""A replaced part can uncover another, as a union does; no file was seen that needed more than three."""


AT_A_NAME: Final = 3
"""Parts of a path as long as `pools[0].name`."""


def load_environment(raw: object, *, today: date, source: str = "") -> Environment:
    """The environment of `spotproof:environment`, complete and cross-checked.

    Args:
        raw: plain values, as JSON or YAML give them.
        today: the day against which support dates are judged.
        source: names the file in errors.

    Raises:
        SettingsError: with every problem of the settings.
    """
    return _or_raise(*_examined(raw, today), raw, source)


def load_stack(config: Mapping[str, object], *, today: date, source: str = "") -> Environment:
    """As load_environment, from the `config` of a stack file, whose other `spotproof:` keys are refused.

    Raises:
        SettingsError: with every problem of the file.
    """
    raw = config.get(ENVIRONMENT_KEY)
    others = [key for key in config if key.startswith("spotproof:") and key != ENVIRONMENT_KEY]
    first = [problem for key in others for problem in beside(key, config[key], raw)]
    environment, problems = (None, [missing_environment()]) if raw is None else _examined(raw, today)
    return _or_raise(environment, [*first, *problems], raw, source)


def _or_raise(environment: Environment | None, problems: list[Problem], raw: object, source: str) -> Environment:
    if environment is None or problems:
        raise SettingsError(sorted(problems, key=lambda problem: position(raw, parts(problem.key))), source)
    return environment


def _examined(raw: object, today: date) -> tuple[Environment | None, list[Problem]]:
    """The environment where its shape allows one, and every problem it has.

    Where the shape is broken, the rest is still cross-checked, on a copy whose broken parts are
    replaced by examples; what is found there counts only if it does not touch a replaced part.
    """
    if not isinstance(raw, dict):
        return None, [wrong_environment(raw)]
    values, problems, replaced, unjudged = refused(raw)
    cloud = cloud_of(values)
    model = _model(cloud)
    for _ in range(ROUNDS):
        values = defaults.complete(values, PROVIDERS[cloud])
        try:
            environment = model.model_validate_json(json.dumps(values), by_alias=True, by_name=False)
        except ValidationError as error:
            if _is_unreadable(error):
                return None, [*problems, unreadable(error.errors(include_url=False)[0]["msg"])]
            problems += [found for found in explain(error, values, model) if not _touches(found, replaced)]
            values, broken = repaired(values, error, model)
            replaced |= broken
            if any(path[0] == "pools" and (len(path) < AT_A_NAME or path[-1] == "name") for path in broken):
                unjudged.add(("fallbackPolicies",))  # their tiers name pools that are not known now
        except (ValueError, TypeError, RecursionError) as error:
            return None, [*problems, unreadable(str(error))]
        else:
            found = _cross_checks(environment, today, of_the_cloud=names_a_cloud(raw))
            problems += [problem for problem in found if not _touches(problem, replaced | unjudged)]
            return environment, problems
    return None, problems


def _is_unreadable(error: ValidationError) -> bool:
    """Whether the values were no JSON for pydantic: half characters, or mappings nested hundreds deep."""
    return any(detail["type"] == "json_invalid" for detail in error.errors(include_url=False))


@cache
def _model(cloud: str) -> type[Environment]:
    """The environment with the provider of one cloud: what is wrong is then said of its fields, not of a union's."""
    provider = PROVIDERS[cloud]
    field = Environment.model_fields["provider"]
    narrowed = (provider, Field(description=field.description, examples=[example_provider(cloud)]))
    model = create_model("Environment", __base__=Environment, provider=narrowed)
    model.cloud_examples = provider.examples
    return model


def _cross_checks(env: Environment, today: date, *, of_the_cloud: bool) -> Iterator[Problem]:
    """What does not agree; where the file names no cloud, only what would not on any."""
    for check in (*checks.CHECKS, *network_checks.CHECKS):
        yield from check(env)
    if not of_the_cloud:
        return
    for check in pool_checks.CHECKS:
        yield from check(env)
    yield from env.provider.problems(env)
    yield from support.problems(env, today)


def _touches(problem: Problem, replaced: Iterable[Path]) -> bool:
    """Whether a problem lies in, or above, a part that was replaced."""
    return touches(problem.key, replaced)


def warnings(env: Environment, today: date) -> Iterator[Problem]:
    """What is no error and should be said at every preview."""
    yield from support.warnings(env, today)
    yield from env.provider.warnings(env)
