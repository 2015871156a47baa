"""A hierarchical namespace keeps no versions, on either cloud that has one."""

from collections.abc import Iterator

from spotproof_policies.buckets import BLOB_SERVICE, GCS_BUCKET, STORAGE_ACCOUNT
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every store that asks for both; any bucket, with checkpoints or without."""
    for bucket in stack.of(GCS_BUCKET):
        hierarchical = at(bucket.props, "hierarchicalNamespace", "enabled") is True
        if hierarchical and at(bucket.props, "versioning", "enabled") is True:
            yield Finding(
                bucket,
                "The bucket has a hierarchical namespace and versioning, which GCS refuses together. Write "
                "versioning.enabled: false and keep overwritten objects with softDeletePolicy, or give up "
                "hierarchicalNamespace.",
            )
        if hierarchical and at(bucket.props, "uniformBucketLevelAccess") is not True:
            yield Finding(
                bucket,
                "The bucket has a hierarchical namespace without uniform access, which GCS refuses. "
                "Write uniformBucketLevelAccess: true.",
            )
    versioned = [one for one in stack.of(BLOB_SERVICE) if at(one.props, "isVersioningEnabled") is True]
    for account in stack.of(STORAGE_ACCOUNT):
        if at(account.props, "isHnsEnabled") is True and any(_is_of(stack, one, account) for one in versioned):
            yield Finding(
                account,
                "The storage account has a hierarchical namespace and its blobs are versioned, which Azure does not "
                "support together. Write isVersioningEnabled: false, or make the account without isHnsEnabled.",
            )


def _is_of(stack: Stack, service: Resource, account: Resource) -> bool:
    """By where the account's name comes from; a name written as text says no more than the order of the two."""
    behind = service.property_dependencies.get("accountName", ())
    return account.urn in behind if behind else stack.depends_on(service, account)


POLICY = Policy(
    name="hierarchical-namespaces-have-no-versions",
    description="No bucket or storage account asks for a hierarchical namespace and versioning at once.",
    level="mandatory",
    severity="high",
    remedy="Choose one: versions (`checkpoints.versioning: true`), or a hierarchical namespace with soft delete.",
    url="https://cloud.google.com/storage/docs/hns-overview",
    judges=WholeStack((GCS_BUCKET, STORAGE_ACCOUNT, BLOB_SERVICE), check, about=(GCS_BUCKET, STORAGE_ACCOUNT)),
)
