"""What a pool writes on its nodes, and what a pod carries to land there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spotproof.settings.pools import NodeTaint, Pool
from spotproof.vocabulary import (
    CAPACITY_LABEL,
    GPU_TAINT,
    GPU_TOLERATION,
    POOL_LABEL,
    SPOT_TAINT,
    SPOT_TAINTS,
    SPOT_TOLERATIONS,
    Taint,
    Toleration,
)


@dataclass(frozen=True)
class Placement:
    """How a pod gets onto certain nodes, and onto no others.

    `keeps_off` is for pods that no selector can place: label -> values of nodes they must not land on.
    """

    node_selector: Mapping[str, str]
    tolerations: tuple[Toleration, ...]
    keeps_off: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def pool_labels(pool: Pool) -> dict[str, str]:
    """Labels of every node of the pool: its name, which jobs select, and its capacity, which people read."""
    return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}


def pool_taints(pool: Pool, spot_taint: Taint = SPOT_TAINT) -> list[Taint]:
    """Taints of every node of the pool: those it has by its settings, else one on spot and one with accelerators.

    Args:
        pool: The pool.
        spot_taint: The cloud's own spot taint; ours where the cloud has none (EKS, existing clusters).
    """
    if pool.taints is not None:
        return [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in pool.taints]
    spot = [dict(spot_taint)] if pool.is_spot else []
    gpu = [dict(GPU_TAINT)] if pool.accelerator else []
    return [*spot, *gpu]


def pool_tolerations(pool: Pool, spot_taint: Taint = SPOT_TAINT) -> list[Toleration]:
    """The tolerations that the pool's taints ask for, and no more; arguments as pool_taints.

    Job templates carry the constant set of all clouds instead; this is for what is made for one pool, as a probe is.
    """
    if pool.taints is not None:
        return [_toleration(taint) for taint in pool.taints]
    spot = [dict(SPOT_TOLERATIONS[SPOT_TAINTS.index(spot_taint)])] if pool.is_spot else []
    gpu = [dict(GPU_TOLERATION)] if pool.accelerator else []
    return [*spot, *gpu]


def _toleration(taint: NodeTaint) -> Toleration:
    value = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **value, "effect": taint.effect}


def placement(pool: Pool, spot_taint: Taint = SPOT_TAINT) -> Placement:
    """Selector and tolerations for the pool; arguments as pool_taints.

    The selector is the pool's name alone, so that a job moves between tiers by the change of one value; for nodes of
    somebody else's it is their own labels.
    """
    return Placement(pool.selector, tuple(pool_tolerations(pool, spot_taint)))
