"""Whether a GKE cluster can be deleted is written down: the provider's default is a trap at the end."""

from collections.abc import Iterator

from spotproof_policies.gke_pools import GKE_CLUSTER
from spotproof_policies.model import Config, EachResource, Policy, Resource


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield a cluster that says nothing; reads presence only, as the value is the owner's choice."""
    if "deletionProtection" not in set(resource.props):
        yield (
            "This cluster does not say deletionProtection, which is then true, so `pulumi destroy` fails halfway, when "
            "the node pools are gone, until false is written and applied. Write deletionProtection: true for a cluster "
            "that is to stay, or false for one that is to go in one command."
        )


POLICY = Policy(
    name="gke-deletion-protection-is-said",
    description="Every GKE cluster says whether it may be deleted.",
    level="mandatory",
    severity="medium",
    remedy="Write `controlPlane.deletionProtection`; in a program of your own, deletion_protection of the Cluster.",
    url="https://www.pulumi.com/registry/packages/gcp/api-docs/container/cluster/",
    judges=EachResource((GKE_CLUSTER,), check),
)
