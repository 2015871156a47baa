"""AWS: botocore's service models, from which the SDKs of all languages are made."""

from functools import cache
from typing import Any, Final

import botocore.session

from tests.api_models.request import Request, Schema, reference, structure

_LIMITS: Final = {
    "list": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum"),
    "long": ("minimum", "maximum"),
    "float": ("minimum", "maximum"),
    "double": ("minimum", "maximum"),
}
_SCALARS: Final = {"integer": "integer", "long": "integer", "float": "number", "double": "number", "boolean": "boolean"}


@cache
def load(call: str) -> Request:
    """Return what a call takes; `call` is a service and an operation, "eks:CreateCluster"."""
    service, _, operation = call.partition(":")
    definitions: dict[str, Schema] = {}
    whole = _schema(_service(service).operation_model(operation).input_shape, definitions)
    return Request(call, {**whole, "$defs": definitions})


@cache
def _service(name: str) -> Any:
    session: Any = botocore.session.get_session()
    return session.get_service_model(name)


def _schema(shape: Any, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a botocore shape; a structure's goes into `definitions`, as it may hold itself."""
    if shape.type_name == "structure":
        if shape.name not in definitions:
            definitions[shape.name] = {}
            definitions[shape.name] |= _structure(shape, definitions)
        return reference(shape.name)
    limits = _limits(shape)
    if shape.type_name == "list":
        return {"type": "array", "items": _schema(shape.member, definitions)} | limits
    if shape.type_name == "map":
        names, values = _schema(shape.key, definitions), _schema(shape.value, definitions)
        return {"type": "object", "propertyNames": names, "additionalProperties": values}
    # a blob and a timestamp are text in JSON
    return {"type": _SCALARS.get(shape.type_name, "string")} | limits | _text(shape)


def _structure(shape: Any, definitions: dict[str, Schema]) -> Schema:
    members = {name: _schema(member, definitions) for name, member in shape.members.items()}
    one_of_them = {"minProperties": 1, "maxProperties": 1} if shape.is_tagged_union else {}
    return structure(members, shape.required_members) | one_of_them


def _limits(shape: Any) -> Schema:
    stated = zip(_LIMITS.get(shape.type_name, ()), (shape.metadata.get("min"), shape.metadata.get("max")), strict=False)
    return {keyword: limit for keyword, limit in stated if limit is not None}


def _text(shape: Any) -> Schema:
    return {keyword: shape.metadata[keyword] for keyword in ("enum", "pattern") if shape.metadata.get(keyword)}
