"""Reads node pools of GKE: resources of their own, and those written inside a cluster."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spotproof.vocabulary import GKE_SPOT_TAINT, ON_DEMAND, SPOT
from spotproof_policies.model import Props
from spotproof_policies.node_pool import Written
from spotproof_policies.reading import at, number, rows, table, text

GKE_NODE_POOL: Final = "gcp:container/nodePool:NodePool"
GKE_CLUSTER: Final = "gcp:container/cluster:Cluster"
COMPUTE_CLASS_LABEL: Final = "cloud.google.com/compute-class"

_EFFECTS: Final = {
    "NO_SCHEDULE": "NoSchedule",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
    "NO_EXECUTE": "NoExecute",
}
# Machine families that come with GPUs; to N1 they are attached, and `guestAccelerators` says so.
_GPU_MACHINE: Final = re.compile(r"(a2|a3|a4|a4x|g2|g4)-")


@dataclass(frozen=True)
class GkePool:
    """A node pool of a Standard cluster. `name` is empty where the pool is the resource itself."""

    props: Props
    name: str = ""

    @property
    def written(self) -> Written:
        """In `nodeConfig`, whose taints GKE does not add to for spot."""
        return Written(
            labels="nodeConfig.labels",
            taints="nodeConfig.taints",
            max_nodes="autoscaling.totalMaxNodeCount",
            capacity="nodeConfig.spot",
            spot_taint=GKE_SPOT_TAINT,
            subject=f"Its node pool `{self.name}`" if self.name else "This pool",
        )

    @property
    def config(self) -> Any:
        """What its nodes are."""
        return at(self.props, "nodeConfig")

    @property
    def capacities(self) -> frozenset[str]:
        """A pool that says neither spot nor preemptible buys on-demand."""
        reclaimed = at(self.config, "spot") is True or at(self.config, "preemptible") is True
        return frozenset({SPOT if reclaimed else ON_DEMAND})

    @property
    def labels(self) -> Mapping[str, Any]:
        """Those the program writes; GKE adds its own."""
        return table(at(self.config, "labels"))

    @property
    def cloud_labels(self) -> frozenset[str]:
        """A pool made by hand joins a compute class by this label."""
        return frozenset({COMPUTE_CLASS_LABEL})

    @property
    def taints(self) -> tuple[Mapping[str, Any], ...]:
        """Those the program writes. GKE itself adds none for spot here, only to pools that it makes."""
        return tuple(
            {
                "key": text(at(taint, "key")),
                "value": text(at(taint, "value")),
                "effect": _EFFECTS.get(text(at(taint, "effect")), text(at(taint, "effect"))),
            }
            for taint in rows(at(self.config, "taints"))
        )

    @property
    def max_nodes(self) -> float | None:
        """The autoscaler's limit, in all zones or in each; without an autoscaler the pool keeps its size."""
        autoscaling = at(self.props, "autoscaling")
        if autoscaling is None:
            sizes = (number(at(self.props, key)) for key in ("nodeCount", "initialNodeCount"))
            return next((size for size in sizes if size is not None), 1)
        total = number(at(autoscaling, "totalMaxNodeCount"))
        return total if total is not None else number(at(autoscaling, "maxNodeCount"))

    @property
    def buys_gpus(self) -> bool:
        """By what is attached, or by a machine type that comes with them."""
        return bool(rows(at(self.config, "guestAccelerators"))) or bool(
            _GPU_MACHINE.match(text(at(self.config, "machineType")))
        )

    @property
    def disk_gib(self) -> float | None:
        """The boot disk, unless local SSDs hold the images. GKE's default is 100 GB."""
        for key in ("ephemeralStorageLocalSsdConfig", "ephemeralStorageConfig"):
            if (number(at(self.config, key, "localSsdCount")) or 0) > 0:
                return None
        return number(at(self.config, "diskSizeGb"))


def gke_node_pool(props: Props) -> Iterator[GkePool]:
    """The resource is one pool."""
    yield GkePool(props)


def gke_cluster_pools(props: Props) -> Iterator[GkePool]:
    """The pools written inside a cluster, and its default pool where that stays. Autopilot has none."""
    if at(props, "enableAutopilot") is True:
        return
    inline = rows(at(props, "nodePools"))
    yield from (GkePool(table(pool), text(at(pool, "name")) or "without a name") for pool in inline)
    if not inline and at(props, "removeDefaultNodePool") is not True and "nodeConfig" in set(props):
        yield GkePool({"nodeConfig": at(props, "nodeConfig")}, "default-pool")
