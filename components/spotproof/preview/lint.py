"""Every input against the SDK's own metadata: misspelt nested keys, wrong types, unknown enum values, missing keys.

The SDKs check none of this when a program runs: a misspelt key of a nested dictionary goes to the provider as it is.
Free-form maps, JSON texts and the bodies of custom objects have no metadata and are not judged here.
"""

import collections.abc
import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, is_typeddict

import pulumi

from spotproof.preview import sdk_metadata
from spotproof.preview.model import (
    PROVIDER_TYPE_PREFIX,
    UNKNOWN,
    Asset,
    Capture,
    Finding,
    Reference,
    Resource,
    Secret,
    Severity,
)

# An enum that is open (text is allowed too) lags behind the cloud: AWS has instance types its SDK does not list.
# Where the list is short, a near miss is a misspelling; where it is long, it is next month's instance type.
SHORT_ENUM: Final = 40

# Both refuse a value of another type: Kubernetes' API server, and azure-native when it checks inputs ("should be of
# type 'boolean' but got a string"; validateProperty in pulumi-azure-native's provider.go).
STRICT: Final = ("kubernetes:", "azure-native:")

# Kubernetes reads these as quantities, for which numbers are allowed where the SDK says text.
_QUANTITIES: Final = frozenset(
    (
        *("requests", "limits", "hard", "capacity", "allocatable", "podFixed", "min", "max", "default"),
        *("defaultRequest", "maxLimitRequestRatio", "sizeLimit", "divisor", "averageValue"),
    )
)
# A metric's `value` is a quantity; of an environment variable or a toleration it is text.
_METRICS: Final = frozenset(("target", "current"))


@dataclass(frozen=True)
class _Place:
    """Where in a resource's inputs the check stands, and how it judges there.

    `strict`: text is no number (`STRICT`; Terraform-based providers convert). `secret`: the value is not to be told.
    """

    path: str = ""
    key: str = ""
    strict: bool = False
    secret: bool = False
    quantity: bool = False
    loose_names: bool = False

    def at(self, key: str) -> "_Place":
        """Return the place of one key of an object."""
        step = key if key.isidentifier() else json.dumps(key)
        path = f"{self.path}[{step}]" if step != key else f"{self.path}.{key}".lstrip(".")
        quantity = key in _QUANTITIES or (key == "value" and self.key in _METRICS)
        return replace(self, path=path, key=key, quantity=self.quantity or quantity)

    def item(self, index: int) -> "_Place":
        """Return the place of one item of a list."""
        return replace(self, path=f"{self.path}[{index}]")

    def shown(self, value: object) -> str:
        """Return the value for a message."""
        if self.secret:
            return "a secret value"
        text = json.dumps(value, default=str)
        return text if len(text) <= 40 else f"{text[:37]}..."  # noqa: PLR2004


@dataclass(frozen=True)
class _Fault:
    path: str
    message: str
    severity: Severity = "error"


def lint_inputs(capture: Capture) -> list[Finding]:
    """Return what is wrong with the inputs of every resource whose class is loaded."""
    return [
        Finding(resource.urn, fault.path, fault.message, fault.severity, (capture.mode,))
        for resource in capture.resources
        for fault in _resource(resource)
    ]


def _resource(resource: Resource) -> Iterator[_Fault]:
    cls = sdk_metadata.resource_class(resource.type) if resource.custom and not resource.read else None
    shape = sdk_metadata.inputs_of(cls) if cls is not None else None
    if shape is None:
        return
    provider = resource.type.startswith(PROVIDER_TYPE_PREFIX)
    place = _Place(strict=resource.type.startswith(STRICT), loose_names=provider)
    for key, value in resource.inputs.items():
        if provider and key == "version":  # the engine's own
            continue
        if key not in shape.types:
            yield _misspelt(key, shape, place)
        else:
            hint = shape.types[key]
            yield from _faults(_parsed(value, hint) if provider else value, hint, place.at(key))


def _parsed(value: object, hint: Any) -> object:
    """Return a provider's input as it was before the SDK made JSON text of it."""
    if isinstance(value, str) and str not in _members(hint):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _faults(value: object, hint: Any, place: _Place) -> list[_Fault]:
    if isinstance(value, Secret):
        return _faults(value.value, hint, replace(place, secret=True))
    if value is None or value is UNKNOWN or isinstance(value, Reference):
        return []
    members = _members(hint)
    if not members or Any in members:
        return []
    if isinstance(value, str) and str in members:
        return _open_enum(value, members, place)
    found = [_member(value, member, place) for member in members]
    if not all(found):
        return []
    # Of several alternatives, the one the value comes nearest to is the one that was meant.
    structural = [faults for faults in found if any(fault.path != place.path for fault in faults)]
    return min(structural, key=len) if structural else _mismatch(value, members, place, found)


def _mismatch(value: object, members: tuple[Any, ...], place: _Place, found: Sequence[list[_Fault]]) -> list[_Fault]:
    warnings = [faults for faults in found if all(fault.severity == "warning" for fault in faults)]
    if warnings:
        return warnings[0]
    if len(found) == 1:
        return found[0]
    wanted = " or ".join(dict.fromkeys(_name(member) for member in members))
    return [_Fault(place.path, f"must be {wanted}, got {_kind(value)}: {place.shown(value)}")]


@cache
def _members(hint: Any) -> tuple[Any, ...]:
    """Return the types a value may have, without the plumbing of inputs; (Any,) if everything is allowed."""
    if get_origin(hint) is Union or type(hint).__name__ == "UnionType":
        return tuple(dict.fromkeys(member for part in get_args(hint) for member in _members(part)))
    origin = get_origin(hint) or hint
    if origin in (pulumi.Output, collections.abc.Awaitable, type(None)) or is_typeddict(hint):
        return ()
    if isinstance(hint, (str, TypeVar)) or type(hint).__name__ == "ForwardRef" or origin in (Any, object):
        return (Any,)
    return (hint,)


def _member(  # noqa: PLR0911  # a table by type, read downwards
    value: object, hint: Any, place: _Place
) -> list[_Fault]:
    origin = get_origin(hint) or hint
    if origin is Literal:
        allowed = get_args(hint)
        return [] if value in allowed else [_not_among(value, allowed, place)]
    if origin in (str, int, float, bool):
        return _primitive(value, origin, place)
    if not isinstance(origin, type) or issubclass(origin, pulumi.Resource):
        return []
    if issubclass(origin, Enum):
        allowed = tuple(member.value for member in origin)
        return [] if value in allowed else [_not_among(value, allowed, place)]
    if issubclass(origin, (pulumi.Asset, pulumi.Archive)):
        return [] if isinstance(value, Asset) else [_wrong(value, "an asset", place)]
    if sdk_metadata.is_input_type(origin):
        return _object(value, origin, place)
    if issubclass(origin, Mapping):
        return _map(value, get_args(hint), place)
    if issubclass(origin, Sequence):
        return _list(value, get_args(hint), place)
    return []


def _primitive(value: object, wanted: type, place: _Place) -> list[_Fault]:
    if type(value) is wanted or (wanted is float and type(value) is int):
        return []
    wrong = _wrong(value, _name(wanted), place)
    if wanted is str and type(value) in (int, float):
        return [] if place.quantity or not place.strict else [wrong]
    if place.strict or not _converts(value, wanted):
        return [wrong]
    return [replace(wrong, severity="warning", message=f"{wrong.message} (the provider converts it)")]


def _converts(value: object, wanted: type) -> bool:
    if wanted is str:
        return isinstance(value, bool)
    if not isinstance(value, str):
        return False
    if wanted is bool:
        return value.lower() in ("true", "false")
    try:
        wanted(value)
    except ValueError:
        return False
    return True


def _object(value: object, args: type, place: _Place) -> list[_Fault]:
    if not isinstance(value, dict):
        return [_wrong(value, "an object", place)]
    shape = sdk_metadata.shape_of(args)
    found: list[_Fault] = []
    present: set[str] = set()
    for key, item in value.items():
        wire = shape.names.get(key, key) if place.loose_names else key
        if wire not in shape.types:
            found.append(_misspelt(key, shape, place))
        else:
            if item is not None:
                present.add(wire)
            found += _faults(item, shape.types[wire], place.at(key))
    missing = sorted(shape.required - present)
    return found + [_Fault(place.at(key).path, "is missing, and must be there") for key in missing]


def _map(value: object, args: tuple[Any, ...], place: _Place) -> list[_Fault]:
    if not isinstance(value, dict):
        return [_wrong(value, "a map", place)]
    hint = args[1] if len(args) == 2 else Any  # noqa: PLR2004
    return [fault for key, item in value.items() for fault in _faults(item, hint, place.at(key))]


def _list(value: object, args: tuple[Any, ...], place: _Place) -> list[_Fault]:
    if not isinstance(value, list):
        return [_wrong(value, "a list", place)]
    hint = args[0] if args else Any
    return [fault for index, item in enumerate(value) for fault in _faults(item, hint, place.item(index))]


def _open_enum(value: str, members: tuple[Any, ...], place: _Place) -> list[_Fault]:
    for member in members:
        # Azure calls its open lists Known...: what such a list lacks is new to it, not misspelt
        if not (isinstance(member, type) and issubclass(member, Enum)) or member.__name__.startswith("Known"):
            continue
        allowed = tuple(one.value for one in member if isinstance(one.value, str))
        near = _near_miss(value, allowed) if len(allowed) <= SHORT_ENUM else False
        if near and value not in allowed:
            return [replace(_not_among(value, allowed, place), severity="warning")]
    return []


def _near_miss(value: str, allowed: Sequence[str]) -> bool:
    """Whether a value is nearly one of a list, or is one but for its capitals."""
    return value.lower() in {one.lower() for one in allowed} or bool(
        difflib.get_close_matches(value, allowed, n=1, cutoff=0.8)
    )


def _misspelt(key: str, shape: sdk_metadata.Shape, place: _Place) -> _Fault:
    near = difflib.get_close_matches(key, [*shape.names, *shape.types], n=1, cutoff=0.7)
    known = ", ".join(sorted(shape.names)[:12])
    advice = f"did you mean {near[0]!r}?" if near else f"known keys: {known}"
    return _Fault(place.at(key).path, f"unknown key {key!r}; {advice}")


def _not_among(value: object, allowed: Sequence[object], place: _Place) -> _Fault:
    texts = [str(one) for one in allowed]
    near = [one for one in texts if one.lower() == str(value).lower()] or difflib.get_close_matches(
        str(value), texts, n=1
    )
    choice = f"; did you mean {near[0]!r}?" if near and not place.secret else ""
    listed = f" (one of {', '.join(texts)})" if len(texts) <= SHORT_ENUM / 4 else ""
    return _Fault(place.path, f"{place.shown(value)} is not an allowed value{listed}{choice}")


def _wrong(value: object, wanted: str, place: _Place) -> _Fault:
    return _Fault(place.path, f"must be {wanted}, got {_kind(value)}: {place.shown(value)}")


_NAMES: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a map",
    list: "a list",
}


def _name(hint: Any) -> str:
    origin = get_origin(hint) or hint
    if sdk_metadata.is_input_type(origin):
        return "an object"
    if isinstance(origin, type) and issubclass(origin, Enum):
        return "one of the enum's values"
    if isinstance(origin, type) and origin not in _NAMES:
        return "a map" if issubclass(origin, Mapping) else "a list" if issubclass(origin, Sequence) else origin.__name__
    return _NAMES.get(origin, str(hint))


def _kind(value: object) -> str:
    return "a file" if isinstance(value, Asset) else _NAMES.get(type(value), type(value).__name__)
