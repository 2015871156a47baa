"""The names by which people know a GPU."""

import pytest

from spotproof.settings.experiment.accelerators import is_slice, meant

NAMES = [
    ("NVIDIA-A100-SXM4-80GB", ("nvidia-a100-80gb",)),
    ("NVIDIA-A100-SXM4-40GB", ("nvidia-a100-40gb",)),
    ("Tesla-V100-SXM2-16GB", ("nvidia-v100-16gb",)),
    ("Tesla-T4", ("nvidia-t4",)),
    ("NVIDIA-L4", ("nvidia-l4",)),
    ("NVIDIA-L40S", ("nvidia-l40s",)),
    ("NVIDIA-H100-80GB-HBM3", ("nvidia-h100-80gb",)),
    ("nvidia-h200-141gb", ("nvidia-h200-141gb",)),
    ("A100", ("nvidia-a100-40gb", "nvidia-a100-80gb")),
    ("NVIDIA-A100-SXM4-20GB", ()),
]


@pytest.mark.parametrize(("name", "types"), NAMES)
def test_nvidias_product_labels_mean_the_types_of_our_pools(name: str, types: tuple[str, ...]) -> None:
    assert meant(name) == types
    assert not is_slice(name)
