"""Nothing but a reclaim takes a node away from a running job."""

from collections.abc import Callable, Iterator
from typing import Final

from spotproof_policies.gke_pools import GKE_NODE_POOL
from spotproof_policies.karpenter_pools import KARPENTER_NODE_POOL
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.training_pools_are_left_alone import gke, karpenter

_BY_TYPE: Final[dict[str, Callable[[Resource, Config], Iterator[str]]]] = {
    KARPENTER_NODE_POOL: karpenter.check,
    GKE_NODE_POOL: gke.check,
}
"""What ends a run there. An agent pool of AKS has no such setting of its own."""
_MINIMUM_MINUTES = 5


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield every setting by which a node of this pool would be taken from a running job."""
    yield from _BY_TYPE[resource.type](resource, config)


POLICY = Policy(
    name="training-pools-are-left-alone",
    description="A training pool is never consolidated, drifted or expired under a running job.",
    level="mandatory",
    severity="high",
    remedy=(
        "Pools of the settings are written so; in a program of your own write, for Karpenter, consolidationPolicy "
        "WhenEmpty, consolidateAfter, the zero budgets and expireAfter Never, and on GKE spot in place of preemptible "
        "and no maxRunDuration."
    ),
    url="https://karpenter.sh/docs/concepts/disruption/",
    judges=EachResource(tuple(_BY_TYPE), check),
    config_schema={
        "minimumMinutes": {
            "type": "number",
            "minimum": 0,
            "default": _MINIMUM_MINUTES,
            "description": "How long an empty node of Karpenter has to stay, in minutes.",
        }
    },
)
