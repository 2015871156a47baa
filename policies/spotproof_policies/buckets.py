"""Finds the parts of a checkpoint store: children of one component, so that no unknown name is touched."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.model import Resource, Stack

S3_CHECKPOINTS: Final = "spotproof:aws:CheckpointBucket"
BUCKET: Final = "aws:s3/bucket:Bucket"
PUBLIC_ACCESS_BLOCK: Final = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
VERSIONING: Final = "aws:s3/bucketVersioning:BucketVersioning"
ENCRYPTION: Final = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
BUCKET_POLICY: Final = "aws:s3/bucketPolicy:BucketPolicy"
LIFECYCLE: Final = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"

GCS_CHECKPOINTS: Final = "spotproof:gcp:CheckpointBucket"
GCS_BUCKET: Final = "gcp:storage/bucket:Bucket"
GCS_NONCURRENT: Final = ("daysSinceNoncurrentTime", "numNewerVersions", "noncurrentTimeBefore")
"""Conditions of a lifecycle rule that no current object meets; all conditions of a rule must hold."""

BLOB_CHECKPOINTS: Final = "spotproof:azure:CheckpointContainers"
STORAGE_ACCOUNT: Final = "azure-native:storage:StorageAccount"
BLOB_CONTAINER: Final = "azure-native:storage:BlobContainer"
BLOB_SERVICE: Final = "azure-native:storage:BlobServiceProperties"
MANAGEMENT_POLICY: Final = "azure-native:storage:ManagementPolicy"

CHECKPOINTS: Final = (S3_CHECKPOINTS, GCS_CHECKPOINTS, BLOB_CHECKPOINTS)


def parts(stack: Stack, store: str, part: str) -> list[tuple[Resource, Resource | None]]:
    """Every checkpoint store of a kind with its first child of the given type, or None when it has none."""
    return [(found, next(iter(stack.children(found, part)), None)) for found in stack.of(store)]


def made(stack: Stack, store: str, part: str) -> Iterator[tuple[Resource, Resource]]:
    """Every child of one type with its checkpoint store; a store without one keeps them elsewhere."""
    return ((found, child) for found in stack.of(store) for child in stack.children(found, part))
