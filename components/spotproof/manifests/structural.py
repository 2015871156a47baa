"""From a settings model to the structural OpenAPI schema the API server takes in a CRD.

Structural means (Kubernetes API reference, CustomResourceDefinition): every node has a type, no
references, nothing typed inside anyOf, no `additionalProperties` beside `properties`. A keyword
with no counterpart there is an error here, so that no constraint is lost without a word.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from spotproof.settings.base import DURATION_FORM, DURATION_PATTERN, Settings, render_duration

Schema = dict[str, Any]

KEPT: Final = frozenset(
    {
        *("type", "description", "default", "enum", "pattern"),
        *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
DROPPED: Final = frozenset({"title", "examples", "$defs"})
FORMATS: Final = frozenset({"date-time", "int32", "int64"})
"""Of a value that the API server checks by its format. Of others it knows some and passes over the rest."""

DURATION: Final[Schema] = {
    "type": "string",
    # The settings' pattern asks for one character by looking ahead, which Go's expressions cannot; a length can.
    "pattern": DURATION_PATTERN.replace("(?=.)", ""),
    "minLength": 2,
    "maxLength": 22,
    "x-kubernetes-validations": [
        {
            "rule": "self.matches('[1-9]')",
            "message": f"a duration of nothing has no meaning here; write {DURATION_FORM}",
        }
    ],
}


class _Defaults(GenerateJsonSchema):
    """Writes durations as the settings do; pydantic's own default is ISO 8601."""

    def encode_default(self, dft: Any) -> Any:
        return render_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def structural(model: type[Settings]) -> Schema:
    """The structural schema of a model: references resolved, null as absence, descriptions kept.

    Raises:
        ValueError: the model has a constraint that a CRD cannot express.
    """
    schema = model.model_json_schema(by_alias=True, schema_generator=_Defaults)
    return _node(schema, schema.get("$defs", {}), model.__name__)


def _node(schema: Mapping[str, Any], defs: Mapping[str, Schema], path: str) -> Schema:
    if "$ref" in schema:
        target = defs[schema["$ref"].removeprefix("#/$defs/")]
        return _node({**target, **{key: value for key, value in schema.items() if key != "$ref"}}, defs, path)
    if "anyOf" in schema:
        return _union(schema, defs, path)
    if schema.get("pattern") == DURATION_PATTERN:
        return {**{key: schema[key] for key in ("description", "default") if key in schema}, **DURATION}
    node: Schema = {}
    for key, value in schema.items():
        if key in TRANSLATED:
            node |= TRANSLATED[key](value, defs, path)
        elif key in KEPT:
            node[key] = value
        elif key not in DROPPED:
            raise ValueError(f"{path}: {key} has no counterpart in a structural schema")
    return {key: node[key] for key in ("type", "description") if key in node} | node


def _union(schema: Mapping[str, Any], defs: Mapping[str, Schema], path: str) -> Schema:
    branches = [branch for branch in schema["anyOf"] if branch.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if len(branches) == 1:
        # Null is absence; a default of null says the same and is no value of the type.
        rest = {key: value for key, value in rest.items() if not (key == "default" and value is None)}
        return _node({**branches[0], **rest}, defs, path)
    kinds = {branch.get("type"): branch for branch in branches}
    if len(branches) == 2 and set(kinds) == {"integer", "string"}:  # noqa: PLR2004 - the two of int-or-string
        return {**_node(rest, defs, path), **_int_or_string(kinds["integer"], kinds["string"])}
    raise ValueError(f"{path}: a union of {len(branches)} shapes has no counterpart in a structural schema")


def _int_or_string(number: Mapping[str, Any], word: Mapping[str, Any]) -> Schema:
    words = [word["const"]] if "const" in word else word["enum"]
    low, high = number["minimum"], number["maximum"]
    choices = ", ".join(f"'{each}'" for each in words)
    numbers = str(low) if low == high else f"{low} to {high}"
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "x-kubernetes-validations": [
            {
                "rule": f"type(self) == int ? self >= {low} && self <= {high} : self in [{choices}]",
                "message": f"must be {' or '.join([numbers, *words])}",
            }
        ],
        "maxLength": max(map(len, words)),
    }


def _properties(value: Mapping[str, Schema], defs: Mapping[str, Schema], path: str) -> Schema:
    return {"properties": {name: _node(each, defs, f"{path}.{name}") for name, each in value.items()}}


def _items(value: Schema, defs: Mapping[str, Schema], path: str) -> Schema:
    # Order is meaning here, and two writers never merge their halves of a list.
    return {"items": _node(value, defs, f"{path}[]"), "x-kubernetes-list-type": "atomic"}


def _additional(value: object, defs: Mapping[str, Schema], path: str) -> Schema:
    # A closed model becomes an object without additionalProperties: the API server prunes what it does not know.
    return {"additionalProperties": _node(value, defs, f"{path}.*")} if isinstance(value, dict) else {}


def _required(value: list[str], _defs: Mapping[str, Schema], _path: str) -> Schema:
    return {"required": list(value)}


def _format(value: object, _defs: Mapping[str, Schema], path: str) -> Schema:
    if value not in FORMATS:
        raise ValueError(f"{path}: the format {value} is not one of {', '.join(sorted(FORMATS))}")
    return {"format": value}


def _const(value: object, _defs: Mapping[str, Schema], _path: str) -> Schema:
    return {"enum": [value]}


TRANSLATED: Final[Mapping[str, Callable[[Any, Mapping[str, Schema], str], Schema]]] = {
    "properties": _properties,
    "items": _items,
    "additionalProperties": _additional,
    "required": _required,
    "const": _const,
    "format": _format,
}
