"""A call of a cloud's API as a JSON schema: the form that every cloud's own model is brought into."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from spotproof.preview.model import UNKNOWN

Schema: TypeAlias = dict[str, Any]
Steps: TypeAlias = tuple[str | int, ...]
"""Where in a request: names of fields and indices of lists."""
Load: TypeAlias = Callable[[str], "Request"]
"""From the name of a call, "eks:CreateCluster", to what the cloud says of it."""


@dataclass(frozen=True)
class Request:
    """What a call takes: `schema` describes all its parameters, those of the address among them."""

    call: str
    schema: Schema

    def resolved(self, schema: Schema) -> Schema:
        """Return the schema, or the definition that it refers to."""
        return self.schema["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def errors(self, document: Mapping[str, object]) -> Iterator[tuple[Steps, str, str]]:
        """Yield where, by which keyword and how a document differs; what is not known yet is no difference."""
        for error in _Validator(self.schema).iter_errors(document):
            if error.instance is not UNKNOWN:
                yield tuple(error.absolute_path), str(error.validator), error.message


def structure(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """Return the schema of an object that takes these fields and no other."""
    needed = sorted(set(required) & set(properties))
    return {"type": "object", "properties": dict(properties), "required": needed, "additionalProperties": False}


def reference(name: str) -> Schema:
    """Return the schema that refers to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def fields(schema: Schema) -> Mapping[str, Schema]:
    """Return the fields that an object's schema names."""
    return schema.get("properties", {})


def _pattern(_validator: object, wanted: str, value: object, _schema: object) -> Iterator[ValidationError]:
    # The models state patterns of the whole text, in Java's and RE2's dialects: \p{L} is no part of Python's `re`.
    if isinstance(value, str) and not regex.fullmatch(wanted, value):
        yield ValidationError(f"{value!r} does not match {wanted!r}")


def _required(_validator: object, wanted: Sequence[str], value: object, _schema: object) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for name in wanted:
            if value.get(name) is None:
                yield ValidationError(f"{name!r} is required")


_Validator: Final = extend(Draft202012Validator, {"pattern": _pattern, "required": _required})
