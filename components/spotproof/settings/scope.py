"""Settings that only some clouds have: refused by name elsewhere, never ignored."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from pydantic_core import to_jsonable_python

from spotproof.settings.base import render_duration
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.provider import Provider
from spotproof.settings.walk import Path, field_at, value_at, written

SCOPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spotServiceLinkedRole": "is about EC2 Spot's role of an AWS account",
        "network.natGateways": "counts the NAT gateways of an AWS VPC",
        "network.existing": "names a VPC of AWS",
        "controlPlane.support": "chooses between two ways of EKS to support old versions",
        "checkpoints.uri": "is where training saves on a cluster somebody else made; here a bucket is made",
        "checkpoints.secret": "is how pods reach a store somebody else made; here they have identities of the cloud",
        "checkpoints.serviceAccountAnnotations": "binds an identity on a cluster somebody else made; here one is made",
        "pools[].autoscaler": "chooses between AKS's two ways to make nodes",
        "pools[].nodeLabels": "are labels of nodes somebody else made; here pools write their own",
        "pools[].taints": "are taints of nodes somebody else made; here pools write their own",
    }
)
"""Path, with `[]` for every item of a list -> what the setting is about. A cloud takes it by naming it in `takes`."""


def out_of_scope(raw: Mapping[str, object], cloud: str, provider: type[Provider]) -> Iterator[tuple[Path, Problem]]:
    """Where the file has a setting that means nothing on this cloud, and what is said of it."""
    elsewhere = {pattern: (why, "Remove it") for pattern, why in SCOPED.items() if pattern not in provider.takes}
    found: set[Path] = set()
    for pattern, (why, remedy) in {**provider.refuses, **elsewhere}.items():
        for path in _matches(raw, pattern):
            if any(path[: len(whole)] == whole for whole in found):
                continue
            found.add(path)
            if _is_default(path, value_at(raw, path)):
                continue
            what = f"is {shown(value_at(raw, path))}, which {why}"
            yield path, Problem(written(path), what, f"with `cloud: {cloud}` it would have no effect", remedy)


def _is_default(path: Path, value: object) -> bool:
    """Whether a file only writes out what holds anyway, as an environment does that was printed whole."""
    field = field_at(Environment, path)
    default = field.get_default(call_default_factory=True) if field else None
    if isinstance(default, timedelta):
        return value == render_duration(default)
    # printed with what is left out as null, or without it
    return value in [to_jsonable_python(default, by_alias=True, exclude_none=short) for short in (False, True)]


def _matches(raw: object, pattern: str) -> list[Path]:
    """Paths of the file that a pattern names and that hold something."""
    found: list[tuple[Path, object]] = [((), raw)]
    for part in pattern.replace("[]", ".[]").split("."):
        found = [
            ((*path, key), value)
            for path, here in found
            for key, value in _items(here)
            if value is not None and (key == part or (part == "[]" and isinstance(key, int)))
        ]
    return [path for path, _ in found]


def _items(here: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(here, Mapping):
        yield from ((str(key), value) for key, value in here.items())
    elif isinstance(here, list):
        yield from enumerate(here)
