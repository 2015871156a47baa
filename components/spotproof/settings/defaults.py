"""What an environment has when its file does not say: default pools, accelerators of known machines."""

from typing import Final

from spotproof.settings.provider import Provider

MAX_NODES: Final = 10


def complete(raw: dict[str, object], provider: type[Provider]) -> dict[str, object]:
    """The file's settings with default pools (and, with `spot: true`, their policies) and accelerators filled in."""
    filled = dict(raw)
    if filled.get("pools") is None and provider.default_types:
        filled["pools"] = _default_pools(provider, spot=filled.get("spot") is True)
        if filled.get("spot") is True and filled.get("fallbackPolicies") is None:
            filled["fallbackPolicies"] = [
                _recommended("standard", "gpu-spot", "gpu"),
                _recommended("standard-cpu", "cpu-spot", "cpu"),
            ]
    elif isinstance(filled.get("pools"), list):
        filled["pools"] = [_with_accelerator(pool, provider) for pool in _list(filled["pools"])]
    return filled


def _recommended(name: str, spot: str, on_demand: str) -> dict[str, object]:
    """The policy that docs/economics.md recommends: on recorded markets the return alone saves 9 points."""
    return {
        "name": name,
        "tiers": [{"pool": spot, "maxFailures": 10, "pendingTimeout": "1h"}, {"pool": on_demand}],
        "failureWindow": "6h",
        "return": {"minStay": "2h"},
        "deadline": "pace",
    }


def _default_pools(provider: type[Provider], *, spot: bool) -> list[object]:
    capacities = (("-spot", "spot"), ("", "on-demand")) if spot else (("", "on-demand"),)
    return [
        _with_accelerator(
            {"name": f"{name}{suffix}", "capacity": capacity, "instanceTypes": list(types), "maxNodes": MAX_NODES},
            provider,
        )
        for name, types in provider.default_types.items()
        for suffix, capacity in capacities
    ]


def _with_accelerator(pool: object, provider: type[Provider]) -> object:
    """The accelerator of the first instance type, where it is known and the file does not name one."""
    if not isinstance(pool, dict) or pool.get("accelerator") is not None:
        return pool
    types = _list(pool.get("instanceTypes"))
    known = provider.machine(types[0]) if types and isinstance(types[0], str) else None
    if known is None or known.accelerator is None:
        return pool
    return {**pool, "accelerator": {"type": known.accelerator, "count": known.accelerator_count}}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
