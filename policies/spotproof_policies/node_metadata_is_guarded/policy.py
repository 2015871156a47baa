"""Pods do not reach the node's credentials through the metadata service."""

from collections.abc import Iterator

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import EC2_NODE_CLASS
from spotproof_policies.reading import at, number

# 1 keeps pods out (spot notices come through the queue); 2 lets pods poll for them; more serves nobody.
_MOST_HOPS = 2


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield metadata options that are weaker than Karpenter's defaults need to be."""
    options = at(resource.props, "spec", "metadataOptions")
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


POLICY = Policy(
    name="node-metadata-is-guarded",
    description="The metadata service of nodes asks for tokens and answers at most two hops away.",
    level="mandatory",
    severity="medium",
    remedy="Leave spec.metadataOptions out, or write httpTokens required and httpPutResponseHopLimit 1 or 2.",
    url="https://karpenter.sh/docs/concepts/nodeclasses/",
    judges=EachResource((EC2_NODE_CLASS,), check),
)
