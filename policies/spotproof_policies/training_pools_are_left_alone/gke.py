"""GKE: what ends nodes of a pool by the clock. Upgrades are a matter of the cluster's maintenance policy."""

from collections.abc import Iterator

from spotproof_policies.gke_pools import GkePool
from spotproof_policies.model import Config, Resource
from spotproof_policies.pools import trains
from spotproof_policies.reading import at, text


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every limit of time on the nodes of a training pool."""
    pool = GkePool(resource.props)
    if not trains(pool):
        return
    if at(pool.config, "preemptible") is True:
        yield (
            "Preemptible nodes are stopped after 24 hours whatever happens, so a longer run is killed by the clock. "
            "Write nodeConfig.spot: true in place of preemptible; spot costs the same and has no such limit."
        )
    # Flex-start nodes exist for a time that was asked for.
    if text(at(pool.config, "maxRunDuration")) and at(pool.config, "flexStart") is not True:
        yield (
            "Nodes of this pool are deleted after nodeConfig.maxRunDuration, running or not, so a long run is killed "
            "by the clock. Remove maxRunDuration; only flex-start nodes need one."
        )
