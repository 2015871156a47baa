"""What has to be gone before what, when a stack is destroyed, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
NODE_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"
EC2_NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
AKS_NODE_CLASS: Final = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"
KARPENTER: Final = "kubernetes:helm.sh/v3:Release {stack}-karpenter-controller"
KARPENTER_CRDS: Final = "kubernetes:helm.sh/v3:Release {stack}-karpenter-crd"
EKS: Final = "aws:eks/cluster:Cluster"
EKS_NODES: Final = "aws:eks/nodeGroup:NodeGroup"
AKS: Final = "azure-native:containerservice:ManagedCluster"
GKE: Final = "gcp:container/cluster:Cluster"
GKE_NODES: Final = "gcp:container/nodePool:NodePool"

_JOBS = "jobs hold nodes, and their finalizers need the operators"
_MACHINES = "its machines drain first"
_CONTROLLER = "the controller takes away the machines of a pool; without it they stay and cost"
_SUBNETS = "machines and the control plane have addresses in it"


@dataclass(frozen=True)
class Rule:
    """Every `first` (a type, or type and name) of the stacks of a cloud is gone before any `then` goes."""

    cloud: str
    first: str
    then: str
    reason: str


RULES: Final[tuple[Rule, ...]] = (
    Rule("aws", NAMESPACE, NODE_POOL, _JOBS),
    Rule("aws", NODE_POOL, EC2_NODE_CLASS, _MACHINES),
    Rule("aws", EC2_NODE_CLASS, KARPENTER, _CONTROLLER),
    Rule("aws", KARPENTER, KARPENTER_CRDS, "its objects' kinds outlive it"),
    Rule("aws", KARPENTER, EKS_NODES, "the controller runs on them"),
    Rule("aws", KARPENTER, "aws:iam/policy:Policy", "it ends machines by them"),
    Rule("aws", KARPENTER, "aws:sqs/queue:Queue", "it reads interruptions from it until its end"),
    Rule("aws", EKS_NODES, EKS, "a cluster with node groups cannot be deleted"),
    Rule("aws", EKS, "aws:ec2/subnet:Subnet", _SUBNETS),
    Rule("aws", EKS_NODES, "aws:ec2/natGateway:NatGateway", "nodes reach the registries through it until their end"),
    Rule("aws", "aws:ec2/subnet:Subnet", "aws:ec2/vpc:Vpc", _SUBNETS),
    Rule("azure", NAMESPACE, NODE_POOL, _JOBS),
    Rule("azure", NODE_POOL, AKS_NODE_CLASS, _MACHINES),
    Rule("azure", AKS_NODE_CLASS, AKS, _CONTROLLER),
    Rule("azure", AKS, "azure-native:network:Subnet", _SUBNETS),
    Rule("azure", "azure-native:network:Subnet", "azure-native:network:VirtualNetwork", _SUBNETS),
    Rule("azure", "azure-native:network:VirtualNetwork", "azure-native:resources:ResourceGroup", "it lies in it"),
    Rule("gcp", NAMESPACE, GKE_NODES, _JOBS),
    Rule("gcp", GKE_NODES, GKE, _MACHINES),
    Rule("gcp", GKE, "gcp:compute/subnetwork:Subnetwork", _SUBNETS),
    Rule("gcp", GKE_NODES, "gcp:compute/routerNat:RouterNat", "nodes reach the registries through it until their end"),
    Rule("gcp", "gcp:compute/subnetwork:Subnetwork", "gcp:compute/network:Network", _SUBNETS),
    Rule("kind", NAMESPACE, "kubernetes:helm.sh/v3:Release", _JOBS),
    Rule(
        "kind",
        "kubernetes:spotproof.dev/v1alpha1:FallbackPolicy",
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
        "with its kind a policy would go before anybody could look",
    ),
)


def broken(stack: str, deleted: Sequence[str]) -> list[str]:
    """Return a line for every rule of the stack's cloud that `deleted` (type and name, in order) breaks, or lacks."""
    cloud = stack.partition("-")[0]
    return [line for rule in RULES if rule.cloud == cloud for line in _broken(rule, stack, deleted)]


def _broken(rule: Rule, stack: str, deleted: Sequence[str]) -> list[str]:
    first = _places(rule.first.format(stack=stack), deleted)
    then = _places(rule.then.format(stack=stack), deleted)
    if not first or not then:
        return [f"nothing to judge: {rule.first if not first else rule.then} was not deleted"]
    if max(first) < min(then):
        return []
    return [f"{deleted[min(then)]} went before {deleted[max(first)]}: {rule.reason}"]


def _places(what: str, deleted: Sequence[str]) -> list[int]:
    return [place for place, one in enumerate(deleted) if one == what or one.partition(" ")[0] == what]
