"""What is known of EC2 instance types: accelerators, local NVMe, architecture. Facts, not settings.

Counts and types: EC2 instance type pages, and kubernetes/autoscaler's and karpenter-provider-aws's tables
(July 2026). A type that is not here is accepted; nothing is then said about its accelerators.
EC2 names sizes by multiples of an xlarge, which has 4 vCPUs.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from spotproof.settings.machines import Machine

INSTANCE_TYPE = re.compile(
    r"^(?P<family>[a-z]+-?\d+[a-z0-9-]*)\.(?P<size>(\d{1,3}x|x)?large|nano|micro|small|medium|metal(-\d{1,3}xl)?)$"
)

FAMILY_ACCELERATOR: Final = MappingProxyType(
    {
        "p2": "nvidia-k80",
        "p3": "nvidia-v100-16gb",
        "p3dn": "nvidia-v100-32gb",
        "p4d": "nvidia-a100-40gb",
        "p4de": "nvidia-a100-80gb",
        "p5": "nvidia-h100-80gb",
        "p5e": "nvidia-h200-141gb",
        "p5en": "nvidia-h200-141gb",
        "p6-b200": "nvidia-b200-180gb",
        "p6-b300": "nvidia-b300-288gb",
        "g4dn": "nvidia-t4",
        "g5": "nvidia-a10g",
        "g6": "nvidia-l4",
        "gr6": "nvidia-l4",
        "g6e": "nvidia-l40s",
        "g7e": "nvidia-rtx-pro-6000-96gb",
    }
)

ACCELERATOR_COUNT: Final = MappingProxyType(
    {
        **dict.fromkeys((f"g4dn.{size}" for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")), 1),
        "g4dn.12xlarge": 4,
        "g4dn.metal": 8,
        **dict.fromkeys((f"g5.{size}" for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")), 1),
        "g5.12xlarge": 4,
        "g5.24xlarge": 4,
        "g5.48xlarge": 8,
        **dict.fromkeys((f"g6.{size}" for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")), 1),
        "g6.12xlarge": 4,
        "g6.24xlarge": 4,
        "g6.48xlarge": 8,
        "gr6.4xlarge": 1,
        "gr6.8xlarge": 1,
        **dict.fromkeys((f"g6e.{size}" for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")), 1),
        "g6e.12xlarge": 4,
        "g6e.24xlarge": 4,
        "g6e.48xlarge": 8,
        **dict.fromkeys((f"g7e.{size}" for size in ("2xlarge", "4xlarge", "8xlarge")), 1),
        "g7e.12xlarge": 2,
        "g7e.24xlarge": 4,
        "g7e.48xlarge": 8,
        "p2.xlarge": 1,
        "p2.8xlarge": 8,
        "p2.16xlarge": 16,
        "p3.2xlarge": 1,
        "p3.8xlarge": 4,
        "p3.16xlarge": 8,
        "p3dn.24xlarge": 8,
        "p4d.24xlarge": 8,
        "p4de.24xlarge": 8,
        "p5.4xlarge": 1,
        "p5.48xlarge": 8,
        "p5e.48xlarge": 8,
        "p5en.48xlarge": 8,
        "p6-b200.48xlarge": 8,
        "p6-b300.48xlarge": 8,
    }
)

NVME_FAMILIES: Final = frozenset(
    {"g4dn", "g5", "g6", "gr6", "g6e", "g7e", "p3dn", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300"}
)
"""Accelerated families with local NVMe; for the others the letter d after the generation says it (m6id, c5d)."""

SMALL_VCPUS: Final[Mapping[str, int]] = dict.fromkeys(("nano", "micro", "small", "medium", "large"), 2)
ODD_VCPUS: Final[Mapping[str, int]] = MappingProxyType({"c4.8xlarge": 36, "d2.8xlarge": 36, "p5.4xlarge": 16})
"""Types whose vCPUs are not those of their size's name."""

GIB_PER_VCPU: Final = MappingProxyType({"c": 2.0, "m": 4.0, "r": 8.0})
"""Memory of general families; small sizes of other families break the pattern and are not here."""
FAMILY_GIB_PER_VCPU: Final = MappingProxyType(
    {
        **dict.fromkeys(("g4dn", "g5", "g6", "g6f"), 4.0),
        **dict.fromkeys(("g6e", "gr6", "p3dn"), 8.0),
        **dict.fromkeys(("p4d", "p4de"), 12.0),
        **dict.fromkeys(("p2", "p3"), 7.625),
    }
)
ODD_GIB: Final = MappingProxyType(
    {
        "g7e.2xlarge": 64,
        "g7e.4xlarge": 128,
        "g7e.8xlarge": 256,
        "g7e.12xlarge": 512,
        "g7e.24xlarge": 1024,
        "g7e.48xlarge": 2048,
        **dict.fromkeys(("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"), 2048),
        "p5.4xlarge": 256,
        "p6-b300.48xlarge": 4096,
        "g4dn.metal": 384,
    }
)

KNOWN_TYPES: Final = tuple(sorted(ACCELERATOR_COUNT))


def family(instance_type: str) -> str:
    """`p4d` of `p4d.24xlarge`."""
    return instance_type.partition(".")[0]


def accelerator(instance_type: str) -> tuple[str, int] | None:
    """(type, count) of the accelerators of one node, or None where none is known."""
    kind, count = FAMILY_ACCELERATOR.get(family(instance_type)), ACCELERATOR_COUNT.get(instance_type)
    return (kind, count) if kind and count else None


def is_accelerated(instance_type: str) -> bool:
    """Whether the family is sold for its NVIDIA accelerators."""
    return family(instance_type) in FAMILY_ACCELERATOR


def has_nvme(instance_type: str) -> bool:
    """Whether a node brings local NVMe that is worth a RAID0 for kubelet and containerd."""
    name = family(instance_type)
    if name in FAMILY_ACCELERATOR:
        return name in NVME_FAMILIES
    generation = re.match(r"^[a-z]+\d+(?P<attributes>[a-z]*)", name)
    storage_optimised = re.match(r"^(i\d|im\d|is\d|d\d)", name) is not None
    return storage_optimised or (generation is not None and "d" in generation["attributes"])


def vcpus(instance_type: str) -> int | None:
    """Virtual CPUs; None where the name does not tell, as of bare metal. For the smallest sizes it is at most this."""
    if instance_type in ODD_VCPUS:
        return ODD_VCPUS[instance_type]
    size = instance_type.partition(".")[2]
    multiple = re.fullmatch(r"(?:metal-)?([0-9]*)(?:xlarge|xl)", size)
    return 4 * int(multiple[1] or 1) if multiple else SMALL_VCPUS.get(size)


def memory_gib(instance_type: str) -> float | None:
    """Memory, GiB; None where neither the family nor a table tells."""
    if instance_type in ODD_GIB:
        return float(ODD_GIB[instance_type])
    name, cpus = family(instance_type), vcpus(instance_type)
    general = re.fullmatch(r"([cmr])[5-9][a-z]*", name)
    ratio = FAMILY_GIB_PER_VCPU.get(name) or (GIB_PER_VCPU[general[1]] if general else None)
    return None if ratio is None or cpus is None else cpus * ratio


def machine(instance_type: str) -> Machine | None:
    """What one instance offers; None where the name is none of EC2's."""
    if not INSTANCE_TYPE.match(instance_type):
        return None
    has = accelerator(instance_type)
    kind, count = has or (None, 0)
    return Machine(
        vcpus(instance_type),
        memory_gib(instance_type),
        kind,
        count,
        # compute, general and memory families surely have none
        accelerators_known=has is not None or re.match(r"^[cmrt]\d", instance_type) is not None,
        architecture=architecture(instance_type),
    )


def architecture(instance_type: str) -> Literal["amd64", "arm64"]:
    """`arm64` for Graviton, else `amd64`; EC2 marks Graviton with a g after the generation (m7g, c7gn, g5g)."""
    graviton = re.match(r"^(a1|[a-z]+\d+[a-z]*g[a-z]*)$", family(instance_type))
    return "arm64" if graviton else "amd64"
