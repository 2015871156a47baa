"""Karpenter's NodePool: one for each pool, on EKS and, by node auto-provisioning, on AKS.

Schema: karpenter v1.14.1, `karpenter.sh/v1`. Whatever the API server would fill in and does not suit
training is written out, so that a preview shows it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spotproof.manifests.metadata import metadata
from spotproof.manifests.scheduling import pool_labels, pool_taints
from spotproof.settings.base import render_duration
from spotproof.settings.machines import Machine
from spotproof.settings.pools import Pool
from spotproof.vocabulary import (
    GPU_RESOURCE,
    KARPENTER_CAPACITY_LABEL,
    SPOT_TAINT,
    TYPE_LABEL,
    ZONE_LABEL,
    Manifest,
    Taint,
)


@dataclass(frozen=True)
class NodeClassRef:
    """The kind of a cloud's node classes."""

    group: str
    version: str
    kind: str


def node_pool(  # noqa: PLR0913 - what a cloud knows of its nodes, each by keyword
    pool: Pool,
    *,
    node_class: NodeClassRef,
    node_class_name: str,
    zones: Sequence[str],
    machine: Callable[[str], Machine | None],
    spot_taint: Taint = SPOT_TAINT,
    startup_taints: Sequence[Taint] = (),
) -> Manifest:
    """The NodePool of a pool: which nodes Karpenter may buy, how many, and when one goes.

    A node goes when it has been empty for `consolidateAfter`, or when the cloud takes it; for no other reason. It never
    expires (the server's default of 720h ignores budgets and would end a month-long run), and it is
    not replaced because an image or this object changed: the next node is the new one.

    There is no terminationGracePeriod: at its end Karpenter deletes pods instead of evicting them, which leaves no
    DisruptionTarget condition, and a Job would count the reclaim as its own failure. Nothing here sets
    do-not-disrupt, so a drain evicts at once and what notice the cloud gives is the pods' own.

    Args:
        pool: The pool.
        node_class: Kind of its node class.
        node_class_name: Name of its node class.
        zones: Zones of the network; the pool's own are used where it names some.
        machine: What an instance type of this cloud offers.
        spot_taint: The cloud's own spot taint; ours where the cloud has none.
        startup_taints: One for each driver that lifts it on every node.
    """
    taints = pool_taints(pool, spot_taint)
    machines = [machine(name) for name in pool.instance_types]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": metadata(pool.name),
        "spec": {
            "limits": _limits(pool, machines),
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": render_duration(pool.consolidate_after),
                "budgets": [
                    {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
                    {"nodes": "100%", "reasons": ["Empty"]},
                ],
            },
            "template": {
                "metadata": {"labels": pool_labels(pool)},
                "spec": {
                    "nodeClassRef": {"group": node_class.group, "kind": node_class.kind, "name": node_class_name},
                    "requirements": _requirements(pool, pool.zones or zones, machines),
                    **({"taints": taints} if taints else {}),
                    **({"startupTaints": [dict(taint) for taint in startup_taints]} if startup_taints else {}),
                    "expireAfter": "Never",
                },
            },
        },
    }


def _limits(pool: Pool, machines: Sequence[Machine | None]) -> dict[str, int]:
    # Karpenter 1.14 compares `nodes` with what runs as a scheduling pass begins, not with what the pass adds
    # (kubernetes-sigs/karpenter issue 2915), so a gang larger than the pool would get all its nodes at once. What a
    # node brings it does count as it goes: that second limit makes the first one hold.
    if pool.accelerator:
        return {"nodes": pool.max_nodes, GPU_RESOURCE: pool.accelerator.count * pool.max_nodes}
    cpus = [one.vcpus for one in machines if one is not None and one.vcpus is not None]
    return {"nodes": pool.max_nodes, **({"cpu": max(cpus) * pool.max_nodes} if len(cpus) == len(machines) else {})}


def _requirements(pool: Pool, zones: Sequence[str], machines: Sequence[Machine | None]) -> list[Manifest]:
    wanted = {
        KARPENTER_CAPACITY_LABEL: [pool.capacity],
        TYPE_LABEL: list(pool.instance_types),
        "kubernetes.io/arch": sorted({one.architecture for one in machines if one} or {"amd64"}),
        "kubernetes.io/os": ["linux"],
        ZONE_LABEL: list(zones),
    }
    # a region without zones, as some of Azure's, has none to name
    return [{"key": key, "operator": "In", "values": values} for key, values in wanted.items() if values]
