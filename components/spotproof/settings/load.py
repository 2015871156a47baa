"""From what a user wrote to an Environment, or to every problem it has, at once."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Final

from pydantic import ValidationError

from spotproof.settings import checks, support
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, SettingsError, shown
from spotproof.settings.explain import explain
from spotproof.settings.near import near, one_of
from spotproof.settings.provider import NOT_YET, PROVIDERS
from spotproof.settings.repair import repaired
from spotproof.settings.walk import parts, position

ENVIRONMENT_KEY: Final = "spotproof:environment"
EXAMPLE_PROVIDER: Final = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}


def load_environment(raw: object, *, today: date, source: str = "") -> Environment:
    """The environment of `spotproof:environment`, complete and cross-checked.

    Args:
        raw: plain values, as JSON or YAML give them.
        today: the day against which support dates are judged.
        source: names the file in errors.

    Raises:
        SettingsError: with every problem of the settings.
    """
    problems: list[Problem] = []
    environment = _environment(raw, problems, today)
    return _or_raise(environment, problems, raw, source)


def load_stack(config: Mapping[str, object], *, today: date, source: str = "") -> Environment:
    """As load_environment, from the `config` of a stack file, whose other `spotproof:` keys are refused.

    Raises:
        SettingsError: with every problem of the file.
    """
    problems = [_unknown_key(key) for key in config if key.startswith("spotproof:") and key != ENVIRONMENT_KEY]
    environment = None
    if ENVIRONMENT_KEY in config:
        environment = _environment(config[ENVIRONMENT_KEY], problems, today)
    else:
        problems.append(
            Problem(
                ENVIRONMENT_KEY,
                "is missing",
                "there is nothing to build",
                f"Write it under config, as in `{ENVIRONMENT_KEY}: {{provider: {shown(EXAMPLE_PROVIDER, 200)}, "
                f"spot: true}}`",
            )
        )
    return _or_raise(environment, problems, config.get(ENVIRONMENT_KEY), source)


def _or_raise(environment: Environment | None, problems: list[Problem], raw: object, source: str) -> Environment:
    if environment is None or problems:
        raise SettingsError(sorted(problems, key=lambda problem: position(raw, parts(problem.key))), source)
    return environment


def _unknown_key(key: str) -> Problem:
    if key == "spotproof:kubeconfig":
        return Problem(
            key,
            "belongs to `provider: {cloud: existing}`, which is not yet available",
            "it would not be read",
            "Remove it",
        )
    return Problem(
        shown(key) if not key.isprintable() else key,
        "is not a key of this program",
        "it would be ignored",
        f"Write it under {ENVIRONMENT_KEY}, or remove it",
    )


def _environment(raw: object, problems: list[Problem], today: date) -> Environment | None:
    """The environment where there is one; `problems` grows by what stands in its way.

    Where the shape is broken, the rest is still cross-checked, on a copy whose broken parts are
    replaced by examples; what is found there counts only if it does not touch a replaced part.
    """
    if not isinstance(raw, dict):
        problems.append(
            Problem(
                ENVIRONMENT_KEY,
                f"is {shown(raw)}, a mapping is needed",
                "there would be no settings",
                f"Write it as `{{provider: {shown(EXAMPLE_PROVIDER, 200)}, spot: true}}`",
            )
        )
        return None
    before = len(problems)
    values, replaced = _refuse_early(raw, problems)
    for _ in range(4):  # a replaced part can uncover another, as a union does; more rounds found nothing new
        values = _completed(values)
        try:
            environment = Environment.model_validate_json(json.dumps(values), by_alias=True, by_name=False)
        except ValidationError as error:
            if any(detail["type"] == "json_invalid" for detail in error.errors(include_url=False)):
                problems.append(_unreadable(error.errors(include_url=False)[0]["msg"]))
                return None
            found = [problem for problem in explain(error, values, Environment) if not _touches(problem.key, replaced)]
            problems += found
            values, broken = repaired(values, error, Environment)
            replaced |= broken
        except (ValueError, TypeError, RecursionError) as error:
            problems.append(_unreadable(str(error)))
            return None
        else:
            problems += [
                problem for problem in _cross_checks(environment, today) if not _touches(problem.key, replaced)
            ]
            return environment if len(problems) == before else None
    return None


def _unreadable(reason: str) -> Problem:
    return Problem(ENVIRONMENT_KEY, f"cannot be read ({shown(reason)})", "nothing can be built", "Write plain values")


def _completed(values: dict[str, object]) -> dict[str, object]:
    provider = values.get("provider")
    cloud = provider.get("cloud") if isinstance(provider, dict) else None
    return PROVIDERS[cloud].complete(values) if isinstance(cloud, str) and cloud in PROVIDERS else values


def _cross_checks(env: Environment, today: date) -> Iterator[Problem]:
    for check in (*checks.CHECKS, PROVIDERS[env.provider.cloud].check):
        yield from check(env)
    yield from support.problems(env, today)


def warnings(env: Environment, today: date) -> Iterator[Problem]:
    """What is no error and should be said at every preview."""
    yield from support.warnings(env, today)
    yield from PROVIDERS[env.provider.cloud].warn(env)


def _touches(key: str, replaced: Iterable[tuple[str | int, ...]]) -> bool:
    """Whether a problem's key lies in, or above, a part that was replaced."""
    path = parts(key)
    return any(path[: len(other)] == other or other[: len(path)] == path for other in replaced)


def _refuse_early(
    raw: dict[str, object], problems: list[Problem]
) -> tuple[dict[str, object], set[tuple[str | int, ...]]]:
    """What is refused by name before the shape is looked at; those parts are replaced for the checks that follow."""
    values, replaced = dict(raw), set[tuple[str | int, ...]]()
    provider = raw.get("provider")
    cloud = provider.get("cloud") if isinstance(provider, dict) else None
    if isinstance(cloud, str) and cloud not in PROVIDERS:
        problems.append(_refused_cloud(cloud))
        values["provider"] = dict(EXAMPLE_PROVIDER)
        # what is right for that cloud (instance types, zones) is wrong for the example's: only the shape is judged
        replaced |= {("provider",), ("pools",), ("network",), ("logs",), ("access",), ("controlPlane",)}
    if raw.get("spot") is True and raw.get("pools") is not None:
        problems.append(
            Problem(
                "spot",
                "is true beside pools",
                "it concerns the default pools only, so nothing would become spot by it",
                "Remove it, and write `capacity: spot` on the pools that are to be spot",
            )
        )
    problems += list(_refused_fallback(raw, values, replaced))
    return values, replaced


def _refused_cloud(cloud: str) -> Problem:
    if cloud in NOT_YET:
        return Problem(
            "provider.cloud",
            f"is {cloud} ({NOT_YET[cloud]}), which is not yet available",
            "nothing could be built",
            f"Write `cloud: {one_of(PROVIDERS)}`",
        )
    guess = near(cloud, (*PROVIDERS, *NOT_YET))
    return Problem(
        "provider.cloud",
        f"is {shown(cloud)}, and there is no such cloud",
        "nothing could be built",
        f"Write `cloud: {guess if guess in PROVIDERS else one_of(PROVIDERS)}`",
    )


def _refused_fallback(
    raw: dict[str, object], values: dict[str, object], replaced: set[tuple[str | int, ...]]
) -> Iterator[Problem]:
    operators = raw.get("operators")
    fallback = operators.get("fallback") if isinstance(operators, dict) else None
    if not isinstance(operators, dict) or not isinstance(fallback, dict):
        return
    for key in [key for key in ("mode", "image") if key in fallback and fallback[key] not in ("off", False)]:
        if key == "mode" and fallback[key] not in ("install", "existing"):
            continue
        yield Problem(
            f"operators.fallback.{key}",
            f"is {shown(fallback[key])}; the fallback controller is not yet available",
            "no job would be moved",
            "Write `fallback: {mode: off}`, or leave it out; policies are rendered all the same",
        )
        values["operators"] = {**operators, "fallback": {"mode": "off"}}
        replaced.add(("operators", "fallback"))
