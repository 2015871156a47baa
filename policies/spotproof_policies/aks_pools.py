"""Reads agent pools of AKS: resources of their own, and those written inside a cluster."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spotproof.vocabulary import AKS_PRIORITY_LABEL, AKS_SPOT_TAINT, ON_DEMAND, SPOT
from spotproof_policies.model import Props
from spotproof_policies.node_pool import Written
from spotproof_policies.reading import at, number, rows, table, text

AKS_AGENT_POOL: Final = "azure-native:containerservice:AgentPool"
AKS_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"

_TAINT: Final = re.compile(r"(?P<key>[^=:]+)(=(?P<value>[^:]*))?:(?P<effect>.+)")
# NVv4 and ND MI300X carry AMD's.
_GPU_SIZE: Final = re.compile(r"(?i)standard_n[cdv](?!\d+as_v4)(?!.*mi300)")


@dataclass(frozen=True)
class AksPool:
    """A node pool on a virtual machine scale set. `name` is empty where the pool is the resource itself."""

    props: Props
    name: str = ""

    @property
    def written(self) -> Written:
        """Flat, and taints as text."""
        return Written(
            labels="nodeLabels",
            taints="nodeTaints",
            max_nodes="maxCount",
            capacity="scaleSetPriority",
            spot_taint=AKS_SPOT_TAINT,
            subject=f"Its agent pool `{self.name}`" if self.name else "This pool",
        )

    @property
    def capacities(self) -> frozenset[str]:
        """Regular when nothing is written."""
        return frozenset({SPOT if at(self.props, "scaleSetPriority") == "Spot" else ON_DEMAND})

    @property
    def labels(self) -> Mapping[str, Any]:
        """Those the program writes; AKS adds its own."""
        return table(at(self.props, "nodeLabels"))

    @property
    def cloud_labels(self) -> frozenset[str]:
        """What AKS adds to a spot pool, which a program repeats so that no difference stays."""
        return frozenset({AKS_PRIORITY_LABEL}) if SPOT in self.capacities else frozenset()

    @property
    def taints(self) -> tuple[Mapping[str, Any], ...]:
        """Those the program writes, and the one AKS itself adds to every spot pool."""
        found = [_taint(text(taint)) for taint in rows(at(self.props, "nodeTaints"))]
        if SPOT in self.capacities and AKS_SPOT_TAINT not in found:
            found.append(AKS_SPOT_TAINT)
        return tuple(found)

    @property
    def max_nodes(self) -> float | None:
        """The autoscaler's limit; without an autoscaler the pool keeps its size, 1 when nothing is written."""
        if at(self.props, "enableAutoScaling") is True:
            return number(at(self.props, "maxCount"))
        count = number(at(self.props, "count"))
        return 1 if count is None else count

    @property
    def buys_gpus(self) -> bool:
        """By the family of its VM size."""
        return bool(_GPU_SIZE.match(text(at(self.props, "vmSize"))))

    @property
    def disk_gib(self) -> float | None:
        """The OS disk; 0 and nothing mean the default of the VM size, 128 GB and more."""
        return number(at(self.props, "osDiskSizeGB")) or None


def aks_agent_pool(props: Props) -> Iterator[AksPool]:
    """The resource is one pool."""
    yield AksPool(props)


def aks_cluster_pools(props: Props) -> Iterator[AksPool]:
    """The pools written inside a cluster; its system pool is one."""
    for pool in rows(at(props, "agentPoolProfiles")):
        yield AksPool(table(pool), text(at(pool, "name")) or "without a name")


def _taint(written: str) -> dict[str, str]:
    match = _TAINT.fullmatch(written)
    parts = match.groupdict() if match else {"key": written}
    return {key: parts.get(key) or "" for key in ("key", "value", "effect")}
