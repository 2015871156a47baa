"""Protobuf structs to plain values and back, with the envelopes Pulumi wraps around what JSON cannot say.

The marks are fixed strings of the resource protocol (pulumi/pulumi sdk/go/common/resource/properties.go).
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

from google.protobuf import struct_pb2

from spotproof.preview.model import UNKNOWN, Asset, Reference, Secret

UNKNOWN_SENTINEL: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
LONG_TEXT: Final = 12
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  # a public mark of the protocol
_RESOURCE: Final = "5cf8f73096256a8f31e491e813e4eb8e"
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_ASSET: Final = "c44067f5952c0a294b673a41bacd8c17"
_ARCHIVE: Final = "0def7320c3a5731c473e5ecbe6d01bc7"


def decode(struct: struct_pb2.Struct) -> dict[str, object]:
    """Return the plain values of a property bag; integral numbers become int, envelopes the records of `model`."""
    return {key: _value(value) for key, value in struct.fields.items()}


def encode(values: Mapping[str, object]) -> struct_pb2.Struct:
    """Return a property bag; `UNKNOWN` and `Secret` inside `values` become their envelopes."""
    struct = struct_pb2.Struct()
    wire: dict[str, Any] = {key: _wire(value) for key, value in values.items()}
    struct.update(wire)
    return struct


def merge(into: struct_pb2.Struct, more: struct_pb2.Struct) -> None:
    """Add properties to a bag, below objects of both too; protobuf's own merge would put one object for the other."""
    for key, value in more.fields.items():
        if value.HasField("struct_value") and into.fields[key].HasField("struct_value"):
            merge(into.fields[key].struct_value, value.struct_value)
        else:
            into.fields[key].CopyFrom(value)


def is_envelope(value: struct_pb2.Value) -> bool:
    """Whether a value is one of Pulumi's own wrappings: a secret, an output, a resource, a file."""
    return _SIGNATURE in value.struct_value.fields


def json_like(value: object) -> object:
    """Return what YAML gave as JSON has it: keys are text, and a date is the text it was written as."""
    match value:
        case dict():
            return {str(key): json_like(item) for key, item in value.items()}
        case list():
            return [json_like(item) for item in value]
        case date():
            return value.isoformat()
        case _:
            return value


def secret_texts(value: object) -> Iterator[str]:
    """Every text inside a value that is marked secret, and the long texts inside a structure that is.

    Short texts of a secret structure are words like "default", which stand in every report for other reasons.
    """
    match value:
        case Secret(value=str() as text):
            yield text
        case Secret():
            yield from (text for text in _texts(value.value) if len(text) >= LONG_TEXT)
        case dict():
            for item in value.values():
                yield from secret_texts(item)
        case list():
            for item in value:
                yield from secret_texts(item)
        case _:
            return


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Secret():
            yield from _texts(value.value)
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
        case _:
            return


def holds_unknown(value: object) -> bool:
    """Whether any part of a value is unknown."""
    match value:
        case Secret():
            return holds_unknown(value.value)
        case dict():
            return any(holds_unknown(item) for item in value.values())
        case list():
            return any(holds_unknown(item) for item in value)
        case _:
            return value is UNKNOWN


def _value(value: struct_pb2.Value) -> object:  # noqa: PLR0911  # a table by type
    match value.WhichOneof("kind"):
        case "string_value":
            return UNKNOWN if value.string_value == UNKNOWN_SENTINEL else value.string_value
        case "struct_value":
            fields = value.struct_value.fields
            if _SIGNATURE in fields:
                return _opened(decode(value.struct_value))
            return {key: _value(item) for key, item in fields.items()}
        case "list_value":
            return [_value(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _opened(envelope: dict[str, object]) -> object:
    match envelope.pop(_SIGNATURE):
        case mark if mark == _SECRET:
            return Secret(envelope.get("value"))
        case mark if mark == _OUTPUT:
            value = envelope.get("value", UNKNOWN)
            return Secret(value) if envelope.get("secret") else value
        case mark if mark == _RESOURCE:
            return Reference(str(envelope.get("urn", "")), envelope.get("id"))
        case mark if mark in (_ASSET, _ARCHIVE):
            return Asset("asset" if mark == _ASSET else "archive", envelope)
        case _:
            return envelope


def _wire(value: object) -> object:
    match value:
        case Secret():
            return {_SIGNATURE: _SECRET, "value": _wire(value.value)}
        case dict():
            return {key: _wire(item) for key, item in value.items()}
        case list():
            return [_wire(item) for item in value]
        case _:
            return UNKNOWN_SENTINEL if value is UNKNOWN else value
