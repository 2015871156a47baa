"""The system nodes' label and taint, and what lands on them by them."""

from typing import Final

from spotproof.manifests.scheduling import Placement, placement
from spotproof.settings import Pool
from spotproof.vocabulary import GKE_SPOT_TAINT, GPU_RESOURCE, SYSTEM_LABEL, Taint

SYSTEM_TAINT_KEY: Final = "components.gke.io/gke-managed-components"
"""GKE's own controllers tolerate it; a trainer without a selector does not land here (GKE, isolate your workloads)."""

SYSTEM_LABELS: Final = {SYSTEM_LABEL: "true"}

SYSTEM: Final = Placement(SYSTEM_LABELS, ({"key": SYSTEM_TAINT_KEY, "operator": "Exists"},))

GKE_GPU_TAINT: Final[Taint] = {"key": GPU_RESOURCE, "value": "present", "effect": "NoSchedule"}
"""What GKE writes by itself, but only where the cluster has another pool; with the value `true` beside it a node would
have two taints of one key."""


def taints(pool: Pool) -> list[Taint]:
    """Taints of every node of the pool: GKE's own two, written here.

    GKE taints spot nodes only in pools that it makes itself, so nothing would keep other pods off these.
    """
    spot = [dict(GKE_SPOT_TAINT)] if pool.is_spot else []
    gpu = [dict(GKE_GPU_TAINT)] if pool.accelerator else []
    return [*spot, *gpu]


def on(pool: Pool) -> Placement:
    """How a pod lands on the pool."""
    return placement(pool, GKE_SPOT_TAINT)
