"""What is known of Azure's VM sizes and regions, from their names and from tables."""

import csv
from pathlib import Path

import pytest

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.azure.regions import UNPRICED, ZONES, zone_names
from spotproof.settings.azure.sizes import GPU_SIZES, SIZE, machine
from spotproof.settings.machines import Machine

FACTS: list[tuple[str, Machine]] = [
    ("Standard_D8s_v5", Machine(8, 32.0)),
    ("Standard_D8ls_v5", Machine(8, 16.0)),
    ("Standard_D8ps_v5", Machine(8, 32.0, architecture="arm64")),
    ("Standard_D8plds_v5", Machine(8, 16.0, architecture="arm64")),
    ("Standard_E16-4ds_v5", Machine(4, 128.0)),
    ("Standard_E96s_v5", Machine(96, None)),
    ("Standard_F72s_v2", Machine(72, None)),
    ("Standard_F16s_v2", Machine(16, 32.0)),
    ("Standard_F16ams_v6", Machine(16, None)),
    ("Standard_D11_v2", Machine(None, None)),
    ("Standard_DS11-1_v2", Machine(None, None)),
    ("Standard_B2ms", Machine(2, None)),
    ("Standard_NC4as_T4_v3", Machine(4, 28.0, "nvidia-t4", 1)),
    ("Standard_NC96ads_A100_v4", Machine(96, 880.0, "nvidia-a100-80gb", 4)),
    ("Standard_ND96asr_v4", Machine(96, 900.0, "nvidia-a100-40gb", 8)),
    ("Standard_ND96isr_H100_v5", Machine(96, 1900.0, "nvidia-h100-80gb", 8)),
    ("Standard_ND128isr_NDR_GB200_v6", Machine(128, None, accelerators_known=False)),
    ("Standard_NV6ads_A10_v5", Machine(6, None, accelerators_known=False)),
]


@pytest.mark.parametrize(("name", "offers"), FACTS, ids=[name for name, _ in FACTS])
def test_the_facts_of_a_size(name: str, offers: Machine) -> None:
    assert machine(name) == offers


@pytest.mark.parametrize("name", ["D8s_v5", "standard_d8s_v5", "Standard_", "p4d.24xlarge", "n2-standard-8", ""])
def test_what_is_no_vm_size(name: str) -> None:
    assert not SIZE.match(name)
    assert machine(name) is None


def test_every_accelerator_in_the_table_has_a_memory() -> None:
    assert {kind for kind, _, _ in GPU_SIZES.values()} <= set(MEMORY_GIB)


def rows(shared: Path) -> list[dict[str, str]]:
    with (shared / "catalog" / "gpu_instances.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["cloud"] == "azure"]


def test_counts_cpus_and_memory_agree_with_the_published_catalogue(shared: Path) -> None:
    published = {row["instance_type"]: row for row in rows(shared)}

    assert set(GPU_SIZES) <= set(published)
    for name, (_, count, memory) in GPU_SIZES.items():
        row = published[name]
        known = machine(name)
        assert known is not None
        assert (count, known.vcpus, memory) == (int(row["gpu_count"]), int(row["vcpu"]), float(row["memory_gib"])), name


def test_what_has_no_price_is_what_the_published_catalogue_has_none_of(shared: Path) -> None:
    missing = {row["instance_type"] for row in rows(shared) if row["region"] == "eastus" and not row["on_demand_usd_h"]}

    assert UNPRICED["eastus"] == missing


@pytest.mark.parametrize(
    ("location", "count", "zones"),
    [
        ("eastus", 2, ("eastus-1", "eastus-2")),
        ("eastus", 3, ("eastus-1", "eastus-2", "eastus-3")),
        ("westus", 3, ()),
    ],
)
def test_zones_are_named_as_nodes_carry_them(location: str, count: int, zones: tuple[str, ...]) -> None:
    assert zone_names(location, count) == zones


def test_a_region_has_three_zones_or_none() -> None:
    assert set(ZONES.values()) == {0, 3}
    assert len(ZONES) == 56
