"""One resource as the real engine has it and as our preview has it, in the same words, and where the two part.

Where each word is read on the engine's side: inputs of custom resources where the provider is given them (secrets are
open there, encrypted in the plan), what a first `up` leaves in the state where the plan has no word for it, all else in
the plan of the first preview.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from google.protobuf import struct_pb2

from spotproof.preview import wire
from spotproof.preview.model import STACK_TYPE, UNKNOWN, Asset, Capture, Reference, Resource, Secret
from tests.engine.standin.provider import Call

Seen: TypeAlias = dict[str, object]
"""A resource by field; see `FIELDS`."""

FIELDS: Final = (
    "type", "name", "custom", "parent", "provider", "inputs", "outputs", "dependencies", "propertyDependencies",
    "protect", "retainOnDelete", "aliases", "ignoreChanges", "replaceOnChanges", "additionalSecretOutputs",
    "deleteBeforeReplace", "customTimeouts", "deletedWith", "import",
)  # fmt: skip
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_ENGINES_OWN: Final = "__internal"
"""The engine's note to itself in a provider's inputs; the provider never sees it."""


@dataclass(frozen=True)
class Difference:
    """One value that is not the same; `field` is as in "inputs.principalId"."""

    urn: str
    field: str
    engine: object
    ours: object


def of_engine(plan: Mapping[str, Any], state: Sequence[Mapping[str, Any]], calls: Sequence[Call]) -> dict[str, Seen]:
    """Every resource of a first preview of the engine, by URN.

    Args:
        plan: the file of `pulumi preview --save-plan`.
        state: the resources that an `up` afterwards left in the state.
        calls: what the providers were asked during the preview.
    """
    given = {call.urn: call.inputs for call in calls if call.method in ("Check", "CheckConfig")}
    left = {str(one["urn"]): one for one in state}
    return {urn: _engine(urn, one, left.get(urn, {}), given.get(urn)) for urn, one in plan["resourcePlans"].items()}


def of_ours(capture: Capture) -> dict[str, Seen]:
    """Every resource of our preview, by URN."""
    return {resource.urn: _ours(resource) for resource in capture.resources}


def differences(engine: Mapping[str, Seen], ours: Mapping[str, Seen]) -> list[Difference]:
    """What is not the same, in the order of URNs; a resource that one side has not got is a difference of its own."""
    found: list[Difference] = []
    for urn in sorted({*engine, *ours}):
        if urn not in engine or urn not in ours:
            found.append(Difference(urn, "resource", urn in engine, urn in ours))
            continue
        for name in FIELDS:
            found.extend(_apart(urn, name, engine[urn].get(name), ours[urn].get(name)))
    return found


def _engine(urn: str, planned: Mapping[str, Any], left: Mapping[str, Any], given: dict[str, object] | None) -> Seen:
    goal = planned["goal"]
    custom = bool(goal.get("custom"))
    inputs = _decoded(goal["inputDiff"].get("adds", {}))
    if custom and given is not None:
        inputs = {key: _marked(value, inputs.get(key)) for key, value in given.items()}
    return {
        "type": goal["type"],
        "name": goal["name"],
        "custom": custom,
        "parent": goal.get("parent", ""),
        "provider": goal.get("provider", "").replace(wire.UNKNOWN_SENTINEL, "$unknown"),
        "inputs": {key: value for key, value in inputs.items() if key != _ENGINES_OWN},
        "outputs": {} if custom else _decoded(planned["state"]),
        "dependencies": sorted(goal.get("dependencies", [])),
        "propertyDependencies": _sorted_dependencies(goal.get("propertyDependencies", {})),
        "protect": bool(goal.get("protect")),
        "retainOnDelete": bool(left.get("retainOnDelete")),
        "aliases": _aliases(urn, goal),
        "ignoreChanges": list(goal.get("ignoreChanges", [])),
        "replaceOnChanges": list(left.get("replaceOnChanges", [])),
        "additionalSecretOutputs": sorted(goal.get("additionalSecretOutputs", [])),
        "deleteBeforeReplace": bool(goal.get("deleteBeforeReplace")),
        "customTimeouts": {key: float(value) for key, value in goal.get("customTimeouts", {}).items() if value},
        "deletedWith": left.get("deletedWith", ""),
        "import": left.get("importID", ""),
    }


def _ours(resource: Resource) -> Seen:
    return {
        "type": resource.type,
        "name": resource.name,
        "custom": resource.custom,
        "parent": resource.parent,
        "provider": resource.provider,
        "inputs": dict(resource.inputs),
        "outputs": {} if resource.custom else dict(resource.outputs),
        "dependencies": sorted(resource.dependencies),
        "propertyDependencies": _sorted_dependencies(resource.property_dependencies),
        "protect": resource.protect,
        "retainOnDelete": resource.retain_on_delete,
        "aliases": sorted(resource.aliases),
        "ignoreChanges": list(resource.ignore_changes),
        "replaceOnChanges": list(resource.replace_on_changes),
        "additionalSecretOutputs": sorted(resource.additional_secret_outputs),
        "deleteBeforeReplace": resource.delete_before_replace,
        "customTimeouts": {key: _duration(value) for key, value in resource.custom_timeouts.items()},
        "deletedWith": resource.deleted_with,
        "import": resource.import_id,
    }


def _decoded(values: Mapping[str, Any]) -> dict[str, object]:
    """Plain values of the plan's JSON, which has the same envelopes; a secret there is encrypted."""
    struct = struct_pb2.Struct()
    struct.update(values)
    return wire.decode(struct)


def _marked(given: object, planned: object) -> object:
    """Mark what the plan has as secret: the engine opens the secrets of a provider's own configuration for it."""
    match given, planned:
        case Secret(), _:
            return given
        case _, Secret():
            return Secret(given)
        case dict(), dict():
            return {key: _marked(value, planned.get(key)) for key, value in given.items()}
        case _:
            return given


def _sorted_dependencies(dependencies: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {key: sorted(urns) for key, urns in sorted(dependencies.items())}


def _duration(text: str) -> float:
    return sum(float(count) * _SECONDS[unit] for count, unit in _DURATION.findall(text))


def _aliases(urn: str, goal: Mapping[str, Any]) -> list[str]:
    """The URNs that aliases stand for: what an alias leaves out is the resource's own."""
    return sorted({*goal.get("aliases", []), *(_alias(urn, goal, one) for one in goal.get("structuredAliases") or [])})


def _alias(urn: str, goal: Mapping[str, Any], alias: Mapping[str, Any]) -> str:
    if alias["URN"]:
        return str(alias["URN"])
    stack, project = urn.removeprefix("urn:pulumi:").split("::")[:2]
    parent = "" if alias["NoParent"] else alias["Parent"] or goal.get("parent", "")
    above = parent.split("::")[2] if parent else ""
    token = alias["Type"] or goal["type"]
    chain = token if above in ("", STACK_TYPE) else f"{above}${token}"
    return (
        f"urn:pulumi:{alias['Stack'] or stack}::{alias['Project'] or project}::{chain}::{alias['Name'] or goal['name']}"
    )


def _apart(urn: str, path: str, engine: object, ours: object) -> Iterator[Difference]:
    match engine, ours:
        case dict(), dict():
            for key in sorted({*engine, *ours}):
                yield from _apart(urn, f"{path}.{key}", engine.get(key), ours.get(key))
        case Secret(), Secret() if path.startswith("outputs.") or "ciphertext" in str(engine.value):
            return  # encrypted in the plan; that both mark it is what can be seen
        case _ if engine != ours:
            yield Difference(urn, path, shown(engine), shown(ours))
        case _:
            return


def shown(value: object) -> object:
    """Return a value as a review can read it; a secret is a mark."""
    match value:
        case Secret():
            return "<secret>" if not wire.holds_unknown(value.value) else "<unknown secret>"
        case Reference():
            return value.urn
        case Asset():
            return dict(value.source)
        case dict():
            return {key: shown(item) for key, item in value.items()}
        case list():
            return [shown(item) for item in value]
        case _:
            return "<unknown>" if value is UNKNOWN else value
