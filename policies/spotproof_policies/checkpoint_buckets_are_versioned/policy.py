"""A checkpoint that was overwritten or deleted can be had back. The user may choose otherwise."""

from collections.abc import Iterator

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    BLOB_SERVICE,
    CHECKPOINTS,
    GCS_BUCKET,
    GCS_CHECKPOINTS,
    S3_CHECKPOINTS,
    VERSIONING,
    made,
    parts,
)
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at, number


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint store that keeps no earlier versions."""
    for bucket, versioning in parts(stack, S3_CHECKPOINTS, VERSIONING):
        status = at(versioning.props, "versioningConfiguration", "status") if versioning else None
        if status != "Enabled":
            yield _finding(versioning or bucket)
    for _, bucket in made(stack, GCS_CHECKPOINTS, GCS_BUCKET):
        if at(bucket.props, "versioning", "enabled") is not True and not _softly_deleted(bucket):
            yield _finding(bucket)
    for store, service in parts(stack, BLOB_CHECKPOINTS, BLOB_SERVICE):
        if service is None or at(service.props, "isVersioningEnabled") is not True:
            yield _finding(service or store)


def _softly_deleted(bucket: Resource) -> bool:
    """Whether GCS keeps overwritten objects in the other way, the only one for hierarchical namespaces."""
    return (number(at(bucket.props, "softDeletePolicy", "retentionDurationSeconds")) or 0) > 0


def _finding(resource: Resource) -> Finding:
    return Finding(
        resource,
        "The checkpoint bucket keeps no earlier versions, so two writers on one path or a wrong delete lose "
        "the run for good. Write `checkpoints.versioning: true`; retainDays bounds what the versions cost.",
    )


POLICY = Policy(
    name="checkpoint-buckets-are-versioned",
    description="A checkpoint bucket keeps earlier versions of its objects.",
    level="advisory",
    severity="medium",
    remedy="Write `checkpoints.versioning: true`; `checkpoints.retainDays` removes old versions.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html",
    judges=WholeStack((VERSIONING, GCS_BUCKET, BLOB_SERVICE), check, about=CHECKPOINTS),
)
