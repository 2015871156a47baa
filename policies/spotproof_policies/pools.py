"""One neutral view of a node pool, whichever cloud wrote it.

Another cloud is one class here and one line in `READERS`; the policies over pools then judge it too.
Every property reads only what it needs, so that one unknown value silences one question, not all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from spotproof.vocabulary import (
    GPU_RESOURCE,
    KARPENTER_CAPACITY_LABEL,
    POOL_LABEL,
    SPOT,
    SPOT_TAINTS,
    Taint,
)
from spotproof_policies.model import Props, Resource
from spotproof_policies.reading import at, number, rows, table, text

KARPENTER_NODE_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"
EC2_NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"


class NodePool(Protocol):
    """What the policies ask of a pool."""

    @property
    def capacities(self) -> frozenset[str]:
        """The capacity types it may buy; empty when it does not say."""
        ...

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels that it gives its nodes, values as written."""
        ...

    @property
    def taints(self) -> tuple[Mapping[str, Any], ...]:
        """The taints that stay on its nodes."""
        ...

    @property
    def max_nodes(self) -> float | None:
        """The largest number of nodes, None when there is no such limit."""
        ...

    @property
    def buys_gpus(self) -> bool:
        """Whether its nodes carry NVIDIA GPUs, as far as the pool itself tells."""
        ...


@dataclass(frozen=True)
class KarpenterPool:
    """A `karpenter.sh/v1` NodePool."""

    props: Props

    @property
    def capacities(self) -> frozenset[str]:
        """From the requirement on `karpenter.sh/capacity-type`; only `In` names what is bought."""
        requirements = rows(at(self.props, "spec", "template", "spec", "requirements"))
        return frozenset(
            text(value)
            for requirement in requirements
            if at(requirement, "key") == KARPENTER_CAPACITY_LABEL and at(requirement, "operator") == "In"
            for value in rows(at(requirement, "values"))
        )

    @property
    def labels(self) -> Mapping[str, Any]:
        """From the node template."""
        return table(at(self.props, "spec", "template", "metadata", "labels"))

    @property
    def taints(self) -> tuple[Mapping[str, Any], ...]:
        """Startup taints are left out: they go as soon as a node is ready."""
        return tuple(table(taint) for taint in rows(at(self.props, "spec", "template", "spec", "taints")))

    @property
    def max_nodes(self) -> float | None:
        """`limits.nodes`, which Karpenter accepts as a number or as a string."""
        return number(at(self.props, "spec", "limits", "nodes"))

    @property
    def buys_gpus(self) -> bool:
        """Seen by the GPU taint or a limit on GPUs: instance types are names that would need a table."""
        limited = GPU_RESOURCE in set(table(at(self.props, "spec", "limits")))
        return limited or any(at(taint, "key") == GPU_RESOURCE for taint in self.taints)


READERS: Final[dict[str, Callable[[Props], NodePool]]] = {
    KARPENTER_NODE_POOL: KarpenterPool,
}
"""Resource type to reader. Node groups of GKE and agent pools of AKS get their line with their cloud."""

POOL_TYPES: Final = tuple(READERS)


def read(resource: Resource) -> NodePool:
    """The neutral view of a resource whose type is in `POOL_TYPES`."""
    return READERS[resource.type](resource.props)


def buys_spot(pool: NodePool) -> bool:
    """Whether any of its nodes may be reclaimed."""
    return SPOT in pool.capacities


def trains(pool: NodePool) -> bool:
    """Whether jobs of ours may be sent to it: then it carries the pool label."""
    return POOL_LABEL in set(pool.labels)


def spot_taints(pool: NodePool) -> list[Taint]:
    """Those taints that one of the clouds' spot taints equals."""
    seen = [{key: text(at(taint, key)) for key in ("key", "value", "effect")} for taint in pool.taints]
    return [taint for taint in seen if taint in SPOT_TAINTS]
