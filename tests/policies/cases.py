"""Loads the cases that stand beside each policy, as resources of a captured stack."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from spotproof.preview.model import UNKNOWN, Resource
from spotproof_policies.model import Policy
from spotproof_policies.registry import POLICIES

FOLDER = Path(__file__).resolve().parents[2] / "policies" / "spotproof_policies"


KEYS = {"type", "name", "inputs", "parent", "dependencies", "behind", "protect", "timeouts", "outputs"}
"""`behind` are property dependencies: property -> names of the resources that its value comes from."""


@dataclass(frozen=True)
class Case:
    policy: Policy
    name: str
    resources: tuple[Resource, ...]
    messages: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"{self.policy.name}: {self.name}"


@cache
def cases(kind: str) -> tuple[Case, ...]:
    """All cases of a kind, `allowed` or `denied`, of every policy in the table."""
    return tuple(case for policy in POLICIES for case in _of(policy, FOLDER / policy.folder / f"{kind}.yaml"))


def _of(policy: Policy, file: Path) -> Iterator[Case]:
    loader = YAML(typ="safe")
    for written in loader.load(file.read_text(encoding="utf-8")):
        unexpected = set(written) - {"name", "resources", "messages", "config"}
        assert not unexpected, f"{file}: {unexpected}"
        yield Case(
            policy=policy,
            name=written["name"],
            resources=tuple(_resources(written["resources"])),
            messages=tuple(written.get("messages", ())),
            config=written.get("config", {}),
        )


def _resources(written: list[dict[str, Any]]) -> Iterator[Resource]:
    by_name = {one["name"]: one for one in written}
    for one in written:
        unexpected = set(one) - KEYS
        assert not unexpected, unexpected
        yield Resource(
            urn=_urn(by_name, one["name"]),
            type=one["type"],
            name=one["name"],
            custom=not one["type"].startswith("spotproof:"),
            parent=_urn(by_name, one["parent"]) if "parent" in one else "",
            provider="",
            inputs=one["inputs"],
            dependencies=tuple(_urn(by_name, name) for name in one.get("dependencies", ())),
            property_dependencies={
                key: tuple(_urn(by_name, name) for name in names) for key, names in one.get("behind", {}).items()
            },
            protect=one.get("protect", False),
            custom_timeouts=one.get("timeouts", {}),
            outputs=one.get("outputs", {}),
        )


def _urn(by_name: Mapping[str, Mapping[str, Any]], name: str) -> str:
    one = by_name[name]
    chain = f"{by_name[one['parent']]['type']}$" if "parent" in one else ""
    return f"urn:pulumi:test::spotproof::{chain}{one['type']}::{name}"


def leaves_unknown(value: Any) -> Any:
    """The value with everything unknown but its shape."""
    if isinstance(value, dict):
        return {key: leaves_unknown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [leaves_unknown(item) for item in value]
    return UNKNOWN


def one_changed(value: Any, replacements: Iterable[Any]) -> Iterator[Any]:
    """Copies of the value, each with one part (a leaf, a list or a whole table) replaced."""
    yield from replacements
    if isinstance(value, dict):
        for key, item in value.items():
            for changed in one_changed(item, replacements):
                yield {**value, key: changed}
    if isinstance(value, list):
        for index, item in enumerate(value):
            for changed in one_changed(item, replacements):
                yield [*value[:index], changed, *value[index + 1 :]]
