"""What is known of Compute Engine's machine types, from their names and from tables."""

import csv
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.gcp import machines, quotas
from spotproof.settings.machines import Machine

FACTS: list[tuple[str, Machine]] = [
    ("n2-standard-8", Machine(8, 32.0)),
    ("n1-highmem-4", Machine(4, 26.0, takes_accelerators=True)),
    ("e2-medium", Machine(2, 4.0)),
    ("n2-custom-6-20480", Machine(6, 20.0)),
    ("c4-standard-8", Machine(8, None)),
    ("c4a-standard-8", Machine(8, 32.0, architecture="arm64")),
    ("t2a-standard-4", Machine(4, 16.0, architecture="arm64")),
    ("g2-standard-8", Machine(8, 32.0, "nvidia-l4", 1)),
    ("g2-standard-48", Machine(48, 192.0, "nvidia-l4", 4)),
    ("a2-highgpu-8g", Machine(96, 680.0, "nvidia-a100-40gb", 8)),
    ("a2-ultragpu-1g", Machine(12, 170.0, "nvidia-a100-80gb", 1)),
    ("a3-highgpu-8g", Machine(208, 1872.0, "nvidia-h100-80gb", 8)),
    ("a4x-highgpu-4g", Machine(4, None, accelerators_known=False, architecture="arm64")),
]


@pytest.mark.parametrize(("name", "expected"), FACTS, ids=[name for name, _ in FACTS])
def test_the_facts_of_a_machine_type(name: str, expected: Machine) -> None:
    assert machines.machine(name) == expected


@pytest.mark.parametrize("name", ["p4d.24xlarge", "Standard_D8s_v5", "n2-standart-8", "n2", "N2-STANDARD-8", ""])
def test_what_is_no_machine_type(name: str) -> None:
    assert machines.machine(name) is None


def test_every_accelerator_has_a_memory_and_a_name_at_gke() -> None:
    kinds = {kind for _, _, kind, _ in machines.ACCELERATED.values()} | set(machines.ATTACHABLE)

    assert kinds <= set(MEMORY_GIB)
    assert kinds == set(machines.GKE_NAMES)


def test_local_ssds_are_counted_of_known_machines_only() -> None:
    assert set(machines.LOCAL_SSDS) <= set(machines.ACCELERATED)


def test_the_h100s_of_a3_mega_have_a_name_of_their_own() -> None:
    assert machines.gke_accelerator("a3-megagpu-8g", "nvidia-h100-80gb") == "nvidia-h100-mega-80gb"
    assert machines.gke_accelerator("a3-highgpu-8g", "nvidia-h100-80gb") == "nvidia-h100-80gb"


@pytest.mark.parametrize(
    ("name", "disk"),
    [
        ("n1-standard-8", "pd-balanced"),
        ("a3-highgpu-8g", "pd-balanced"),
        ("a3-ultragpu-8g", "hyperdisk-balanced"),
        ("n4-standard-8", "hyperdisk-balanced"),
    ],
)
def test_newer_families_boot_from_hyperdisk(name: str, disk: str) -> None:
    assert machines.boot_disk(name) == disk


SHORT = {"A100": "nvidia-a100-40gb", "A100-80GB": "nvidia-a100-80gb", "L4": "nvidia-l4"}


def test_counts_agree_with_the_published_catalogue(shared: Path) -> None:
    with (shared / "catalog" / "gpu_instances.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["cloud"] == "gcp" and ":" not in row["instance_type"]]

    found = {row["instance_type"]: machines.machine(row["instance_type"]) for row in rows}
    assert {name: one and (one.accelerator, one.accelerator_count) for name, one in found.items()} == {
        row["instance_type"]: (SHORT[row["gpu"]], int(row["gpu_count"])) for row in rows
    }


def discovery(document: str) -> Any:
    """One of Google's API descriptions, as its Python client has them."""
    found = importlib.util.find_spec("googleapiclient")
    if found is None or found.origin is None:
        pytest.skip("google-api-python-client is not installed")
    path = Path(found.origin).parent / "discovery_cache" / "documents" / document
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_quota_is_one_of_the_compute_api() -> None:
    metrics = set(discovery("compute.v1.json")["schemas"]["Quota"]["properties"]["metric"]["enum"])
    named = {*quotas.VCPUS.values(), *quotas.GPUS.values(), *quotas.SPOT_GPUS.values()}

    assert named | {quotas.SPOT_VCPUS, quotas.ALL_GPUS, quotas.SSD} <= metrics | {"M3_CPUS"}
