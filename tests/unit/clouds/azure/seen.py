"""Environments on Azure, built once, and questions about them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from spotproof.preview.model import Capture, Resource
from tests.unit.clouds.programs import build, of, only
from tests.unit.settings.azure.samples import CLASSIC, FULL, SUBSCRIPTION

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/spotproof-dev-eastus"
ROLES = {
    "cluster administrator": "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    "network contributor": "4d97b98b-1d4f-4787-a291-c67834d212e7",
    "cluster user": "4abbcc35-e782-43d8-92c5-2d3f1bd2253f",
    "blob contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
}


@cache
def full() -> Capture:
    return build(FULL)


@cache
def classic() -> Capture:
    return build(CLASSIC)


def cluster(seen: Capture) -> dict[str, Any]:
    return dict(only(seen, "ManagedCluster").inputs)


def assigned(seen: Capture, role: str) -> list[Resource]:
    return [one for one in of(seen, "RoleAssignment") if str(one.inputs["roleDefinitionId"]).endswith(ROLES[role])]


def leaves(value: object) -> Iterator[object]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if parts is None:
        yield value
    else:
        for part in parts:
            yield from leaves(part)
