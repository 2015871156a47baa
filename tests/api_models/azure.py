"""Azure: the management SDKs' classes, generated from the specifications of Azure's API.

Newer packages hold `rest_field`s whose annotations are their types, and say nothing of ranges and patterns. Older ones
hold `_attribute_map` and `_validation`, and their types stand at the constructor.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from tests.api_models.request import Request, Schema, reference, structure

_PRIMITIVES: Final = {bool: "boolean", int: "integer", float: "number"}
_LIMITS: Final = {
    "max_length": "maxLength",
    "min_length": "minLength",
    "pattern": "pattern",
    "maximum": "maximum",
    "minimum": "minimum",
    "max_items": "maxItems",
    "min_items": "minItems",
}


@dataclass(frozen=True)
class _Field:
    """A field of a model: `wire` holds the names from the outside in."""

    wire: tuple[str, ...]
    hint: Any
    required: bool
    limits: Schema


@cache
def load(call: str) -> Request:
    """Return what a call takes: "containerservice:ManagedClustersOperations.begin_create_or_update".

    The text before the colon is the module below `azure.mgmt`. The parts of the address are fields among the others,
    and never required: a name that is left out is made up by Pulumi.
    """
    module, _, method = call.partition(":")
    group, _, name = method.partition(".")
    stated = inspect.signature(getattr(getattr(import_module(f"azure.mgmt.{module}.operations"), group), name))
    definitions: dict[str, Schema] = {}
    address: dict[str, Schema] = {}
    body = structure({})
    for parameter in stated.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or parameter.name == "self":
            continue
        if models := [one for one in _members(parameter.annotation) if _is_model(one)]:
            _schema(models[0], definitions)
            body = definitions[models[0].__name__]
        else:
            address[parameter.name] = _schema(parameter.annotation, definitions)
    whole = structure({**address, **body["properties"]}, body["required"])
    return Request(call, {**whole, "$defs": definitions})


def _schema(hint: Any, definitions: dict[str, Schema]) -> Schema:
    members = _members(hint)
    enums = [one for one in members if isinstance(one, type) and issubclass(one, Enum)]
    if enums:
        # the annotation allows any text beside the enum, for values of later versions; a test need not
        return {"type": "string", "enum": [one.value for one in enums[0]]}
    one: Any = next((each for each in members if _is_model(each)), members[0] if members else Any)
    if _is_model(one):
        if one.__name__ not in definitions:
            definitions[one.__name__] = {}  # a model may hold itself
            definitions[one.__name__] |= _structure(one, definitions)
        return reference(one.__name__)
    origin: Any = get_origin(one) or one
    inner = get_args(one)
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], definitions) if inner else {}}
    if origin in (Any, object):
        return {}
    return {"type": _PRIMITIVES.get(origin, "string")}  # a time, a duration and bytes are text in JSON


def _structure(model: type, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a model; older ones write the path into the envelope `properties` at every field."""
    outer: dict[str, Schema] = {}
    inner: dict[str, Schema] = {}
    needed: dict[int, list[str]] = {1: [], 2: []}
    for field in _fields(model):
        place = outer if len(field.wire) == 1 else inner
        place[field.wire[-1]] = _schema(field.hint, definitions) | field.limits
        if field.required:
            needed[len(field.wire)].append(field.wire[-1])
    if inner:
        outer["properties"] = structure(inner, needed[2])
        needed[1] += ["properties"] if needed[2] else []
    return structure(outer, needed[1])


def _fields(model: Any) -> Iterator[_Field]:
    """Yield what a caller may set; what is only answered is no input."""
    package = {"_models": sys.modules[model.__module__.rpartition(".")[0]]}
    if hasattr(model, "_attribute_map"):
        hints = get_type_hints(model.__init__, localns=package)
        for name, stated in model._attribute_map.items():
            rules = model._validation.get(name, {})
            if name in hints and not rules.get("readonly"):
                limits = {_LIMITS[rule]: limit for rule, limit in rules.items() if rule in _LIMITS}
                yield _Field(tuple(stated["key"].split(".")), hints[name], rules.get("required", False), limits)
        return
    hints = get_type_hints(model, localns=package)
    for base in reversed(model.__mro__):
        for name, stated in vars(base).items():
            if type(stated).__name__ == "_RestField" and stated._visibility != ["read"]:
                hint = hints[name]
                yield _Field((stated._rest_name_input or name,), hint, NoneType not in get_args(hint), {})


def _members(hint: Any) -> list[Any]:
    """Return the types a value may have, without None and without the text that stands beside every enum."""
    alternatives = get_args(hint) if type(None) in get_args(hint) or _is_union(hint) else (hint,)
    return [
        one for each in alternatives for one in (_members(each) if _is_union(each) else [each]) if one is not NoneType
    ]


def _is_union(hint: Any) -> bool:
    return str(get_origin(hint)) in ("typing.Union", "<class 'types.UnionType'>")


def _is_model(hint: Any) -> bool:
    return isinstance(hint, type) and (hasattr(hint, "_attribute_map") or hasattr(hint, "_deserialize"))
