"""Regions and their zones, and where each accelerator is offered. Facts, not settings.

Zones: Compute Engine's page on regions and zones. Accelerators: skypilot-catalog v8 (gcp/vms.csv, commit 006059e0),
which is made from the price and machine type lists of Google's own API.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

ZONES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "africa-south1": "abc",
        "asia-east1": "abc",
        "asia-east2": "abc",
        "asia-northeast1": "abc",
        "asia-northeast2": "abc",
        "asia-northeast3": "abc",
        "asia-south1": "abc",
        "asia-south2": "abc",
        "asia-southeast1": "abc",
        "asia-southeast2": "abc",
        "australia-southeast1": "abc",
        "australia-southeast2": "abc",
        "europe-central2": "abc",
        "europe-north1": "abc",
        "europe-north2": "abc",
        "europe-southwest1": "abc",
        "europe-west1": "bcd",
        "europe-west10": "abc",
        "europe-west12": "abc",
        "europe-west2": "abc",
        "europe-west3": "abc",
        "europe-west4": "abc",
        "europe-west6": "abc",
        "europe-west8": "abc",
        "europe-west9": "abc",
        "me-central1": "abc",
        "me-central2": "abc",
        "me-west1": "abc",
        "northamerica-northeast1": "abc",
        "northamerica-northeast2": "abc",
        "northamerica-south1": "abc",
        "southamerica-east1": "abc",
        "southamerica-west1": "abc",
        "us-central1": "abcf",
        "us-east1": "bcd",
        "us-east4": "abc",
        "us-east5": "abc",
        "us-south1": "abc",
        "us-west1": "abc",
        "us-west2": "abc",
        "us-west3": "abc",
        "us-west4": "abc",
    }
)
"""Region -> the last letters of its zones."""

ACCELERATOR_ZONES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "nvidia-t4": {
            "asia-east1": "ac",
            "asia-east2": "ac",
            "asia-northeast1": "ac",
            "asia-northeast3": "bc",
            "asia-south1": "ab",
            "asia-southeast1": "abc",
            "asia-southeast2": "ab",
            "australia-southeast1": "ac",
            "europe-central2": "bc",
            "europe-west1": "bcd",
            "europe-west2": "ab",
            "europe-west3": "b",
            "europe-west4": "abc",
            "me-west1": "bc",
            "northamerica-northeast1": "c",
            "southamerica-east1": "abc",
            "us-central1": "abcf",
            "us-east1": "bcd",
            "us-east4": "abc",
            "us-west1": "ab",
            "us-west2": "bc",
            "us-west3": "b",
            "us-west4": "ab",
        },
        "nvidia-v100-16gb": {
            "asia-east1": "c",
            "europe-west4": "abc",
            "us-central1": "abcf",
            "us-east1": "bc",
            "us-west1": "ab",
        },
        "nvidia-l4": {
            "asia-east1": "abc",
            "asia-northeast1": "abc",
            "asia-northeast3": "ab",
            "asia-south1": "abc",
            "asia-southeast1": "abc",
            "europe-west1": "bc",
            "europe-west2": "ab",
            "europe-west3": "ab",
            "europe-west4": "abc",
            "europe-west6": "bc",
            "me-central2": "ac",
            "northamerica-northeast1": "bc",
            "northamerica-northeast2": "ab",
            "us-central1": "abc",
            "us-east1": "bcd",
            "us-east4": "ac",
            "us-west1": "abc",
            "us-west4": "ac",
        },
        "nvidia-a100-40gb": {
            "asia-northeast1": "ac",
            "asia-northeast3": "ab",
            "asia-southeast1": "abc",
            "europe-west4": "ab",
            "me-west1": "ac",
            "us-central1": "abcf",
            "us-east1": "b",
            "us-west1": "b",
            "us-west3": "b",
            "us-west4": "b",
        },
        "nvidia-a100-80gb": {
            "asia-southeast1": "c",
            "europe-west4": "a",
            "us-central1": "ac",
            "us-east4": "c",
            "us-east5": "ab",
        },
        "nvidia-h100-80gb": {
            "asia-east1": "c",
            "asia-northeast1": "b",
            "asia-northeast3": "ac",
            "asia-south1": "c",
            "asia-south2": "b",
            "asia-southeast1": "bc",
            "australia-southeast1": "c",
            "europe-north1": "c",
            "europe-west1": "bc",
            "europe-west2": "b",
            "europe-west3": "ac",
            "europe-west4": "bc",
            "europe-west8": "c",
            "europe-west9": "c",
            "northamerica-northeast2": "c",
            "us-central1": "abc",
            "us-east4": "abc",
            "us-east5": "a",
            "us-west1": "ab",
            "us-west4": "a",
        },
        "nvidia-h200-141gb": {
            "asia-south1": "b",
            "asia-south2": "c",
            "europe-west1": "b",
            "europe-west4": "a",
            "us-central1": "b",
            "us-east4": "b",
            "us-east5": "a",
            "us-south1": "b",
            "us-west1": "c",
        },
        "nvidia-b200-180gb": {
            "asia-northeast1": "b",
            "asia-southeast1": "b",
            "europe-north1": "b",
            "europe-west4": "b",
            "us-central1": "b",
            "us-east1": "b",
            "us-east4": "b",
            "us-south1": "b",
            "us-west2": "c",
            "us-west3": "bc",
        },
    }
)
"""Accelerator -> region -> last letters of the zones that have it. Of a type that is not here nothing is known."""


def zones_of(region: str) -> tuple[str, ...]:
    """The zones of a region, as nodes carry them; none of a region that is not in the table."""
    return tuple(f"{region}-{letter}" for letter in ZONES.get(region, ""))


def offered_in(accelerator: str, zone: str) -> bool:
    """Whether a zone has an accelerator, as far as the table tells; of a type without a line it may."""
    known = ACCELERATOR_ZONES.get(accelerator)
    region, _, letter = zone.rpartition("-")
    return known is None or letter in known.get(region, "")


def narrowed(zones: Sequence[str], accelerator: str | None) -> tuple[str, ...]:
    """Of these zones those that have the accelerator; all of them for a pool that has none.

    GKE makes a node pool in every zone it is given, and fails where one of them does not sell the machine.
    """
    return tuple(zone for zone in zones if accelerator is None or offered_in(accelerator, zone))
