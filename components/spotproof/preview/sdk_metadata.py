"""What the provider SDKs know about their own resources: class by token, inputs, outputs, required names.

Nothing is built before a token is asked for, and everything is kept: the classes of one process do not change.
"""

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeGuard

import pulumi

# The metadata functions generated SDKs and the runtime use; there is no public form of them. Their names have not
# changed since the first input types of 2020, and a change fails the tests of this module, not a preview.
from pulumi import _types  # pyright: ignore[reportPrivateUsage]

_classes: dict[str, type[pulumi.Resource]] = {}


@dataclass(frozen=True)
class Shape:
    """The properties of one object: wire name -> annotation, Python name -> wire name, wire names it must have."""

    types: dict[str, Any]
    names: dict[str, str]
    required: frozenset[str]


def resource_class(token: str) -> type[pulumi.Resource] | None:
    """Return the SDK class of a type token, None if no loaded SDK has it (a component, a custom object)."""
    found = _classes.get(token)
    if found is None:
        _index(pulumi.CustomResource)
        found = _classes.get(token)
    return found


def _index(base: type[pulumi.Resource]) -> None:
    for child in base.__subclasses__():
        # A program's own subclass inherits the token; the SDK's class is the one that states it.
        token = vars(child).get("pulumi_type")
        if isinstance(token, str):
            _classes.setdefault(token, child)
        _index(child)


@cache
def inputs_of(cls: type[pulumi.Resource]) -> Shape | None:
    """Return the inputs of a resource class, None if its SDK describes none."""
    module = sys.modules.get(cls.__module__)
    # `InitArgs` where a nested type took the plain name: BucketVersioningArgs is a part of Bucket's inputs.
    candidates = (getattr(module, f"{cls.__name__}{suffix}", None) for suffix in ("InitArgs", "Args"))
    return next((shape_of(args) for args in candidates if is_input_type(args)), None)


@cache
def shape_of(args: type) -> Shape:
    """Return the shape of an input type (a generated `...Args` class)."""
    names = _types.input_type_py_to_pulumi_names(args)
    return Shape(
        types=_types.input_type_types(args),
        names=names,
        required=frozenset(names.get(name, name) for name in _without_default(args)),
    )


def _without_default(args: type) -> list[str]:
    parameters = list(inspect.signature(args.__init__).parameters.values())[1:]
    return [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]


@cache
def outputs_of(cls: type[pulumi.Resource]) -> dict[str, Any]:
    """Return wire name -> annotation of a resource class's outputs."""
    return _types.resource_types(cls)


@cache
def output_shape(cls: type) -> dict[str, Any] | None:
    """Return wire name -> annotation of an output type, None if `cls` is not one."""
    return _types.output_type_types(cls) if _types.is_output_type(cls) else None


def is_input_type(cls: object) -> TypeGuard[type]:
    """Whether `cls` is a generated `...Args` class."""
    return isinstance(cls, type) and _types.is_input_type(cls)
