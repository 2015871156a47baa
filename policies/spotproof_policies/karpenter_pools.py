"""Reads Karpenter's NodePool objects: on EKS, and on AKS as node auto-provisioning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spotproof.vocabulary import AKS_SPOT_TAINT, GPU_RESOURCE, KARPENTER_CAPACITY_LABEL, SPOT_TAINT
from spotproof_policies.model import Props
from spotproof_policies.node_pool import Written
from spotproof_policies.reading import at, number, rows, table, text

KARPENTER_NODE_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"
EC2_NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
AKS_NODE_CLASS: Final = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"

_AKS_GROUP: Final = "karpenter.azure.com"
# AKS's own `system-surge` pool is written so, and people copy it.
_MODE: Final = "kubernetes.azure.com/mode"


@dataclass(frozen=True)
class KarpenterPool:
    """A `karpenter.sh/v1` NodePool."""

    props: Props

    @property
    def written(self) -> Written:
        """All below the node template; the taint is the one of the node class's cloud."""
        return Written(
            labels="spec.template.metadata.labels",
            taints="spec.template.spec.taints",
            max_nodes="spec.limits.nodes",
            capacity=f"the requirement on `{KARPENTER_CAPACITY_LABEL}`",
            spot_taint=AKS_SPOT_TAINT if self.is_of_aks else SPOT_TAINT,
        )

    @property
    def is_of_aks(self) -> bool:
        """Whether its node class is one of AKS."""
        return at(self.props, "spec", "template", "spec", "nodeClassRef", "group") == _AKS_GROUP

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
    def cloud_labels(self) -> frozenset[str]:
        """AKS knows system nodes by a label of its own."""
        return frozenset({_MODE})

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

    @property
    def disk_gib(self) -> float | None:
        """The node class says it."""
        return None


def karpenter_pools(props: Props) -> Iterator[KarpenterPool]:
    """One object is one pool."""
    yield KarpenterPool(props)
