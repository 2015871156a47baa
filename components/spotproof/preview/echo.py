"""What a provider answers to a preview: the inputs as outputs, as far as the outputs have the same shape.

Providers answer with more than they were given: what the SDK's output type has below an object, and nobody wrote, is
unknown (Terraform's plan marks computed attributes so, azure-native every property of the response that is no input).
Top-level outputs need no word: the SDK takes what is left out for unknown.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from google.protobuf import struct_pb2

from spotproof.preview import sdk_metadata, wire

# As deep as invented outputs are (`invented.DEPTH`): schemas of Kubernetes contain themselves.
DEPTH: Final = 4

Kind: TypeAlias = Literal["object", "map", "list", "any"]


@dataclass(frozen=True)
class Shape:
    """What an output is made of: `parts` of an "object", `element` of a "map" or a "list"; "any" is everything else."""

    kind: Kind
    parts: "dict[str, Shape] | None" = None
    element: "Shape | None" = None


_ANY: Final = Shape("any")


def fitting(token: str, inputs: struct_pb2.Struct) -> struct_pb2.Struct:
    """Return the inputs whose shape is that of the output of the same name; the same object where all fit.

    Azure takes a list of identities and answers with a map of them: the SDK's deserialiser would raise on the list.
    """
    return _answer(token, inputs, unknowns=False)


def previewed(token: str, inputs: struct_pb2.Struct) -> struct_pb2.Struct:
    """Return `fitting` with everything that the output types have below an object, and nobody wrote, as unknown."""
    return _answer(token, inputs, unknowns=True)


def _answer(token: str, inputs: struct_pb2.Struct, *, unknowns: bool) -> struct_pb2.Struct:
    cls = None if token.startswith("kubernetes:") else sdk_metadata.resource_class(token)
    shapes = {} if cls is None else _nested(cls)
    concerned = [key for key in shapes if key in inputs.fields]
    if not concerned:
        return inputs
    answer = struct_pb2.Struct()
    answer.CopyFrom(inputs)
    for key in concerned:
        _fit(answer.fields, key, shapes[key], unknowns=unknowns)
    return answer


@cache
def _nested(cls: type[Any]) -> dict[str, Shape]:
    """The outputs of a class that are more than a plain value."""
    found = {key: _shape(hint, DEPTH) for key, hint in sdk_metadata.outputs_of(cls).items()}
    return {key: shape for key, shape in found.items() if shape.kind != "any"}


def _shape(hint: Any, depth: int) -> Shape:
    if get_origin(hint) is Union or type(hint).__name__ == "UnionType":
        members = [member for member in get_args(hint) if member is not type(None)]
        return _shape(members[0], depth) if len(members) == 1 else _ANY
    origin = get_origin(hint) or hint
    parts = sdk_metadata.output_shape(origin) if isinstance(origin, type) else None
    if not depth or not isinstance(origin, type):
        return _ANY
    if parts is not None:
        return Shape("object", parts={key: _shape(part, depth - 1) for key, part in parts.items()})
    arguments = get_args(hint)
    if arguments and origin.__name__ in ("Mapping", "dict"):
        return Shape("map", element=_shape(arguments[-1], depth - 1))
    if arguments and origin.__name__ in ("Sequence", "list"):
        return Shape("list", element=_shape(arguments[0], depth - 1))
    return _ANY


def _fit(fields: Any, key: str, shape: Shape, *, unknowns: bool) -> None:
    """Make the value at `key` fit, or take it away: at a preview unknown takes its place."""
    value: struct_pb2.Value = fields[key]
    kind = value.WhichOneof("kind")
    if kind not in ("struct_value", "list_value") or shape.kind == "any" or wire.is_envelope(value):
        return
    if (kind == "list_value") != (shape.kind == "list"):
        del fields[key]
        if unknowns:
            fields[key].string_value = wire.UNKNOWN_SENTINEL
        return
    if shape.element is not None:
        _fit_elements(value, shape.element, unknowns=unknowns)
        return
    inner = value.struct_value.fields
    for name, part in (shape.parts or {}).items():
        if name in inner:
            _fit(inner, name, part, unknowns=unknowns)
        elif unknowns:
            inner[name].string_value = wire.UNKNOWN_SENTINEL


def _fit_elements(value: struct_pb2.Value, element: Shape, *, unknowns: bool) -> None:
    """Elements of a list stay in their places, so one that does not fit takes nothing away: it is left as it is."""
    if value.HasField("struct_value"):
        inner = value.struct_value.fields
        for name in list(inner):
            _fit(inner, name, element, unknowns=unknowns)
        return
    for one in value.list_value.values:
        if one.HasField("struct_value") and element.parts is not None and not wire.is_envelope(one):
            for name, part in element.parts.items():
                if name in one.struct_value.fields:
                    _fit(one.struct_value.fields, name, part, unknowns=unknowns)
                elif unknowns:
                    one.struct_value.fields[name].string_value = wire.UNKNOWN_SENTINEL
