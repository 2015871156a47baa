"""What is known of Compute Engine's machine types: vCPUs, memory, accelerators, disks. Facts, not settings.

Sources: Compute Engine's pages on machine families, GPU machine types and local SSD, skypilot-catalog v8 (vCPUs and
memory of A2 and A3) and cluster-toolkit's table of local SSDs. A type that is not here is accepted where its name has
the form; nothing is then said about its accelerators.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from spotproof.settings.machines import Machine

MACHINE_TYPE = re.compile(
    r"^(?P<family>[a-z]\d{1,2}[a-z]{0,2})-"
    r"(?P<kind>micro|small|medium|standard|highmem|highcpu|highgpu|megagpu|ultragpu|edgegpu|custom|megamem|ultramem)"
    r"(-(?P<size>\d{1,3})g?)?(-\d{3,7}(-ext)?)?(-[a-z]*lssd|-nolssd|-metal)?$"
)

ACCELERATED: Final[Mapping[str, tuple[int, float, str, int]]] = MappingProxyType(
    {
        **{f"a2-highgpu-{n}g": (12 * n, 85.0 * n, "nvidia-a100-40gb", n) for n in (1, 2, 4, 8)},
        "a2-megagpu-16g": (96, 1360.0, "nvidia-a100-40gb", 16),
        **{f"a2-ultragpu-{n}g": (12 * n, 170.0 * n, "nvidia-a100-80gb", n) for n in (1, 2, 4, 8)},
        **{f"a3-highgpu-{n}g": (26 * n, 234.0 * n, "nvidia-h100-80gb", n) for n in (1, 2, 4, 8)},
        "a3-megagpu-8g": (208, 1872.0, "nvidia-h100-80gb", 8),
        "a3-ultragpu-8g": (224, 2952.0, "nvidia-h200-141gb", 8),
        "a4-highgpu-8g": (224, 3968.0, "nvidia-b200-180gb", 8),
        **{f"g2-standard-{n}": (n, 4.0 * n, "nvidia-l4", 1) for n in (4, 8, 12, 16, 32)},
        **{f"g2-standard-{n}": (n, 4.0 * n, "nvidia-l4", n // 12) for n in (24, 48, 96)},
        **{f"g4-standard-{n}": (n, 3.75 * n, "nvidia-rtx-pro-6000-96gb", n // 48) for n in (48, 96, 192, 384)},
    }
)
"""Machine type that comes with accelerators -> (vCPUs, memory in GiB, their type, their number)."""

ATTACHABLE: Final[Mapping[str, Mapping[int, int]]] = MappingProxyType(
    {
        "nvidia-t4": {1: 48, 2: 48, 4: 96},
        "nvidia-v100-16gb": {1: 12, 2: 24, 4: 48, 8: 96},
    }
)
"""What can be attached to N1 -> number of them -> the most vCPUs a machine with so many may have."""

GKE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "nvidia-t4": "nvidia-tesla-t4",
        "nvidia-v100-16gb": "nvidia-tesla-v100",
        "nvidia-l4": "nvidia-l4",
        "nvidia-a100-40gb": "nvidia-tesla-a100",
        "nvidia-a100-80gb": "nvidia-a100-80gb",
        "nvidia-h100-80gb": "nvidia-h100-80gb",
        "nvidia-h200-141gb": "nvidia-h200-141gb",
        "nvidia-b200-180gb": "nvidia-b200",
        "nvidia-rtx-pro-6000-96gb": "nvidia-rtx-pro-6000",
    }
)
"""Accelerator -> what GKE calls it (GKE's page on GPUs, the machine types' own tables)."""
H100_OF_A3_MEGA: Final = "nvidia-h100-mega-80gb"

LOCAL_SSDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        **{f"a2-ultragpu-{n}g": n for n in (1, 2, 4, 8)},
        **{f"a3-highgpu-{n}g": 2 * n for n in (1, 2, 4, 8)},
        "a3-megagpu-8g": 16,
        "a3-ultragpu-8g": 32,
        "a4-highgpu-8g": 32,
    }
)
"""Machine type that always has local SSDs -> how many. GKE wants the number written."""

HYPERDISK_ONLY: Final = frozenset({"a4", "a4x", "c4", "c4a", "c4d", "g4", "h4d", "m4", "n4", "n4a", "n4d", "x4"})
"""Families that take no persistent disk; of A3 it is a3-ultragpu alone."""

ONLY_SPOT: Final = frozenset({"a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"})
"""Sold as Spot VMs and by flex-start only (Compute Engine, A3 High)."""

ARM_FAMILIES: Final = frozenset({"t2a", "c4a", "n4a", "a4x"})

GIB_PER_VCPU: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "n1": {"standard": 3.75, "highmem": 6.5, "highcpu": 0.9},
        **{name: {"standard": 4.0, "highmem": 8.0, "highcpu": 1.0} for name in ("n2", "n2d", "e2")},
        **{name: {"standard": 4.0} for name in ("c2", "t2d", "t2a")},
        **{name: {"standard": 4.0, "highmem": 8.0, "highcpu": 2.0} for name in ("c2d", "c3", "c4a", "n4")},
    }
)
"""Family -> kind -> memory of one vCPU; families that break the pattern are not here."""

SHARED_CORE: Final[Mapping[str, tuple[int, float]]] = MappingProxyType(
    {"e2-micro": (2, 1.0), "e2-small": (2, 2.0), "e2-medium": (2, 4.0)}
)

GENERAL: Final = re.compile(r"^[centhmxz]\d")
"""Families that surely come without accelerators."""


def family(machine_type: str) -> str:
    """`a2` of `a2-highgpu-8g`."""
    return machine_type.partition("-")[0]


def machine(machine_type: str) -> Machine | None:
    """What one machine offers; None where the name is none of Compute Engine's."""
    match = MACHINE_TYPE.match(machine_type)
    if match is None:
        return None
    if machine_type in ACCELERATED:
        vcpus, memory, kind, count = ACCELERATED[machine_type]
        return Machine(vcpus, memory, kind, count)
    cpus, gib = _size(machine_type, match)
    return Machine(
        cpus,
        gib,
        accelerators_known=GENERAL.match(machine_type) is not None,
        takes_accelerators=match["family"] == "n1" and match["kind"] not in {"micro", "small", "medium"},
        architecture=architecture(machine_type),
    )


def _size(machine_type: str, match: re.Match[str]) -> tuple[int | None, float | None]:
    """Virtual CPUs and memory, as far as the name tells; a custom type gives its memory in MiB."""
    if machine_type in SHARED_CORE:
        return SHARED_CORE[machine_type]
    cpus = int(match["size"]) if match["size"] else None
    if match["kind"] == "custom":
        mib = re.search(r"-custom-\d+-(\d+)", machine_type)
        return cpus, int(mib[1]) / 1024 if mib else None
    ratio = GIB_PER_VCPU.get(match["family"], {}).get(match["kind"])
    return cpus, None if ratio is None or cpus is None else cpus * ratio


def architecture(machine_type: str) -> Literal["amd64", "arm64"]:
    """`arm64` for Ampere, Axion and Grace, else `amd64`."""
    return "arm64" if family(machine_type) in ARM_FAMILIES else "amd64"


def gke_accelerator(machine_type: str, accelerator: str) -> str:
    """What GKE calls an accelerator on this machine: those of A3 Mega have a name of their own."""
    if machine_type.startswith("a3-megagpu-"):
        return H100_OF_A3_MEGA
    return GKE_NAMES.get(accelerator, accelerator)


def boot_disk(machine_type: str) -> str:
    """The type of SSD its nodes boot from."""
    hyperdisk = family(machine_type) in HYPERDISK_ONLY or machine_type.startswith("a3-ultragpu-")
    return "hyperdisk-balanced" if hyperdisk else "pd-balanced"
