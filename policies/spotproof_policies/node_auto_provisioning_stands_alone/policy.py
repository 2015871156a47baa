"""On AKS one thing makes nodes: node auto-provisioning or the cluster autoscaler."""

from collections.abc import Iterator

from spotproof_policies.aks_pools import AKS_AGENT_POOL, AKS_CLUSTER, aks_cluster_pools
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every agent pool with an autoscaler in a cluster that provisions its own nodes."""
    for cluster in stack.of(AKS_CLUSTER):
        if at(cluster.props, "nodeProvisioningProfile", "mode") != "Auto":
            continue
        for pool in aks_cluster_pools(cluster.props):
            if at(pool.props, "enableAutoScaling") is True:
                yield _finding(cluster, pool.written.subject)
        for one in stack.of(AKS_AGENT_POOL):
            if stack.depends_on(one, cluster) and at(one.props, "enableAutoScaling") is True:
                yield _finding(one, "This pool")


def _finding(resource: Resource, subject: str) -> Finding:
    return Finding(
        resource,
        f"{subject} has the cluster autoscaler (enableAutoScaling) in a cluster with node auto-provisioning, and AKS "
        "refuses the two together. Write enableAutoScaling: false with a count, or nodeProvisioningProfile.mode: "
        '"Manual".',
    )


POLICY = Policy(
    name="node-auto-provisioning-stands-alone",
    description="An AKS cluster with node auto-provisioning has no agent pool with the cluster autoscaler.",
    level="mandatory",
    severity="high",
    remedy="Use one for all `pools[].autoscaler` of an environment; the system pool keeps a fixed count.",
    url="https://learn.microsoft.com/azure/aks/node-auto-provisioning",
    judges=WholeStack((AKS_CLUSTER, AKS_AGENT_POOL), check, about=(AKS_CLUSTER,)),
)
