"""No pool writes node labels that belong to Kubernetes, to its cloud or to Karpenter."""

from collections.abc import Iterator

from spotproof.vocabulary import RESERVED_LABEL_DOMAINS
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.node_pool import NodePool
from spotproof_policies.pools import POOL_TYPES, pools_in

# Inside kubernetes.io, but made for users: the kubelet may not write it, everybody else may.
_OPEN_DOMAIN = "node-restriction.kubernetes.io"


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every reserved label of every pool in the resource; reads keys only."""
    for pool in pools_in(resource):
        for key in sorted(_reserved(pool)):
            yield (
                f"{pool.written.subject} has the label `{key}` in the reserved domain {_domain(key)}, so the API "
                "server refuses the pool or the cloud overwrites the value. Use a label in a domain of your own in "
                f"{pool.written.labels}."
            )


def _reserved(pool: NodePool) -> Iterator[str]:
    for key in set(pool.labels) - pool.cloud_labels:
        domain = _domain(key)
        held = any(domain == one or domain.endswith(f".{one}") for one in RESERVED_LABEL_DOMAINS)
        if held and not domain.endswith(_OPEN_DOMAIN):
            yield key


def _domain(key: str) -> str:
    return key.rpartition("/")[0]


POLICY = Policy(
    name="node-labels-are-ours",
    description="Pools write no node labels in domains that Kubernetes, Karpenter and the clouds reserve.",
    level="mandatory",
    severity="high",
    remedy="Write node labels in a domain of your own, as spotproof.dev/ or team.example.org/.",
    url="https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction",
    judges=EachResource(POOL_TYPES, check),
)
