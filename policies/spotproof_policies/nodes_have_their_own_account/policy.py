"""GKE nodes that train run as a service account made for nodes."""

from collections.abc import Iterator

from spotproof_policies.gke_pools import GKE_NODE_POOL, GkePool
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import trains
from spotproof_policies.reading import table


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield a training pool on the project's default account; reads presence only, the name may be unknown."""
    pool = GkePool(resource.props)
    if trains(pool) and "serviceAccount" not in set(table(pool.config)):
        yield (
            "Nodes of this pool run as the Compute Engine default service account, which is an editor of the project "
            "in most organisations, so whoever leaves a pod owns the project. Write nodeConfig.serviceAccount with an "
            "account that has roles/container.defaultNodeServiceAccount."
        )


POLICY = Policy(
    name="nodes-have-their-own-account",
    description="Training nodes of GKE run as a service account of their own.",
    level="mandatory",
    severity="high",
    remedy="Pools of the settings are written so; in a program of your own write nodeConfig.serviceAccount.",
    url="https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster#use_least_privilege_sa",
    judges=EachResource((GKE_NODE_POOL,), check),
)
