"""Compute Engine's limits: vCPUs, GPUs and SSD of a project in a region, and GPUs of a project everywhere.

Names are those of the Compute API (Quota.metric) and of the console's quota page.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from spotproof.settings.gcp.machines import boot_disk, family, machine
from spotproof.settings.machines import Quota
from spotproof.vocabulary import ON_DEMAND, Capacity

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.gcp.model import Gcp
    from spotproof.settings.pools import Pool

SPOT_VCPUS: Final = "PREEMPTIBLE_CPUS"
VCPUS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("n1", "e2"), "CPUS"),
        **{name: f"{name.upper()}_CPUS" for name in ("a2", "c2", "c2d", "c3", "n2", "n2d", "t2a", "t2d", "m3")},
    }
)
"""Family -> its quota on-demand. Newer families have one a family (CPUS_PER_VM_FAMILY), which is not looked at."""

GPUS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "nvidia-t4": "NVIDIA_T4_GPUS",
        "nvidia-v100-16gb": "NVIDIA_V100_GPUS",
        "nvidia-l4": "NVIDIA_L4_GPUS",
        "nvidia-a100-40gb": "NVIDIA_A100_GPUS",
        "nvidia-a100-80gb": "NVIDIA_A100_80GB_GPUS",
    }
)
SPOT_GPUS: Final[Mapping[str, str]] = MappingProxyType(
    {**{kind: f"PREEMPTIBLE_{name}" for kind, name in GPUS.items()}, "nvidia-h100-80gb": "PREEMPTIBLE_NVIDIA_H100_GPUS"}
)
"""Newer ones have a quota a family of GPUs (GPUS_PER_GPU_FAMILY), which is not looked at."""
ALL_GPUS: Final = "GPUS_ALL_REGIONS"
SSD: Final = "SSD_TOTAL_GB"

SYSTEM_VCPUS: Final = 8
"""Two nodes of 4 vCPUs that carry the operators, always on-demand."""
SYSTEM_SSD: Final = 100

_Limit: TypeAlias = tuple[str, str, Capacity | None]
"""Its name, its unit, and how the machines are bought that count in it; None where that is one to it."""


def quotas(gcp: "Gcp", env: "Environment") -> Iterator[Quota]:
    """What full pools need."""
    needed: Counter[_Limit] = Counter(
        {(VCPUS["e2"], "vCPUs", ON_DEMAND): SYSTEM_VCPUS, (SSD, "GB of SSD", None): SYSTEM_SSD}
    )
    for pool in env.pools:
        for limit, each in _of(pool):
            needed[limit] += each * pool.max_nodes
    for (name, unit, capacity), count in sorted(needed.items(), key=lambda one: one[0][0]):
        yield Quota(name, count, unit, "global" if name == ALL_GPUS else gcp.region, capacity)


def _of(pool: "Pool") -> Iterator[tuple[_Limit, int]]:
    """A limit, and what one node takes of it."""
    machine_type = pool.instance_types[0]
    found = machine(machine_type)
    cpus = SPOT_VCPUS if pool.is_spot else VCPUS.get(family(machine_type))
    if cpus and found and found.vcpus:
        yield (cpus, "vCPUs", pool.capacity), found.vcpus
    if pool.accelerator:
        gpus = (SPOT_GPUS if pool.is_spot else GPUS).get(pool.accelerator.type)
        if gpus:
            yield (gpus, "GPUs", pool.capacity), pool.accelerator.count
        yield (ALL_GPUS, "GPUs", None), pool.accelerator.count
    if boot_disk(machine_type) == "pd-balanced":
        yield (SSD, "GB of SSD", None), pool.disk_gib
