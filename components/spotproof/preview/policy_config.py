"""A policy configuration as people write it, checked and completed as Pulumi's engine does before a run.

Shape: policy name -> level, or an object with `enforcementLevel` and the policy's own properties. The name
`all` sets the level of every policy that has none of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spotproof.settings.near import near
from spotproof_policies.model import Policy

LEVELS: Final = ("advisory", "mandatory", "disabled")
_ALL: Final = "all"
_LEVEL_KEY: Final = "enforcementLevel"


class PolicyConfigError(ValueError):
    """A policy configuration that cannot be meant so; the text names everything that is wrong with it."""


@dataclass(frozen=True)
class PolicySettings:
    """What one policy runs with: its level and all of its properties."""

    level: str
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])


def resolve(policies: Sequence[Policy], config: object) -> dict[str, PolicySettings]:
    """Return what every policy runs with, defaults filled in. `config` is what a JSON file holds, or None.

    Raises:
        PolicyConfigError: unknown policies, levels or properties, and values that a schema refuses; all at once.
    """
    written = {} if config is None else config
    if not isinstance(written, Mapping):
        raise PolicyConfigError(
            f"The policy configuration is a {type(written).__name__}. Write an object: policy name to level or object."
        )
    by_name = {policy.name: policy for policy in policies}
    problems = [problem for name, value in written.items() for problem in _problems(by_name, name, value)]
    if problems:
        raise PolicyConfigError("\n".join(problems))
    general = _level(written.get(_ALL))
    return {policy.name: _settings(policy, written.get(policy.name), general) for policy in policies}


def _settings(policy: Policy, written: object, general: str | None) -> PolicySettings:
    level = _level(written) or general or policy.level
    return PolicySettings(level, {**policy.defaults, **_properties(written)})


def _level(written: object) -> str | None:
    level = written.get(_LEVEL_KEY) if isinstance(written, Mapping) else written
    return level if isinstance(level, str) else None


def _properties(written: object) -> dict[str, Any]:
    if not isinstance(written, Mapping):
        return {}
    return {str(key): value for key, value in written.items() if key != _LEVEL_KEY}


def _problems(by_name: Mapping[str, Policy], name: str, written: object) -> Iterator[str]:
    if name != _ALL and name not in by_name:
        yield f"There is no policy `{name}`, so this entry would do nothing.{_nearest(name, by_name)}"
        return
    if not isinstance(written, str | Mapping):
        yield f"`{name}` is neither a level ({', '.join(LEVELS)}) nor an object with {_LEVEL_KEY} and properties."
        return
    level = written.get(_LEVEL_KEY) if isinstance(written, Mapping) else written
    if level is not None and level not in LEVELS:
        yield f"The level of `{name}` is `{level}`. Write one of {', '.join(LEVELS)}.{_nearest(str(level), LEVELS)}"
    properties = _properties(written)
    if name == _ALL:
        if properties:
            yield f"`{_ALL}` sets a level only and has {', '.join(properties)}. Write properties under their policy."
        return
    yield from _refused(by_name[name], properties)


def _refused(policy: Policy, properties: Mapping[str, Any]) -> Iterator[str]:
    for key, value in properties.items():
        if key not in policy.config_schema:
            known = ", ".join(policy.config_schema) or "none"
            yield (
                f"The policy `{policy.name}` has no property `{key}` (it has: {known})."
                f"{_nearest(key, policy.config_schema)}"
            )
            continue
        # Loaded here: most runs have no properties, and the import costs more than all policies together.
        import jsonschema  # noqa: PLC0415

        schema = {**policy.config_schema[key]}
        for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
            yield f"`{policy.name}.{key}` is refused: {error.message}. It means: {schema['description']}"


def _nearest(word: str, known: Mapping[str, object] | Sequence[str]) -> str:
    guess = near(word, known)
    return f" Did you mean `{guess}`?" if guess else ""
