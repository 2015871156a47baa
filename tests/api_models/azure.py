"""Azure: the management SDKs' classes, generated from the specifications of Azure's API.

A model's types stand at its constructor, its wire names in `_attribute_map`, its rules in `_validation`; the rules for
the parts of an address stand where the request is built.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from tests.api_models.request import Request, Schema, reference, structure

_PRIMITIVES: Final[Mapping[Any, str]] = {bool: "boolean", int: "integer", float: "number"}
_RULES: Final = {
    "max_length": "maxLength",
    "min_length": "minLength",
    "pattern": "pattern",
    "maximum": "maximum",
    "maximum_ex": "exclusiveMaximum",
    "minimum": "minimum",
    "minimum_ex": "exclusiveMinimum",
    "max_items": "maxItems",
    "min_items": "minItems",
    "unique": "uniqueItems",
}


@cache
def load(call: str) -> Request:
    """Return what a call takes: "containerservice:ManagedClustersOperations.begin_create_or_update".

    The text before the colon is the module below `azure.mgmt`. The parts of the address are fields among the others,
    and never required: a name that is left out is made up by Pulumi.
    """
    module, _, method = call.partition(":")
    group, _, operation = method.partition(".")
    operations = getattr(import_module(f"azure.mgmt.{module}.operations"), group)
    rules = _address(operations, operation.removeprefix("begin_"))
    definitions: dict[str, Schema] = {}
    address: dict[str, Schema] = {}
    body = structure({})
    for name, parameter in inspect.signature(getattr(operations, operation)).parameters.items():
        if models := [one for one in _members(parameter.annotation) if _is_model(one)]:
            _schema(models[0], definitions)
            body = definitions[models[0].__name__]
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD and name != "self":
            address[name] = _schema(parameter.annotation, definitions) | rules.get(name, {})
    whole = structure({**address, **body["properties"]}, body["required"])
    return Request(call, {**whole, "$defs": definitions})


def _address(operations: type, operation: str) -> dict[str, Schema]:
    """Return the rules of the parts of the address, from the calls `_SERIALIZER.url(name, value, "str", ...)`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", operations.__name__.removesuffix("Operations"))
    group = "_".join(words).lower()
    module = sys.modules[operations.__module__]
    names = (f"build_{operation}_request", f"build_{group}_{operation}_request")
    build: Callable[..., object] = next(getattr(module, name) for name in names if hasattr(module, name))
    return {
        ast.literal_eval(call.args[0]): _limits({str(one.arg): ast.literal_eval(one.value) for one in call.keywords})
        for call in ast.walk(ast.parse(inspect.getsource(build)))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "url"
    }


def _schema(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a type; a model's goes into `definitions`, as it may hold itself."""
    one: Any = _meant(_members(hint))
    if _is_model(one):
        if one.__name__ not in definitions:
            definitions[one.__name__] = {}
            definitions[one.__name__] |= _structure(one, definitions)
        return reference(one.__name__)
    origin: Any = get_origin(one) or one
    if origin in (Any, object) or not isinstance(origin, type):
        return {}
    if issubclass(origin, Enum):
        return {"type": "string", "enum": [each.value for each in origin]}
    if issubclass(origin, list):
        return {"type": "array", "items": _schema(get_args(one)[0], definitions)}
    if issubclass(origin, Mapping):
        values = get_args(one)[1:]
        return {"type": "object", "additionalProperties": _schema(values[0], definitions) if values else {}}
    return {"type": _PRIMITIVES.get(origin, "string")}  # in JSON a time is text


def _structure(model: Any, definitions: dict[str, Schema]) -> Schema:
    """Return what a caller may set of a model; fields that are only answered are no inputs."""
    hints = get_type_hints(model.__init__, localns={"_models": sys.modules[model.__module__.rpartition(".")[0]]})
    inside: dict[str, dict[str, Schema]] = {"": {}}  # by envelope: `properties.count` is a field of `properties`
    required: dict[str, list[str]] = {"": []}
    for name, stated in model._attribute_map.items():
        rules = model._validation.get(name, {})
        if name not in hints or rules.get("readonly"):
            continue
        envelope, _, wire = stated["key"].rpartition(".")
        inside.setdefault(envelope, {})[wire] = _schema(hints[name], definitions) | _limits(rules)
        required.setdefault(envelope, []).extend([wire] if rules.get("required") else [])
    for envelope in [one for one in inside if one]:
        inside[""][envelope] = structure(inside[envelope], required[envelope])
        required[""] += [envelope] if required[envelope] else []
    return structure(inside[""], required[""])


def _limits(rules: Mapping[str, object]) -> Schema:
    return {_RULES[rule]: limit for rule, limit in rules.items() if rule in _RULES}


def _members(hint: Any) -> list[Any]:
    """Return the types a value may have, None left out."""
    if get_origin(hint) in (Union, UnionType):
        return [one for each in get_args(hint) for one in _members(each)]
    return [] if hint is NoneType else [hint]


def _meant(members: list[Any]) -> Any:
    """Return a model or an enum before the rest: every enum allows any text beside it, for values of later versions."""
    special = [one for one in members if _is_model(one) or (isinstance(one, type) and issubclass(one, Enum))]
    return [*special, *members, Any][0]


def _is_model(hint: Any) -> bool:
    return hasattr(hint, "_attribute_map")
