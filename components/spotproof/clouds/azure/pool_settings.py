"""The settings of a pool from a component's plain arguments."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from spotproof.settings import Pool
from spotproof.settings.azure.sizes import machine
from spotproof.vocabulary import Capacity


def pool_from(args: Mapping[str, Any], sizes: Sequence[str], capacity: Capacity) -> Pool:
    """A pool of these sizes.

    Numbers are made whole: a host in another language sends every number as a float.
    """
    known = machine(sizes[0])
    kind, count = args.get("accelerator_type"), args.get("accelerator_count", 0)
    if kind is None and known is not None:
        kind, count = known.accelerator, known.accelerator_count
    optional: dict[str, Any] = {
        "disk_gib": "disk_gib" in args and int(args["disk_gib"]),
        "consolidate_after": "consolidate_after_seconds" in args
        and timedelta(seconds=int(args["consolidate_after_seconds"])),
        "accelerator": kind and {"type": kind, "count": int(count)},
        "zones": tuple(args.get("zones", ())),
    }
    return Pool.model_validate(
        {
            "name": args["pool_name"],
            "capacity": capacity,
            "instance_types": tuple(sizes),
            "max_nodes": int(args["max_nodes"]),
            **{key: value for key, value in optional.items() if value},
        }
    )
