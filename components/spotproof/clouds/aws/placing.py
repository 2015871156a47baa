"""The system nodes' label and taint, and what lands on them by them."""

from typing import Final

from spotproof.manifests.scheduling import Placement
from spotproof.vocabulary import SYSTEM_LABEL

SYSTEM_TAINT_KEY: Final = "CriticalAddonsOnly"
"""Karpenter's chart and the EKS add-ons tolerate it by themselves; a trainer without a selector does not land here."""

SYSTEM_LABELS: Final = {SYSTEM_LABEL: "true"}

SYSTEM: Final = Placement(SYSTEM_LABELS, ({"key": SYSTEM_TAINT_KEY, "operator": "Exists"},))
