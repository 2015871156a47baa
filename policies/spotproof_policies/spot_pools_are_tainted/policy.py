"""A pool that buys spot carries exactly one spot taint; a pool that does not carries none."""

from collections.abc import Iterator

from spotproof.vocabulary import Taint
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.node_pool import NodePool
from spotproof_policies.pools import POOL_TYPES, buys_spot, pools_in, spot_taints


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what is wrong with the taints of every pool in the resource."""
    for pool in pools_in(resource):
        yield from _wrong(pool)


def _wrong(pool: NodePool) -> Iterator[str]:
    written = pool.written
    spot = buys_spot(pool)
    taints = spot_taints(pool)
    if spot and not taints:
        yield (
            f"{written.subject} buys spot nodes and has no spot taint, so pods that never asked for spot land on "
            f"nodes that can be reclaimed within minutes. Add the taint `{_shown(written.spot_taint)}` to "
            f"{written.taints}; nothing adds it by itself."
        )
    if spot and len(taints) > 1:
        yield (
            f"{written.subject} has {len(taints)} spot taints, so a pod that tolerates the one of its cloud still "
            f"stays pending. Keep only one, for example `{_shown(taints[0])}`."
        )
    if not spot and taints:
        yield (
            f"{written.subject} does not buy spot and has the spot taint `{_shown(taints[0])}`, so ordinary pods "
            f"cannot use nodes that nobody reclaims. Remove the taint from {written.taints}, or let the pool buy spot "
            f"({written.capacity})."
        )


def _shown(taint: Taint) -> str:
    return f"{taint['key']}={taint['value']}:{taint['effect']}"


POLICY = Policy(
    name="spot-pools-are-tainted",
    description="A spot pool carries exactly one spot taint, an on-demand pool none.",
    level="mandatory",
    severity="high",
    remedy="Let `pools[].capacity` write the taint; in a program of your own, write the one the sentence names.",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/",
    judges=EachResource(POOL_TYPES, check),
)
