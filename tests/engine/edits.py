"""Small edits of the settings, one of every kind, and the operations that each may plan and no other."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from spotproof.settings.operators import EXAMPLE_IMAGE

Settings: TypeAlias = dict[str, Any]

EXTRA_POOL: Final[Mapping[str, Settings]] = {
    "aws-dev": {"name": "a10g-spot", "capacity": "spot", "instanceTypes": ["g5.2xlarge"], "maxNodes": 2},
    "azure-dev": {
        "name": "t4-small-spot",
        "capacity": "spot",
        "instanceTypes": ["Standard_NC4as_T4_v3"],
        "maxNodes": 2,
    },
    "gcp-dev": {"name": "l4-more-spot", "capacity": "spot", "instanceTypes": ["g2-standard-8"], "maxNodes": 2},
    "kind-dev": {"name": "cpu-more-spot", "capacity": "spot", "maxNodes": 2},
}
"""A pool that the stack has not got."""

REMOVABLE: Final[Mapping[str, str]] = {"aws-dev": "l4-spot", "azure-dev": "cpu", "gcp-dev": "l4-spot"}
"""A pool that no fallback policy names."""


@dataclass(frozen=True)
class Edit:
    """One change of the settings; `plans` are the operations it may lead to, `absent` the stacks without it."""

    name: str
    change: Callable[[str, Settings], Settings]
    plans: frozenset[str]
    absent: frozenset[str] = frozenset()


def _tag(_stack: str, settings: Settings) -> Settings:
    settings["tags"] = {**settings["tags"], "owner": "platform"}
    return settings


def _pool_added(stack: str, settings: Settings) -> Settings:
    settings["pools"].append(dict(EXTRA_POOL[stack]))
    return settings


def _pool_removed(stack: str, settings: Settings) -> Settings:
    settings["pools"] = [pool for pool in settings["pools"] if pool["name"] != REMOVABLE[stack]]
    return settings


def _max_nodes(_stack: str, settings: Settings) -> Settings:
    settings["pools"][0]["maxNodes"] += 1
    return settings


def _operator_version(_stack: str, settings: Settings) -> Settings:
    settings["operators"] = {"jobset": {"mode": "install", "version": "0.11.0"}}
    return settings


def _retain_days(stack: str, settings: Settings) -> Settings:
    settings["logs"] = {"retainDays": 90 if stack.startswith("azure") else 14}
    return settings


def _image_registry(_stack: str, settings: Settings) -> Settings:
    settings["imageRegistry"] = "mirror.example.org"
    return settings


def _max_failures(_stack: str, settings: Settings) -> Settings:
    settings["fallbackPolicies"][0]["tiers"][0]["maxFailures"] = 3
    return settings


def _workspace_added(_stack: str, settings: Settings) -> Settings:
    settings["workspaces"].append({"namespace": "speech"})
    return settings


def _controller(_stack: str, settings: Settings) -> Settings:
    operators = settings.get("operators", {})
    settings["operators"] = {**operators, "fallback": {"mode": "install", "image": EXAMPLE_IMAGE}}
    return settings


_CREATES: Final = frozenset({"create"})
_UPDATES: Final = frozenset({"update"})
_SOMEBODY_ELSES: Final = frozenset({"kind-dev"})
"""It takes no tags, keeps no logs, and every pool of it is a tier."""

EDITS: Final[tuple[Edit, ...]] = (
    Edit("tag", _tag, _UPDATES, _SOMEBODY_ELSES),
    Edit("pool added", _pool_added, _CREATES | _UPDATES),
    Edit("pool removed", _pool_removed, frozenset({"delete", "update"}), _SOMEBODY_ELSES),
    Edit("maxNodes", _max_nodes, _UPDATES),
    Edit("operator version", _operator_version, _UPDATES),
    Edit("logs.retainDays", _retain_days, _UPDATES, _SOMEBODY_ELSES),
    Edit("imageRegistry", _image_registry, _UPDATES),
    Edit("maxFailures", _max_failures, _UPDATES),
    Edit("workspace added", _workspace_added, _CREATES),
    Edit("fallback controller", _controller, _CREATES),
)


def applied(edit: Edit, stack: str, settings: Settings) -> Settings:
    """Return the edited settings; those given stay as they are."""
    return edit.change(stack, deepcopy(settings))
