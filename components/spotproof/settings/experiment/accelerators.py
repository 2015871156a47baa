"""By which names people know a GPU: NVIDIA's product labels, and the types of our pools."""

import re
from typing import Final

from spotproof.settings.accelerators import MEMORY_GIB

ANY: Final = "gpu"
"""The type that means a whole GPU of whatever model."""


def meant(name: str) -> tuple[str, ...]:
    """Types of our table that a name can mean; none where it is unknown.

    `NVIDIA-A100-SXM4-80GB` is nvidia-a100-80gb; `Tesla-T4` is nvidia-t4; `A100` without a memory is either. The names
    are those of the label nvidia.com/gpu.product (NVIDIA/k8s-device-plugin, GPU feature discovery).
    """
    if name.lower() in MEMORY_GIB:
        return (name.lower(),)
    words = _words(name)
    memory = [word for word in words if _is_memory(word)]
    found = [kind for kind in MEMORY_GIB if _model(kind) <= set(words)]
    return tuple(kind for kind in found if not memory or memory == [f"{MEMORY_GIB[kind]}gb"])


def _model(kind: str) -> set[str]:
    return {word for word in _words(kind) if word != "nvidia" and not _is_memory(word)}


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]


def _is_memory(word: str) -> bool:
    return re.fullmatch(r"[0-9]+gb", word) is not None


def is_slice(name: str) -> bool:
    """Whether it is a part of a GPU (MIG), which no pool of ours offers."""
    return "mig" in _words(name) or re.search(r"\bmig|[0-9]g\.[0-9]+gb", name.lower()) is not None
