"""A price cap stands only where something keeps it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from spotproof_policies.aks_pools import AKS_AGENT_POOL, AKS_CLUSTER, AksPool, aks_agent_pool, aks_cluster_pools
from spotproof_policies.gke_pools import GKE_CLUSTER, GKE_NODE_POOL, gke_cluster_pools, gke_node_pool
from spotproof_policies.karpenter_pools import AKS_NODE_CLASS, EC2_NODE_CLASS, KARPENTER_NODE_POOL
from spotproof_policies.model import Config, EachResource, Policy, Props, Resource
from spotproof_policies.pools import buys_spot
from spotproof_policies.reading import at, number, rows, table

_CAPS = frozenset({"maxprice", "spotmaxprice", "maxspotprice"})
_MARKET: Final = -1
"""As AKS's spotMaxPrice: up to the on-demand price, and no eviction because of the price."""


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every price cap that nothing keeps."""
    yield from _BY_TYPE[resource.type](resource.props)


def _of_karpenter(props: Props) -> Iterator[str]:
    annotated = ("metadata", "annotations"), ("spec", "template", "metadata", "annotations")
    for path in (*annotated, ("metadata", "labels"), ("spec",)):
        for key in _caps(at(props, *path)):
            yield (
                f"`{'.'.join(path)}` holds the price cap `{key}`, which Karpenter does not read, so spot nodes are "
                "bought at any price up to on-demand. Remove it; on AWS only an EC2 launch template, an Auto Scaling "
                "group or an EC2 Fleet keeps a cap, on AKS only a spot agent pool of its own (spotMaxPrice)."
            )


def _of_gke_node_pool(props: Props) -> Iterator[str]:
    for pool in gke_node_pool(props):
        yield from _of_gke(pool.written.subject, pool.config)


def _of_gke_cluster(props: Props) -> Iterator[str]:
    for pool in gke_cluster_pools(props):
        yield from _of_gke(pool.written.subject, pool.config)


def _of_gke(subject: str, config: Any) -> Iterator[str]:
    for key in ("labels", "metadata", "resourceLabels"):
        for cap in _caps(at(config, key)):
            yield (
                f"{subject} holds the price cap `{cap}` in nodeConfig.{key}, which nothing on GKE reads, so spot nodes "
                "are bought at Google's price of the day. Remove it; a GKE spot node never costs more than on-demand."
            )


def _of_aks_agent_pool(props: Props) -> Iterator[str]:
    for pool in aks_agent_pool(props):
        yield from _of_aks(pool)


def _of_aks_cluster(props: Props) -> Iterator[str]:
    for pool in aks_cluster_pools(props):
        yield from _of_aks(pool)


def _of_aks(pool: AksPool) -> Iterator[str]:
    price = number(at(pool.props, "spotMaxPrice"))
    if price is None:
        return
    if not buys_spot(pool):
        yield (
            f"{pool.written.subject} has spotMaxPrice and does not buy spot, so AKS refuses it or keeps no cap. "
            'Write scaleSetPriority: "Spot", or remove spotMaxPrice.'
        )
    elif price != _MARKET and (price <= 0 or round(price, 5) != price):
        yield (
            f"{pool.written.subject} has spotMaxPrice {price:g}, which AKS refuses; it is fixed when the pool is made. "
            "Write -1 for the market's price, or USD per hour above zero with at most five decimals."
        )


_BY_TYPE: Final[dict[str, Callable[[Props], Iterator[str]]]] = {
    KARPENTER_NODE_POOL: _of_karpenter,
    EC2_NODE_CLASS: _of_karpenter,
    AKS_NODE_CLASS: _of_karpenter,
    GKE_NODE_POOL: _of_gke_node_pool,
    GKE_CLUSTER: _of_gke_cluster,
    AKS_AGENT_POOL: _of_aks_agent_pool,
    AKS_CLUSTER: _of_aks_cluster,
}


def _caps(value: Any) -> Iterator[str]:
    for key in sorted(set(table(value))):
        if _plain(key) in _CAPS:
            yield key
            continue
        child = _inside(value, key)
        for part in (child, *rows(child)):
            if isinstance(part, Mapping):
                yield from _caps(part)


def _inside(value: Any, key: str) -> Any:
    # Annotations are judged one by one at their own path; below spec they would be reported twice.
    return None if key in {"annotations", "labels"} else value[key]


def _plain(key: str) -> str:
    return key.rpartition("/")[2].replace("-", "").replace("_", "").lower()


POLICY = Policy(
    name="spot-price-cap-is-kept",
    description="A spot price cap stands only where something keeps it; Karpenter and GKE have none.",
    level="mandatory",
    severity="medium",
    remedy="Remove `pools[].spotMaxPrice`, except on AKS with `autoscaler: cluster-autoscaler`.",
    url="https://github.com/aws/karpenter-provider-aws/pull/7899",
    judges=EachResource(tuple(_BY_TYPE), check),
)
