"""pydantic's errors as problems a person can mend: the key as written, what is wrong, what to write."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import near, one_of
from spotproof.settings.walk import Path, cleaned, field_at, pattern, siblings, value_at, written

KINDS: Final = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
LIMITS: Final = {
    "greater_than": "more than {gt:g} is possible",
    "greater_than_equal": "{ge:g} or more is possible",
    "less_than": "less than {lt:g} is possible",
    "less_than_equal": "{le:g} or less is possible",
    "string_too_long": "at most {max_length} characters are possible",
    "string_too_short": "it may not be empty",
    "too_long": "at most {max_length} of them are possible",
    "too_short": "at least {min_length} of them {verb} needed",
}
THREE_PARTS = 3
OF_A_KEY: Final = "[key]"
"""How pydantic ends the place of an error that is in a key of a mapping, not in its value."""


def explain(error: ValidationError, values: object, model: type[BaseModel]) -> Iterator[Problem]:
    """One problem for each place that is wrong; a union's several complaints about one place are one.

    A misspelt key and the missing one it was meant to be are one problem too.
    """
    at: dict[Path, list[Mapping[str, Any]]] = {}
    for detail in error.errors(include_url=False):
        path = cleaned(detail["loc"], values, keep_last=detail["type"] == "missing")
        at.setdefault(path, []).append(detail)
    meant = {
        (*path[:-1], _meant(path, model)) for path, details in at.items() if details[0]["type"] == "extra_forbidden"
    }
    for path, details in at.items():
        inner = any(len(other) > len(path) and other[: len(path)] == path for other in at)
        if inner or (details[0]["type"] == "missing" and path in meant):
            continue
        in_a_key = details[0]["loc"][-1] == OF_A_KEY
        yield _name(path, details[0], model) if in_a_key else _problem(path, details, values, model)


def _meant(path: Path, model: type[BaseModel]) -> str | None:
    return near(str(path[-1]), siblings(model, path))


def _problem(path: Path, details: list[Mapping[str, Any]], values: object, model: type[BaseModel]) -> Problem:
    detail, key = details[0], written(path)
    value = value_at(values, path)
    match detail["type"]:
        case "extra_forbidden":
            return _unknown(path, model)
        case "missing":
            return Problem(key, "is missing", _without(path, model), f"Write {_example(path, model)}")
        case "value_error":
            return _own(key, value, str(detail["ctx"]["error"]), path, model)
        case "literal_error":
            return _word(key, value, details, path, model)
        case "invalid_key":
            return Problem(key, "has a key that is not text", "it would name nothing", "Put the key in quotes")
        case _:
            return _wrong(key, value, details, path, model)


def _name(path: Path, detail: Mapping[str, Any], model: type[BaseModel]) -> Problem:
    """A key of the user's own, as a tag's, that cannot be one."""
    limit = LIMITS.get(str(detail["type"]))
    told = limit.format(**detail["ctx"]) if limit else "it does not have the form of one"
    what = f"has {shown(path[-1])} as a key of {len(str(path[-1]))} characters, and {told}"
    field = field_at(model, path)
    example = f"Write a name as in {yaml_flow(field.examples[0])}" if field and field.examples else "Write another name"
    return Problem(written(path[:-1]), what, "what it names would be refused", example)


def _unknown(path: Path, model: type[BaseModel]) -> Problem:
    known = siblings(model, path)
    guess = _meant(path, model)
    remedy = f"Write {guess}" if guess else f"Known here: {', '.join(known)}" if known else "Remove it"
    return Problem(written(path), "is not a setting", "it would have no effect", remedy)


def _without(path: Path, model: type[BaseModel]) -> str:
    field = field_at(model, path)
    meaning = _meaning(field)
    return f"it has no default, because a guess would be wrong ({meaning})" if meaning else "it has no default"


def _own(key: str, value: object, message: str, path: Path, model: type[BaseModel]) -> Problem:
    told = message.split("; ")
    if len(told) == THREE_PARTS:
        return Problem(key, *told)
    return Problem(key, f"is {shown(value)}, but {message}", "it would mean nothing", f"Write {_example(path, model)}")


def _word(key: str, value: object, details: list[Mapping[str, Any]], path: Path, model: type[BaseModel]) -> Problem:
    known = [word.strip("'") for detail in details for word in _expected(detail)]
    guess = near(value, known) if isinstance(value, str) else None
    remedy = f"Write {path[-1]}: {guess}" if guess else f"Write {_example(path, model)}"
    return Problem(key, f"is {shown(value)}; it can be {one_of(known)}", "nothing else has a meaning here", remedy)


def _expected(detail: Mapping[str, Any]) -> list[str]:
    expected = str(detail.get("ctx", {}).get("expected", ""))
    return [word for word in expected.replace(" or ", ", ").split(", ") if word]


def _wrong(key: str, value: object, details: list[Mapping[str, Any]], path: Path, model: type[BaseModel]) -> Problem:
    detail = next((detail for detail in details if detail["type"] in LIMITS), details[0])  # its branch fits the type
    kind, context = str(detail["type"]), detail.get("ctx", {})
    field = field_at(model, path)
    meaning = _meaning(field)
    if kind in LIMITS:
        wanted = LIMITS[kind].format(**context, verb="is" if context.get("min_length") == 1 else "are")
        beyond = f"nothing else works here ({meaning})" if meaning else "nothing else works here"
        return Problem(key, f"is {shown(value)}, {wanted}", beyond, f"Write {_example(path, model)}")
    remedy = f"Write {_example(path, model)}"
    if kind == "string_pattern_mismatch":
        what = f"is {shown(value)}, which does not have this setting's form"
        return Problem(key, what, f"it would be refused later ({_meaning(field, '[.:;] ')})", remedy)
    what = f"is {shown(value)}, {KINDS.get(kind, 'something else')} is needed"
    if kind == "string_type" and isinstance(value, bool) and isinstance(path[-1], str):
        remedy = f'Write `{path[-1]}: "{shown(value)}"`'
    in_quotes = ", in quotes" if kind == "string_type" and isinstance(value, int | float) else ""
    return Problem(key, what, "it would be read as something else than it says", f"{remedy}{in_quotes}")


def _example(path: Path, model: type[BaseModel]) -> str:
    field = field_at(model, path)
    name = next((part for part in reversed(path) if isinstance(part, str)), "it")
    if field is None or not field.examples:
        return f"a value for {name}"
    of_this_cloud = model.cloud_examples if issubclass(model, Environment) else {}
    example = of_this_cloud.get(pattern(path), field.examples[0])
    if path and isinstance(path[-1], int) and isinstance(example, list) and example:
        return f"it as in {yaml_flow(example[0])}"
    if (
        path and isinstance(path[-1], int) and not isinstance(example, Mapping)
    ):  # an item where the setting may be a list
        return f"a value for {name}"
    if isinstance(example, Mapping) and example and name != (field.alias or name):  # a key of the user's own
        example = next(iter(example.values()))
    return f"`{name if name.isprintable() else shown(name)}: {yaml_flow(example)}`"


def yaml_flow(value: object) -> str:
    """A value on one line, as one would write it in YAML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {yaml_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_flow(item) for item in value) + "]"
    if isinstance(value, str):
        looks_like_more = (
            value.replace(".", "").isdigit() or value in {"true", "false", "null", ""} or value[0] in "@*&!%"
        )
        return json.dumps(value) if looks_like_more else value
    return json.dumps(value)


def _meaning(field: FieldInfo | None, ends: str = "[.,:;] ") -> str:
    """The first clause of a field's description, as part of a sentence."""
    words = re.split(ends, field.description or "")[0].rstrip(".") if field else ""
    return words[:1].lower() + words[1:] if words[1:2].islower() or words.startswith("A ") else words
