"""A pool that buys spot carries exactly one spot taint; a pool that does not carries none."""

from collections.abc import Iterator

from spotproof.vocabulary import SPOT_TAINT, Taint
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import POOL_TYPES, buys_spot, read, spot_taints


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield what is wrong with the taints of one pool."""
    pool = read(resource)
    spot = buys_spot(pool)
    taints = spot_taints(pool)
    if spot and not taints:
        yield (
            "This pool buys spot nodes and has no spot taint, so pods that never asked for spot land on nodes that "
            f"can be reclaimed within minutes. Add the taint `{_written(SPOT_TAINT)}` to its node template."
        )
    if spot and len(taints) > 1:
        yield (
            f"This pool has {len(taints)} spot taints, so a pod that tolerates the one of its cloud still stays "
            f"pending. Keep only one, for example `{_written(taints[0])}`."
        )
    if not spot and taints:
        yield (
            f"This pool does not buy spot and has the spot taint `{_written(taints[0])}`, so ordinary pods cannot use "
            "nodes that nobody reclaims. Remove the taint, or let the pool buy spot."
        )


def _written(taint: Taint) -> str:
    return f"{taint['key']}={taint['value']}:{taint['effect']}"


POLICY = Policy(
    name="spot-pools-are-tainted",
    description="A spot pool carries exactly one spot taint, an on-demand pool none.",
    level="mandatory",
    severity="high",
    remedy="Let `pools[].capacity` write the taint; in a program of your own, write it in spec.template.spec.taints.",
    url="https://karpenter.sh/docs/concepts/nodepools/",
    judges=EachResource(POOL_TYPES, check),
)
