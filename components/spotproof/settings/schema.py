"""The JSON schemas of stack and experiment files, for editors and for whoever writes such files by program."""

from collections.abc import Mapping
from typing import Final, get_args

from spotproof.settings.environment import Environment
from spotproof.settings.experiment.model import Experiment
from spotproof.settings.fallback import Deadline
from spotproof.settings.refuse import ENVIRONMENT_KEY

FILLED_IN: Final = ("pools",)
"""Required in an Environment, but filled in where the file leaves it out."""


def stack_schema() -> dict[str, object]:
    """JSON Schema (2020-12) of a whole stack file: the settings closed, Pulumi's own keys open."""
    environment = _without_nulls(Environment.model_json_schema(by_alias=True))
    assert isinstance(environment, dict)  # noqa: S101 - for the type checker: a model's schema is a mapping
    definitions = environment.pop("$defs", {})
    _allow_bare_word(definitions["FallbackPolicy"]["properties"]["deadline"])
    environment["required"] = [key for key in environment["required"] if key not in FILLED_IN]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A spotproof stack file",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "properties": {ENVIRONMENT_KEY: environment},
                "required": [ENVIRONMENT_KEY],
            }
        },
        "required": ["config"],
        "$defs": definitions,
    }


def experiment_schema() -> dict[str, object]:
    """JSON Schema (2020-12) of an experiment file; what depends on an environment is `spotproof render`'s to say."""
    schema = _without_nulls(Experiment.model_json_schema(by_alias=True))
    assert isinstance(schema, dict)  # noqa: S101 - for the type checker: a model's schema is a mapping
    _one_memory(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "A spotproof experiment file",
    }


def _one_memory(schema: dict[str, object]) -> None:
    """Of ramRatio and memory one is needed, which a validator of the model says and its schema cannot know."""
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)  # noqa: S101 - for the type checker: there are models below this one
    definitions["Resources"]["oneOf"] = [{"required": ["ramRatio"]}, {"required": ["memory"]}]


def _allow_bare_word(deadline: dict[str, object]) -> None:
    """A validator of the model makes a mode alone a whole deadline, which pydantic's schema cannot know."""
    modes = list(get_args(Deadline.model_fields["mode"].annotation))
    deadline["anyOf"] = [{"$ref": deadline.pop("$ref")}, {"enum": modes}]


def _without_nulls(schema: object) -> object:
    """Keys that may be left out are left out, not written as null."""
    if isinstance(schema, list):
        return [_without_nulls(item) for item in schema if item != {"type": "null"}]
    if not isinstance(schema, Mapping):
        return schema
    plain = {key: _without_nulls(value) for key, value in schema.items() if key != "default"}
    if "default" in schema and schema["default"] is not None:
        plain["default"] = schema["default"]
    if isinstance(only := plain.get("anyOf"), list) and len(only) == 1:
        plain = {key: value for key, value in plain.items() if key != "anyOf"} | only[0]
    return plain
