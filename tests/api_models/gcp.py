"""GCP: discovery documents, the description of every call that Google's own clients are made from."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import googleapiclient

from tests.api_models.request import Request, Schema, reference, structure

_DOCUMENTS: Final = Path(googleapiclient.__path__[0]) / "discovery_cache" / "documents"
_RANGES: Final = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "uint32": {"minimum": 0, "maximum": 2**32 - 1},
}
# JSON has no integers of 64 bits: they are sent as text, and providers take a number.
_LONG: Final[dict[str, Schema]] = {
    "int64": {"type": ["integer", "string"], "pattern": "-?[0-9]+"},
    "uint64": {"type": ["integer", "string"], "pattern": "[0-9]+", "minimum": 0},
}
_TEXTS: Final = {"google-duration": r"-?[0-9]+(\.[0-9]{1,9})?s"}


@cache
def load(call: str) -> Request:
    """Return what a call takes; `call` is an API and a method, "container.v1:projects.locations.clusters.create".

    The address's parts are never required: providers put the project, the region and the names of parents there.
    """
    api, _, method = call.partition(":")
    document = _document(api)
    identity = f"{document['name']}.{method}"
    found = next(one for one in _methods(document) if one["id"] == identity)
    schemas = _Schemas(document["schemas"], identity)
    address = {name: schemas.of(each) for name, each in found["parameters"].items()}
    body = schemas.structure(found["request"]["$ref"]) if "request" in found else structure({})
    whole = structure({**body["properties"], **address}, body["required"])
    return Request(call, {**whole, "$defs": schemas.definitions})


@cache
def _document(api: str) -> dict[str, Any]:
    return json.loads((_DOCUMENTS / f"{api}.json").read_text(encoding="utf-8"))


def _methods(resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner)


class _Schemas:
    """The schemas of a document as JSON schemas, as far as one method reaches them."""

    def __init__(self, stated: dict[str, Any], method: str) -> None:
        self.stated, self.method = stated, method
        self.definitions: dict[str, Schema] = {}

    def of(self, stated: dict[str, Any]) -> Schema:
        if "$ref" in stated:
            return self._definition(stated["$ref"])
        if stated.get("type") == "array" or stated.get("repeated"):
            return {"type": "array", "items": self.of(stated.get("items", {**stated, "repeated": False}))}
        if stated.get("type") == "object":
            values = stated.get("additionalProperties")
            return {"type": "object", "additionalProperties": self.of(values)} if values else self._object(stated)
        return {} if stated.get("type") == "any" else _value(stated)

    def structure(self, name: str) -> Schema:
        return self._object(self.stated[name])

    def _definition(self, name: str) -> Schema:
        if name not in self.definitions:
            self.definitions[name] = {}  # a schema may hold itself
            self.definitions[name] |= self.of(self.stated[name])
        return reference(name)

    def _object(self, stated: dict[str, Any]) -> Schema:
        taken = {name: each for name, each in stated.get("properties", {}).items() if not _only_answered(each)}
        required = [name for name, each in taken.items() if self._required(each)]
        return structure({name: self.of(each) for name, each in taken.items()}, required)

    def _required(self, stated: dict[str, Any]) -> bool:
        """Tell whether this method needs the field: an annotation in older APIs, the first word in newer ones."""
        annotated = self.method in stated.get("annotations", {}).get("required", ())
        return annotated or stated.get("description", "").startswith("Required. ")


def _only_answered(stated: dict[str, Any]) -> bool:
    return stated.get("readOnly", False) or stated.get("description", "").lower().startswith(
        ("output only", "[output only]")
    )


def _value(stated: dict[str, Any]) -> Schema:
    form = stated.get("format", "")
    if form in _LONG:
        return _LONG[form]
    schema: Schema = {"type": stated["type"]} | _RANGES.get(form, {})
    if "enum" in stated:
        schema["enum"] = stated["enum"]
    if pattern := stated.get("pattern", _TEXTS.get(form)):
        schema["pattern"] = pattern
    limits = {keyword: float(stated[keyword]) for keyword in ("minimum", "maximum") if keyword in stated}
    return schema | limits
