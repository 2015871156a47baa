"""A change of endpoint never replaces everything in the cluster, and no other cluster is hit by accident."""

from collections.abc import Iterator

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import text

_CHOICES = frozenset({"kubeconfig", "context", "cluster", "renderYamlToDirectory"})


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what makes a Kubernetes provider dangerous; reads presence before values, which may be unknown."""
    keys = set(resource.props)
    if not keys & _CHOICES:
        yield (
            "This Kubernetes provider names no cluster, so it acts on whatever cluster the person or runner is logged "
            "in to. Give it a kubeconfig or a context."
        )
    if "clusterIdentifier" not in keys or not text(resource.props["clusterIdentifier"]):
        yield (
            "This Kubernetes provider has no clusterIdentifier, so a cluster update that makes its endpoint unknown "
            "plans the replacement of the provider and of every object in the cluster. "
            "Set cluster_identifier to the cluster's ARN or another name that never changes."
        )


POLICY = Policy(
    name="kubernetes-providers-have-an-identifier",
    description="Every Kubernetes provider names its cluster and has a cluster identifier.",
    level="mandatory",
    severity="high",
    remedy="Set cluster_identifier (and kubeconfig or context) on pulumi_kubernetes.Provider.",
    url="https://www.pulumi.com/registry/packages/kubernetes/api-docs/provider/",
    judges=EachResource(("pulumi:providers:kubernetes",), check),
)
