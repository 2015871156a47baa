"""Outputs of a cloud that does not exist: for every output of a class a value of its type, the same on every run."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from spotproof.preview import sdk_metadata
from spotproof.preview.forms import Part, forms_of, template

# Deep enough for `cluster.identities[0].oidcs[0].issuer`; Kubernetes schemas (JSONSchemaProps) contain themselves.
DEPTH: Final = 4

Recipe: TypeAlias = Callable[[Part], object]


def invent(urn: str, token: str, inputs: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return an id and every output of the token's SDK class that `inputs` do not already give.

    Below an object that the program gave it is what is missing there: a cluster's DNS name lies beside what was written
    of its endpoints. Objects of Kubernetes are as they were written.

    Both depend on the URN alone, so two resources differ and two runs do not. A class no SDK has gets an id only.
    """
    name = urn.rpartition("::")[2]
    mark = hashlib.sha256(urn.encode()).hexdigest()[:8]
    service = token.split(":")[1].split("/", maxsplit=1)[0].lower()
    part = Part(service, token.rpartition(":")[2], name, mark, inputs)
    forms = forms_of(token)
    outputs: dict[str, object] = {}
    if token.startswith("kubernetes:"):
        inputs, outputs = _named(inputs, name, mark)
        identity = _kubernetes_id(outputs.get("metadata"), name)
    else:
        identity = forms.identity(part)
    cls = sdk_metadata.resource_class(token)
    if cls is not None:
        recipes = _recipes(cls, token)
        outputs |= {key: recipe(part) for key, recipe in recipes.items() if key not in inputs}
        if not token.startswith("kubernetes:"):
            given = {key: value for key, value in inputs.items() if isinstance(value, Mapping) and key in recipes}
            outputs |= {key: more for key, value in given.items() if (more := _missing(recipes[key](part), value))}
        if "name" in outputs and (own := forms.own_name(part)):
            outputs["name"] = own
    return identity, outputs


def _missing(whole: object, given: object) -> dict[str, object]:
    """Return what the whole has beyond what is given; nothing of a list, a secret or an unknown."""
    if not isinstance(whole, Mapping) or not isinstance(given, Mapping):
        return {}
    missing: dict[str, object] = {}
    for key, value in whole.items():
        if key not in given:
            missing[key] = value
        elif deeper := _missing(value, given[key]):
            missing[key] = deeper
    return missing


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
def _recipes(cls: type[Any], token: str) -> dict[str, Recipe]:
    found = {key: _recipe(token, key, hint, DEPTH) for key, hint in sdk_metadata.outputs_of(cls).items()}
    return {key: recipe for key, recipe in found.items() if recipe is not None and key not in ("id", "urn")}


def _recipe(  # noqa: PLR0911  # a table by type, read downwards
    token: str, key: str, hint: Any, depth: int
) -> Recipe | None:
    hint = _first(hint)
    origin = get_origin(hint) or hint
    if origin is str:
        return _text(token, key)
    if origin is bool:
        return lambda _: False
    if origin in (int, float):
        return lambda _: 1
    if origin is Literal:
        return lambda _: get_args(hint)[0]
    if not isinstance(origin, type):
        return None
    if issubclass(origin, Enum):
        return lambda _: next(iter(origin)).value
    if issubclass(origin, Mapping) and sdk_metadata.output_shape(origin) is None:
        return lambda _: {}
    if depth and issubclass(origin, Sequence):
        return _list(_recipe(token, key.removesuffix("s"), next(iter(get_args(hint)), str), depth - 1))
    return _object(token, origin, depth)


def _text(token: str, key: str) -> Recipe:
    form = template(token, key)

    def text(part: Part) -> str:
        encoded = base64.b64encode(f"{part.name}-{part.mark}".encode()).decode()
        return form.format(
            service=part.service, kind=part.kind, name=part.name, mark=part.mark, key=key, base64=encoded
        )

    return text


def _list(element: Recipe | None) -> Recipe | None:
    return None if element is None else lambda part: [element(part)]


def _object(token: str, cls: type[Any], depth: int) -> Recipe | None:
    shape = sdk_metadata.output_shape(cls)
    if shape is None or not depth:
        return None
    found = {key: _recipe(token, key, hint, depth - 1) for key, hint in shape.items()}
    parts = {key: recipe for key, recipe in found.items() if recipe is not None}
    return lambda part: {key: recipe(part) for key, recipe in parts.items()}


def _first(hint: Any) -> Any:
    """Return the first member of a union that is not None."""
    if get_origin(hint) is Union or type(hint).__name__ == "UnionType":
        return next((_first(member) for member in get_args(hint) if member is not type(None)), str)
    return hint
