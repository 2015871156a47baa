"""Kubernetes objects against the schemas of their custom resource definitions, as the API server would judge them.

A validator of its own, because two things differ from JSON Schema: a value may be unknown, which satisfies everything,
and a field no schema names is silently pruned by the API server, which here is an error. Rules in CEL
(`x-kubernetes-validations`) need the API server and are not judged.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from spotproof.preview.model import UNKNOWN, Capture, Finding, Secret
from spotproof.preview.wire import holds_unknown
from spotproof.settings.errors import shown
from spotproof.settings.near import near

Schema: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = tuple[str, str]
"""(apiVersion, kind)"""

CRD_KIND: Final = "CustomResourceDefinition"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
# The API server owns these of every object; a definition's schema says no more than that they are there.
_SERVER_FIELDS: Final = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True)
class _Fault:
    path: str
    message: str


def schemas_in(definitions: Iterable[Mapping[str, Any]]) -> dict[Kind, Schema]:
    """Return the schema of every served version of CustomResourceDefinition objects; other objects are skipped."""
    found: dict[Kind, Schema] = {}
    for definition in definitions:
        spec = definition.get("spec")
        if definition.get("kind") != CRD_KIND or not isinstance(spec, Mapping):
            continue
        for version in spec.get("versions", []):
            schema = version.get("schema", {}).get("openAPIV3Schema")
            if version.get("served", True) and schema:
                found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema
    return found


def check_objects(capture: Capture, extra: Mapping[Kind, Schema] | None = None) -> list[Finding]:
    """Return what the API server would refuse or drop, for every object whose definition is known.

    Known are the definitions that the program itself installs, and `extra`.
    """
    definitions = [_plain(r.inputs) for r in capture.resources if r.inputs.get("kind") == CRD_KIND]
    schemas = {**(extra or {}), **schemas_in(definitions)}
    return [
        Finding(resource.urn, fault.path, fault.message, "error", (capture.mode,))
        for resource in capture.resources
        if not resource.read
        for fault in _object(resource.inputs, schemas)
    ]


def _object(inputs: Mapping[str, object], schemas: Mapping[Kind, Schema]) -> Iterator[_Fault]:
    version, kind = inputs.get("apiVersion"), inputs.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return
    schema = schemas.get((version, kind))
    if schema is not None:
        body = {key: value for key, value in inputs.items() if key not in _SERVER_FIELDS}
        yield from _faults(body, {**schema, "required": _own_required(schema)}, "")
        return
    group = version.rpartition("/")[0]
    others = sorted(v for v, k in schemas if k == kind and group and v.startswith(f"{group}/"))
    if others:
        yield _Fault("apiVersion", f"{version} is not a version of {kind}; the definition serves {', '.join(others)}")


def _own_required(schema: Schema) -> list[str]:
    return [key for key in schema.get("required", []) if key not in _SERVER_FIELDS]


def _faults(value: object, schema: Schema, path: str, *, secret: bool = False) -> Iterator[_Fault]:
    if isinstance(value, Secret):
        value, secret = value.value, True
    if value is UNKNOWN:
        return
    if value is None:
        if not schema.get("nullable") and "type" in schema:
            yield _Fault(path, "must not be null")
        return
    told = "a secret value" if secret else shown(value)
    if not _has_type(value, schema):
        wanted = "a whole number or text" if _mark(schema, "int-or-string") else _article(schema["type"])
        yield _Fault(path, f"must be {wanted}, got {told}")
        return
    for broken in _constraints(value, schema):
        yield _Fault(path, f"{broken}, got {told}" if not isinstance(value, (dict, list)) else broken)
    if isinstance(value, dict):
        yield from _fields(value, schema, path, secret=secret)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _faults(item, schema["items"], f"{path}[{index}]", secret=secret)
    yield from _combined(value, schema, path)


def _fields(value: dict[str, object], schema: Schema, path: str, *, secret: bool) -> Iterator[_Fault]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    others = schema.get("additionalProperties", False)
    keeps = _mark(schema, "preserve-unknown-fields") or others is True
    for key, item in value.items():
        if key in properties:
            yield from _faults(item, properties[key], _join(path, key), secret=secret)
        elif isinstance(others, Mapping):
            yield from _faults(item, others, _join(path, key), secret=secret)
        elif not keeps and not (_mark(schema, "embedded-resource") and key in _SERVER_FIELDS):
            guess = near(key, properties)
            advice = f"did you mean {guess!r}?" if guess else f"known fields: {', '.join(sorted(properties)) or 'none'}"
            yield _Fault(_join(path, key), f"unknown field {key!r}, which the API server would drop; {advice}")
    for key in schema.get("required", []):
        if key not in value:
            yield _Fault(_join(path, key), "is missing, and must be there")


def _combined(value: object, schema: Schema, path: str) -> Iterator[_Fault]:
    """Judge allOf, anyOf, oneOf and not: in a structural schema they only narrow, so they add no fields."""
    for part in schema.get("allOf", []):
        yield from _faults(value, _narrowing(part), path)
    if holds_unknown(value) or _mark(schema, "int-or-string"):
        return
    for name in ("anyOf", "oneOf"):
        parts = schema.get(name)
        fitting = sum(not any(_faults(value, _narrowing(part), path)) for part in parts or ())
        if parts and not (fitting == 1 or (fitting and name == "anyOf")):
            choices = " | ".join(sorted({"+".join(part.get("required", ["..."])) for part in parts}))
            yield _Fault(path, f"must fit {'one' if name == 'anyOf' else 'exactly one'} of the alternatives {choices}")
    if "not" in schema and not any(_faults(value, _narrowing(schema["not"]), path)):
        yield _Fault(path, f"must not be as in {shown(schema['not'])}")


def _narrowing(part: Schema) -> Schema:
    properties = {key: _narrowing(value) for key, value in part.get("properties", {}).items()}
    return {"x-kubernetes-preserve-unknown-fields": True, **part, "properties": properties}


def _constraints(value: object, schema: Schema) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        guess = near(str(value), map(str, schema["enum"]))
        hint = f" (nearest: {guess})" if guess else ""
        yield f"must be one of {', '.join(map(str, schema['enum']))}{hint}"
    for keyword, broken in _LIMITS.items():
        limit = schema.get(keyword)
        if limit is not None and broken(value, limit):
            yield f"breaks {keyword} {limit}"
    pattern = schema.get("pattern")
    if pattern is not None and isinstance(value, str) and not _matches(pattern, value):
        yield f"must match {pattern}"


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_LIMITS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "minimum": lambda value, limit: _number(value) and value < limit,
    "maximum": lambda value, limit: _number(value) and value > limit,
    "minLength": lambda value, limit: isinstance(value, str) and len(value) < limit,
    "maxLength": lambda value, limit: isinstance(value, str) and len(value) > limit,
    "minItems": lambda value, limit: isinstance(value, list) and len(value) < limit,
    "maxItems": lambda value, limit: isinstance(value, list) and len(value) > limit,
    "minProperties": lambda value, limit: isinstance(value, dict) and len(value) < limit,
    "maxProperties": lambda value, limit: isinstance(value, dict) and len(value) > limit,
}


def _matches(pattern: str, value: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(value) is not None


@cache
def _compiled(pattern: str) -> "re.Pattern[str] | None":
    """Return the pattern, None if Python cannot read this one of Go's expressions (RE2)."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


def _has_type(value: object, schema: Schema) -> bool:
    if _mark(schema, "int-or-string"):
        return isinstance(value, (int, str)) and not isinstance(value, bool)
    wanted = schema.get("type")
    if wanted is None:
        return True
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES.get(wanted, (object,)))


def _mark(schema: Schema, name: str) -> bool:
    # Pulumi's typed CustomResourceDefinition writes the extension keys with underscores.
    return bool(schema.get(f"x-kubernetes-{name}") or schema.get(f"x_kubernetes_{name.replace('-', '_')}"))


def _article(wanted: str) -> str:
    return f"an {wanted}" if wanted[0] in "aeio" else f"a {wanted}"


def _join(path: str, key: str) -> str:
    step = key if re.fullmatch(r"[\w-]+", key) else json.dumps(key)
    return f"{path}.{step}" if path and step == key else f"{path}[{step}]" if step != key else key


def _plain(value: Any) -> Any:
    match value:
        case Secret():
            return _plain(value.value)
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value
