"""The system nodes' label and taint, and what lands on them by them."""

from typing import Final

from spotproof.manifests.scheduling import Placement
from spotproof.vocabulary import SYSTEM_LABEL

SYSTEM_TAINT_KEY: Final = "CriticalAddonsOnly"
"""AKS's own add-ons tolerate it by themselves; a trainer without a selector does not land here."""
SYSTEM_TAINT: Final = f"{SYSTEM_TAINT_KEY}=true:NoSchedule"

SYSTEM_LABELS: Final = {SYSTEM_LABEL: "true"}

SYSTEM: Final = Placement(SYSTEM_LABELS, ({"key": SYSTEM_TAINT_KEY, "operator": "Exists"},))


def zone_numbers(zones: list[str]) -> list[str]:
    """`1` of `eastus-1`: nodes carry the region in a zone's name, and Azure's own API takes the number."""
    return [zone.rpartition("-")[2] for zone in zones]
