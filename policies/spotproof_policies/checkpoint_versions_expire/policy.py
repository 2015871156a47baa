"""Earlier versions of checkpoints go after a time: a run overwrites its state every half hour for weeks."""

from collections.abc import Iterator
from typing import Any

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    BLOB_SERVICE,
    CHECKPOINTS,
    GCS_BUCKET,
    GCS_CHECKPOINTS,
    LIFECYCLE,
    MANAGEMENT_POLICY,
    S3_CHECKPOINTS,
    VERSIONING,
    made,
    parts,
)
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, rows

_COSTS = (
    "The checkpoint bucket keeps earlier versions for ever, so its bill grows with every checkpoint that is "
    "overwritten. "
)


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every versioned checkpoint store without a rule that ends versions."""
    yield from _in_s3(stack)
    for _, bucket in made(stack, GCS_CHECKPOINTS, GCS_BUCKET):
        versioned = at(bucket.props, "versioning", "enabled") is True
        if versioned and not any(map(_ends_in_gcs, rows(at(bucket.props, "lifecycleRules")))):
            yield Finding(
                bucket,
                f"{_COSTS}Add a lifecycle rule with action Delete and daysSinceNoncurrentTime or numNewerVersions.",
            )
    yield from _in_blob(stack)


def _in_s3(stack: Stack) -> Iterator[Finding]:
    lifecycles = dict(_by_store(stack, S3_CHECKPOINTS, LIFECYCLE))
    for store, versioning in parts(stack, S3_CHECKPOINTS, VERSIONING):
        if versioning is None or at(versioning.props, "versioningConfiguration", "status") != "Enabled":
            continue
        rules = rows(at(lifecycles.get(store.urn), "rules"))
        if not any(at(rule, "noncurrentVersionExpiration", "noncurrentDays") for rule in rules):
            yield Finding(
                versioning,
                f"{_COSTS}Add a rule with noncurrentVersionExpiration to a BucketLifecycleConfiguration.",
            )


def _in_blob(stack: Stack) -> Iterator[Finding]:
    policies = dict(_by_store(stack, BLOB_CHECKPOINTS, MANAGEMENT_POLICY))
    for store, service in parts(stack, BLOB_CHECKPOINTS, BLOB_SERVICE):
        if service is None or at(service.props, "isVersioningEnabled") is not True:
            continue
        rules = rows(at(policies.get(store.urn), "policy", "rules"))
        if not any(at(rule, "definition", "actions", "version", "delete") for rule in rules):
            yield Finding(
                service,
                f"{_COSTS}Soft delete does not end them: add a ManagementPolicy with "
                "actions.version.delete.daysAfterCreationGreaterThan.",
            )


def _by_store(stack: Stack, store: str, part: str) -> Iterator[tuple[str, Any]]:
    return ((found.urn, child.props) for found, child in parts(stack, store, part) if child is not None)


def _ends_in_gcs(rule: Any) -> bool:
    condition = at(rule, "condition")
    if at(rule, "action", "type") != "Delete":
        return False
    return any(at(condition, key) for key in ("daysSinceNoncurrentTime", "numNewerVersions", "noncurrentTimeBefore"))


POLICY = Policy(
    name="checkpoint-versions-expire",
    description="A checkpoint bucket that keeps earlier versions has a rule that removes them.",
    level="mandatory",
    severity="medium",
    remedy="Write `checkpoints.retainDays`; in a program of your own, the rule that the sentence names.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-configuration-examples.html",
    judges=WholeStack((VERSIONING, LIFECYCLE, GCS_BUCKET, BLOB_SERVICE, MANAGEMENT_POLICY), check, about=CHECKPOINTS),
)
