"""What is known of EC2 types, from their names and from a table."""

import csv
from pathlib import Path

import pytest

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.aws.instances import (
    ACCELERATOR_COUNT,
    FAMILY_ACCELERATOR,
    INSTANCE_TYPE,
    accelerator,
    architecture,
    has_nvme,
)

FACTS: list[tuple[str, str, bool, tuple[str, int] | None]] = [
    # type, architecture, local NVMe, accelerators
    ("m7i.2xlarge", "amd64", False, None),
    ("m7g.large", "arm64", False, None),
    ("c7gn.xlarge", "arm64", False, None),
    ("x2gd.metal", "arm64", True, None),
    ("m6id.large", "amd64", True, None),
    ("i4i.large", "amd64", True, None),
    ("m7i-flex.large", "amd64", False, None),
    ("m7i.metal-24xl", "amd64", False, None),
    ("u-6tb1.56xlarge", "amd64", False, None),
    ("g4dn.metal", "amd64", True, ("nvidia-t4", 8)),
    ("g5g.xlarge", "arm64", False, None),
    ("p4d.24xlarge", "amd64", True, ("nvidia-a100-40gb", 8)),
    ("p6-b200.48xlarge", "amd64", True, ("nvidia-b200-180gb", 8)),
]


@pytest.mark.parametrize(("name", "arch", "nvme", "offers"), FACTS, ids=[fact[0] for fact in FACTS])
def test_the_facts_of_a_type(name: str, arch: str, nvme: bool, offers: tuple[str, int] | None) -> None:  # noqa: FBT001
    assert INSTANCE_TYPE.match(name)
    assert (architecture(name), has_nvme(name), accelerator(name)) == (arch, nvme, offers)


@pytest.mark.parametrize(
    "name", ["p4d.24xlrage", "p4d", "p4d.", "Standard_D8s_v5", "n2-standard-8", "P4D.24XLARGE", ""]
)
def test_what_is_no_ec2_type(name: str) -> None:
    assert not INSTANCE_TYPE.match(name)


def test_every_accelerator_in_the_tables_has_a_memory() -> None:
    assert set(FAMILY_ACCELERATOR.values()) <= set(MEMORY_GIB)
    assert {name.partition(".")[0] for name in ACCELERATOR_COUNT} <= set(FAMILY_ACCELERATOR)


def test_counts_agree_with_the_published_catalogue(shared: Path) -> None:
    with (shared / "catalog" / "gpu_instances.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["cloud"] == "aws" and row["gpu_count"]]

    known = {row["instance_type"]: int(row["gpu_count"]) for row in rows}
    assert {name: ACCELERATOR_COUNT.get(name) for name in known} == known
