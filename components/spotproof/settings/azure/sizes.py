"""What is known of Azure VM sizes: virtual CPUs, memory, accelerators, architecture. Facts, not settings.

Sources: kubernetes/autoscaler azure_instance_types.go and Azure's pages of sizes (August 2026). A size that is not in a
table here is accepted; nothing is then said about its accelerators.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spotproof.settings.machines import Machine

SIZE: Final = re.compile(
    r"^Standard_(?P<family>[A-Z]{1,3})(?P<number>\d{1,3})(-(?P<limited>\d{1,3}))?(?P<features>[a-z]*)"
    r"(?P<extra>(_[A-Z][A-Z0-9]+)*)(_v(?P<version>\d))?$"
)

T4, V100, V100_32 = "nvidia-t4", "nvidia-v100-16gb", "nvidia-v100-32gb"
A10, A100, A100_80 = "nvidia-a10", "nvidia-a100-40gb", "nvidia-a100-80gb"
H100, H100_NVL, H200 = "nvidia-h100-80gb", "nvidia-h100-94gb", "nvidia-h200-141gb"

GPU_SIZES: Final[Mapping[str, tuple[str, int, float]]] = MappingProxyType(
    {
        "Standard_NC4as_T4_v3": (T4, 1, 28),
        "Standard_NC8as_T4_v3": (T4, 1, 56),
        "Standard_NC16as_T4_v3": (T4, 1, 110),
        "Standard_NC64as_T4_v3": (T4, 4, 440),
        "Standard_NC6s_v3": (V100, 1, 112),
        "Standard_NC12s_v3": (V100, 2, 224),
        "Standard_NC24s_v3": (V100, 4, 448),
        "Standard_NC24rs_v3": (V100, 4, 448),
        "Standard_ND40rs_v2": (V100_32, 8, 672),
        "Standard_NC8ads_A10_v4": (A10, 1, 100),
        "Standard_NC16ads_A10_v4": (A10, 1, 200),
        "Standard_NC32ads_A10_v4": (A10, 2, 400),
        "Standard_NV36ads_A10_v5": (A10, 1, 440),
        "Standard_NV36adms_A10_v5": (A10, 1, 880),
        "Standard_NV72ads_A10_v5": (A10, 2, 880),
        "Standard_NC24ads_A100_v4": (A100_80, 1, 220),
        "Standard_NC48ads_A100_v4": (A100_80, 2, 440),
        "Standard_NC96ads_A100_v4": (A100_80, 4, 880),
        "Standard_ND96asr_v4": (A100, 8, 900),
        "Standard_ND96amsr_A100_v4": (A100_80, 8, 1800),
        "Standard_NC40ads_H100_v5": (H100_NVL, 1, 320),
        "Standard_NC80adis_H100_v5": (H100_NVL, 2, 640),
        "Standard_NCC40ads_H100_v5": (H100_NVL, 1, 320),
        "Standard_ND96isr_H100_v5": (H100, 8, 1900),
        "Standard_ND96isr_H200_v5": (H200, 8, 1850),
    }
)
"""Size -> accelerator, how many, memory in GiB. Sizes with a part of a GPU (NV6ads_A10_v5) are not here."""

AMD_GPU: Final = re.compile(r"_MI\d+X|_V620|^Standard_NV\d+as_v4$")
"""Sizes whose GPUs are AMD's: MI300X, Radeon V620 and MI25."""
PART_OF_A_GPU: Final = re.compile(r"^Standard_NV\d+adm?s_A10_v5$")
"""Sizes of the family that shares a GPU between machines; those with whole ones are in GPU_SIZES."""

GIB_PER_VCPU: Final = MappingProxyType({"D": 4.0, "E": 8.0, "F": 2.0})
"""Of the general families in whose names a number is the vCPUs: D and E from v3, F of v2."""
OLD_NUMBERS: Final = frozenset({"A", "D", "DS", "G", "GS"})
"""Families whose sizes before v3 are numbered, not counted: D11_v2 has 2 vCPUs."""
FIRST_COUNTED: Final = 3
EVEN_MEMORY: Final = 64
"""Largest E sizes have less than 8 GiB for each of their more than 64 vCPUs."""

KNOWN_SIZES: Final = (
    *sorted(GPU_SIZES),
    *(
        f"Standard_{f}{n}{s}"
        for f, s in (("D", "s_v5"), ("D", "ds_v5"), ("E", "s_v5"), ("F", "s_v2"))
        for n in (2, 4, 8, 16, 32, 48, 64)
    ),
)
"""Sizes a near spelling is looked for among."""


def vcpus(size: str) -> int | None:
    """Virtual CPUs, of a constrained size those it runs with; None where the name does not tell."""
    parts = SIZE.match(size)
    if parts is None:
        return None
    if parts["family"] in OLD_NUMBERS and int(parts["version"] or 1) < FIRST_COUNTED:
        return None
    return int(parts["limited"] or parts["number"])


def memory_gib(size: str) -> float | None:
    """Memory, GiB; None where neither the family nor a table tells. A constrained size keeps all of it."""
    if size in GPU_SIZES:
        return float(GPU_SIZES[size][2])
    parts = SIZE.match(size)
    if parts is None or vcpus(size) is None or int(parts["number"]) > EVEN_MEMORY:
        return None
    family, version = parts["family"], int(parts["version"] or 1)
    # F sizes of v6 say their ratio by letters that other families use for something else
    if family not in GIB_PER_VCPU or (family == "F" and version > FIRST_COUNTED - 1):
        return None
    ratio = GIB_PER_VCPU[family] / (2 if family == "D" and "l" in parts["features"] else 1)
    return int(parts["number"]) * ratio


def is_arm(size: str) -> bool:
    """Whether its CPUs are Arm's: the letter p among the features, as in D8ps_v5."""
    parts = SIZE.match(size)
    return parts is not None and "p" in parts["features"]


def machine(size: str) -> Machine | None:
    """What one VM offers; None where the name is none of Azure's."""
    parts = SIZE.match(size)
    if parts is None:
        return None
    kind, count, _ = GPU_SIZES.get(size, (None, 0, 0))
    return Machine(
        vcpus(size),
        memory_gib(size),
        kind,
        count,
        # every family with GPUs begins with N
        accelerators_known=kind is not None or not parts["family"].startswith("N"),
        architecture="arm64" if is_arm(size) else "amd64",
    )
