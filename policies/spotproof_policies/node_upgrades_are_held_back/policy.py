"""A cloud's own upgrades of nodes do not drain training pools on a day of their choice."""

from collections.abc import Callable, Iterator
from typing import Final

from spotproof_policies.aks_pools import AKS_AGENT_POOL, AKS_CLUSTER, AksPool
from spotproof_policies.gke_pools import GKE_CLUSTER, GKE_NODE_POOL, GkePool
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.node_pool import NodePool
from spotproof_policies.pools import trains
from spotproof_policies.reading import at, rows, text

_HOLDING: Final = ("NO_MINOR_OR_NODE_UPGRADES", "NO_UPGRADES")
_NO_IMAGES: Final = ("None", "Unmanaged")


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every cluster whose training pools are upgraded under running jobs."""
    for cluster in stack.of(GKE_CLUSTER):
        pools = _training(stack, cluster, GKE_NODE_POOL, GkePool)
        if any(at(one.props, "management", "autoUpgrade") is not False for one in pools) and not _is_excluded(cluster):
            yield Finding(
                cluster,
                "GKE upgrades the nodes of this cluster on a day of its own (a release channel does not let a pool opt "
                "out), so every training run is drained several times a year. Write a maintenancePolicy with a "
                f"maintenanceExclusion of scope {_HOLDING[0]}.",
            )
    for cluster in stack.of(AKS_CLUSTER):
        if _training(stack, cluster, AKS_AGENT_POOL, AksPool):
            yield from (Finding(cluster, sentence) for sentence in _aks(cluster))


def _training(stack: Stack, cluster: Resource, pool_type: str, view: Callable[..., NodePool]) -> list[Resource]:
    """The pools of the cluster to which jobs of ours may go."""
    return [one for one in stack.of(pool_type) if stack.depends_on(one, cluster) and trains(view(one.props))]


def _is_excluded(cluster: Resource) -> bool:
    exclusions = rows(at(cluster.props, "maintenancePolicy", "maintenanceExclusions"))
    return any(text(at(one, "exclusionOptions", "scope")) in _HOLDING for one in exclusions)


def _aks(cluster: Resource) -> Iterator[str]:
    profile = at(cluster.props, "autoUpgradeProfile")
    channel = text(at(profile, "nodeOSUpgradeChannel")) or "NodeImage"
    if channel not in _NO_IMAGES:
        yield (
            f"The node OS upgrade channel of this cluster is {channel}, so AKS replaces training nodes under running "
            'jobs whenever it has a new image. Write autoUpgradeProfile.nodeOSUpgradeChannel: "None".'
        )
    version = text(at(profile, "upgradeChannel")) or "none"
    if version.lower() != "none":
        yield (
            f"The upgrade channel of this cluster is {version}, so AKS drains training nodes for a new version of "
            'Kubernetes on its own day. Write autoUpgradeProfile.upgradeChannel: "none" and raise the version yourself.'
        )


POLICY = Policy(
    name="node-upgrades-are-held-back",
    description="A cluster with training pools of GKE or AKS holds the cloud's own node upgrades back.",
    level="mandatory",
    severity="high",
    remedy="Clusters of the settings are written so; in a program of your own write what the sentence names.",
    url="https://cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions",
    judges=WholeStack(
        (GKE_CLUSTER, GKE_NODE_POOL, AKS_CLUSTER, AKS_AGENT_POOL), check, about=(GKE_CLUSTER, AKS_CLUSTER)
    ),
)
