"""Pods do not reach the node's credentials through the metadata service."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from spotproof_policies.gke_pools import GKE_CLUSTER, GKE_NODE_POOL, gke_cluster_pools, gke_node_pool
from spotproof_policies.karpenter_pools import EC2_NODE_CLASS
from spotproof_policies.model import Config, EachResource, Policy, Props, Resource
from spotproof_policies.reading import at, number, text

# 1 keeps pods out (spot notices come through the queue); 2 lets pods poll for them; more serves nobody.
_MOST_HOPS = 2
_LEGACY = "disable-legacy-endpoints"


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield metadata settings that are weaker than the cloud's own defaults."""
    yield from _BY_TYPE[resource.type](resource.props)


def _of_ec2(props: Props) -> Iterator[str]:
    options = at(props, "spec", "metadataOptions")
    tokens = at(options, "httpTokens")
    if tokens is not None and tokens != "required":
        yield (
            "The metadata service answers without a session token, so one forged request in a pod reads the node's "
            "credentials. Write spec.metadataOptions.httpTokens: required."
        )
    hops = number(at(options, "httpPutResponseHopLimit"))
    if hops is not None and not 1 <= hops <= _MOST_HOPS:
        yield (
            f"httpPutResponseHopLimit is {hops:g}; 1 keeps pods from the node's credentials and 2 is enough for pods "
            "that poll for spot notices, so another value only opens or breaks the metadata service. Write 1 or 2."
        )


def _of_gke_node_pool(props: Props) -> Iterator[str]:
    for pool in gke_node_pool(props):
        yield from _of_gke(pool.written.subject, pool.config)


def _of_gke_cluster(props: Props) -> Iterator[str]:
    for pool in gke_cluster_pools(props):
        yield from _of_gke(pool.written.subject, pool.config)


def _of_gke(subject: str, config: Any) -> Iterator[str]:
    mode = at(config, "workloadMetadataConfig", "mode")
    if mode is not None and text(mode) not in {"GKE_METADATA", "MODE_UNSPECIFIED"}:
        yield (
            f"{subject} has the metadata mode {mode}, so every pod reads the credentials of the node's service "
            "account. Write nodeConfig.workloadMetadataConfig.mode: GKE_METADATA, with workload identity on the "
            "cluster."
        )
    if str(at(config, "metadata", _LEGACY)).lower() == "false":
        yield (
            f"{subject} opens the legacy metadata endpoints, which answer without a header, so one forged request in a "
            f'pod reads the node\'s credentials. Remove nodeConfig.metadata["{_LEGACY}"], or write "true".'
        )


_BY_TYPE: Final[dict[str, Callable[[Props], Iterator[str]]]] = {
    EC2_NODE_CLASS: _of_ec2,
    GKE_NODE_POOL: _of_gke_node_pool,
    GKE_CLUSTER: _of_gke_cluster,
}
"""AKS has no such setting on a pool."""


POLICY = Policy(
    name="node-metadata-is-guarded",
    description="The metadata service of nodes does not hand the node's credentials to pods.",
    level="mandatory",
    severity="medium",
    remedy=(
        "On AWS leave spec.metadataOptions out, or write httpTokens required and httpPutResponseHopLimit 1 or 2; on "
        "GKE write workloadMetadataConfig.mode GKE_METADATA."
    ),
    url="https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster",
    judges=EachResource(tuple(_BY_TYPE), check),
)
