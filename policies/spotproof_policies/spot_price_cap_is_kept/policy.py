"""A price cap stands only where something keeps it."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import EC2_NODE_CLASS, KARPENTER_NODE_POOL
from spotproof_policies.reading import at, rows, table

_CAPS = frozenset({"maxprice", "spotmaxprice", "maxspotprice"})


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every key that looks like a price cap on an object that has no such field."""
    annotated = ("metadata", "annotations"), ("spec", "template", "metadata", "annotations")
    places = (*annotated, ("metadata", "labels"), ("spec",))
    for path in places:
        for key in _caps(at(resource.props, *path)):
            yield (
                f"`{'.'.join(path)}` holds the price cap `{key}`, which Karpenter does not read, so spot nodes are "
                "bought at any price up to on-demand. Remove it; only an EC2 launch template, an Auto Scaling group "
                "or an EC2 Fleet keeps a cap."
            )


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
    description="A spot price cap stands only where something keeps it; Karpenter has none.",
    level="mandatory",
    severity="medium",
    remedy="Remove `pools[].spotMaxPrice` on AWS: the price is the market's, never above on-demand.",
    url="https://github.com/aws/karpenter-provider-aws/pull/7899",
    judges=EachResource((KARPENTER_NODE_POOL, EC2_NODE_CLASS), check),
)
