"""Outputs of a cloud that does not exist: for every output of a class a value of its type, the same on every run."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from spotproof.preview import sdk_metadata

# Deep enough for `cluster.identities[0].oidcs[0].issuer`; Kubernetes schemas (JSONSchemaProps) contain themselves.
DEPTH: Final = 4

_REGION: Final = "us-east-1"
_ACCOUNT: Final = "123456789012"
Recipe: TypeAlias = Callable[[str, str, str], object]
"""(service, resource name, 8 hex digits of its URN) -> value."""

_TEXTS: Final[tuple[tuple[str, str], ...]] = (
    (r"[aA]rn$", f"arn:aws:{{service}}:{_REGION}:{_ACCOUNT}:{{name}}-{{mark}}"),
    (r"(?i)certificate|^data$|cadata$", "{base64}"),
    (r"(?i)(endpoint|url|uri|issuer|selflink)$", "https://{mark}.{name}.example.com"),
    (r"(?i)(domain|dnsname|hostname|fqdn|host)$", "{mark}.{name}.example.com"),
    (r"(?i)(json|policy|kubeconfig(raw)?)$", "{{}}"),
    (r"(?i)(account|owner)(id)?$", _ACCOUNT),
    (r"(?i)ipv6cidr", "fd00::/56"),
    (r"(?i)cidr", "10.0.0.0/16"),
    (r"(?i)(ip|ipaddress|address)$", "10.0.0.10"),
    (r"(?i)^region$", _REGION),
    (r"(?i)zone$", f"{_REGION}a"),
    (r"(?i)(status|state)$", "ACTIVE"),
    (r"(?i)version$", "1"),
    (r"(?i)(created?at|date|time|timestamp)$", "2026-01-01T00:00:00Z"),
    (r"", "{name}-{mark}"),
)
"""Pattern of an output's name -> what such a text looks like; the first that fits."""


def invent(urn: str, token: str, inputs: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return an id and every output of the token's SDK class that `inputs` do not already give.

    Both depend on the URN alone, so two resources differ and two runs do not. A class no SDK has gets an id only.
    """
    name = urn.rpartition("::")[2]
    mark = hashlib.sha256(urn.encode()).hexdigest()[:8]
    outputs: dict[str, object] = {}
    if token.startswith("kubernetes:"):
        inputs, outputs = _named(inputs, name, mark)
        identity = _kubernetes_id(outputs.get("metadata"), name)
    else:
        identity = f"{name}-{mark}"
    cls = sdk_metadata.resource_class(token)
    if cls is not None:
        service = token.split(":")[1].split("/", maxsplit=1)[0].lower()
        for key, recipe in _recipes(cls).items():
            if key not in inputs:
                outputs[key] = recipe(service, name, mark)
    return identity, outputs


def _named(inputs: Mapping[str, object], name: str, mark: str) -> tuple[Mapping[str, object], dict[str, object]]:
    """Give a Kubernetes object the name its provider would: everybody reads `metadata.name` of a namespace."""
    metadata = inputs.get("metadata")
    if not isinstance(metadata, Mapping):
        metadata = {}
    return {**inputs, "metadata": metadata}, {"metadata": {"name": f"{name}-{mark}", "uid": mark, **metadata}}


def _kubernetes_id(metadata: object, name: str) -> str:
    if not isinstance(metadata, Mapping):
        return name
    own = str(metadata.get("name", name))
    namespace = metadata.get("namespace")
    return f"{namespace}/{own}" if isinstance(namespace, str) else own


@cache
def _recipes(cls: type[Any]) -> dict[str, Recipe]:
    found = {key: _recipe(key, hint, DEPTH) for key, hint in sdk_metadata.outputs_of(cls).items()}
    return {key: recipe for key, recipe in found.items() if recipe is not None and key not in ("id", "urn")}


def _recipe(key: str, hint: Any, depth: int) -> Recipe | None:  # noqa: PLR0911  # a table by type, read downwards
    hint = _first(hint)
    origin = get_origin(hint) or hint
    if origin is str:
        return _text(key)
    if origin is bool:
        return lambda _s, _n, _m: False
    if origin in (int, float):
        return lambda _s, _n, _m: 1
    if origin is Literal:
        return lambda _s, _n, _m: get_args(hint)[0]
    if not isinstance(origin, type):
        return None
    if issubclass(origin, Enum):
        return lambda _s, _n, _m: next(iter(origin)).value
    if issubclass(origin, Mapping) and sdk_metadata.output_shape(origin) is None:
        return lambda _s, _n, _m: {}
    if depth and issubclass(origin, Sequence):
        return _list(_recipe(key.removesuffix("s"), next(iter(get_args(hint)), str), depth - 1))
    return _object(origin, depth)


def _text(key: str) -> Recipe:
    template = next(template for pattern, template in _TEXTS if re.search(pattern, key))

    def text(service: str, name: str, mark: str) -> str:
        encoded = base64.b64encode(f"{name}-{mark}".encode()).decode()
        return template.format(service=service, name=name, mark=mark, base64=encoded)

    return text


def _list(element: Recipe | None) -> Recipe | None:
    return None if element is None else lambda service, name, mark: [element(service, name, mark)]


def _object(cls: type[Any], depth: int) -> Recipe | None:
    shape = sdk_metadata.output_shape(cls)
    if shape is None or not depth:
        return None
    parts = {key: recipe for key, hint in shape.items() if (recipe := _recipe(key, hint, depth - 1)) is not None}
    return lambda service, name, mark: {key: recipe(service, name, mark) for key, recipe in parts.items()}


def _first(hint: Any) -> Any:
    """Return the first member of a union that is not None."""
    if get_origin(hint) is Union or type(hint).__name__ == "UnionType":
        return next((_first(member) for member in get_args(hint) if member is not type(None)), str)
    return hint
