"""The accelerator types a pool can offer, with the memory of one of them."""

from types import MappingProxyType
from typing import Final

MEMORY_GIB: Final = MappingProxyType(
    {
        # vendors' data sheets; the memory is in the name where a type is sold with more than one
        "nvidia-k80": 12,
        "nvidia-t4": 16,
        "nvidia-v100-16gb": 16,
        "nvidia-v100-32gb": 32,
        "nvidia-a10": 24,
        "nvidia-a10g": 24,
        "nvidia-l4": 24,
        "nvidia-l40s": 48,
        "nvidia-a100-40gb": 40,
        "nvidia-a100-80gb": 80,
        "nvidia-h100-80gb": 80,
        "nvidia-h100-94gb": 94,
        "nvidia-h200-141gb": 141,
        "nvidia-b200-180gb": 180,
        "nvidia-b300-288gb": 288,
        "nvidia-rtx-pro-6000-96gb": 96,
    }
)
