"""Nothing in GCP is given to everybody."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, words

_TYPES: Final = (
    *(f"gcp:{place}/iAM{form}:IAM{form}" for place in ("projects", "serviceaccount") for form in ("Member", "Binding")),
    *(f"gcp:storage/bucketIAM{form}:BucketIAM{form}" for form in ("Member", "Binding")),
    *(f"gcp:storage/managedFolderIam{form}:ManagedFolderIam{form}" for form in ("Member", "Binding")),
    *(f"gcp:artifactregistry/repositoryIam{form}:RepositoryIam{form}" for form in ("Member", "Binding")),
)
_EVERYBODY: Final = ("allUsers", "allAuthenticatedUsers")


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield a role that everybody gets. A member that is not known yet is an identity of the stack."""
    for key in ("member", "members"):
        if not resource.is_known(key):
            continue
        for member in words(at(resource.props, key)):
            if member in _EVERYBODY:
                yield (
                    f"The role is given to {member}, so anybody on the internet with or without an account of Google "
                    "has it. Name the service account, the group or the workload's principal that needs it."
                )


POLICY = Policy(
    name="iam-names-its-members",
    description="IAM bindings of GCP name who gets a role; nobody gives it to everybody.",
    level="mandatory",
    severity="critical",
    remedy="Write serviceAccount:, group: or principal:// as the member.",
    url="https://cloud.google.com/iam/docs/principals-overview",
    judges=EachResource(_TYPES, check),
)
