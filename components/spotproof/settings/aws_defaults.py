"""What an AWS environment has when its file does not say: default pools, accelerators of known types."""

from spotproof.settings import aws_instances

CPU_TYPES = ("m7i.2xlarge", "m7a.2xlarge", "m6i.2xlarge")
GPU_TYPES = ("g6.xlarge", "g6.2xlarge", "g6.4xlarge")
"""One L4 of 24 GiB: the cheapest GPU node that trains in bfloat16; three sizes make spot easier to get."""
MAX_NODES = 10


def complete(raw: dict[str, object]) -> dict[str, object]:
    """The file's settings with default pools (and, with `spot: true`, their policies) and accelerators filled in."""
    filled = dict(raw)
    if filled.get("pools") is None:
        filled["pools"] = _default_pools(spot=filled.get("spot") is True)
        if filled.get("spot") is True and filled.get("fallbackPolicies") is None:
            filled["fallbackPolicies"] = [
                {"name": "standard", "tiers": [{"pool": "gpu-spot"}, {"pool": "gpu"}]},
                {"name": "standard-cpu", "tiers": [{"pool": "cpu-spot"}, {"pool": "cpu"}]},
            ]
    elif isinstance(filled["pools"], list):
        filled["pools"] = [_with_accelerator(pool) for pool in filled["pools"]]
    return filled


def _default_pools(*, spot: bool) -> list[object]:
    kinds = (("cpu", CPU_TYPES), ("gpu", GPU_TYPES))
    capacities = (("-spot", "spot"), ("", "on-demand")) if spot else (("", "on-demand"),)
    return [
        _with_accelerator(
            {"name": f"{name}{suffix}", "capacity": capacity, "instanceTypes": list(types), "maxNodes": MAX_NODES}
        )
        for name, types in kinds
        for suffix, capacity in capacities
    ]


def _with_accelerator(pool: object) -> object:
    """The accelerator of the first instance type, where it is known and the file does not name one."""
    if not isinstance(pool, dict) or pool.get("accelerator") is not None:
        return pool
    types = pool.get("instanceTypes")
    first = types[0] if isinstance(types, list) and types else None
    known = aws_instances.accelerator(first) if isinstance(first, str) else None
    return {**pool, "accelerator": {"type": known[0], "count": known[1]}} if known else pool
