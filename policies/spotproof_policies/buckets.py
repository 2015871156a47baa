"""Finds the parts of a checkpoint bucket: children of one component, so that no unknown name is touched."""

from typing import Final

from spotproof_policies.model import Resource, Stack

CHECKPOINT_BUCKET: Final = "spotproof:aws:CheckpointBucket"
BUCKET: Final = "aws:s3/bucket:Bucket"
PUBLIC_ACCESS_BLOCK: Final = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
VERSIONING: Final = "aws:s3/bucketVersioning:BucketVersioning"
ENCRYPTION: Final = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
BUCKET_POLICY: Final = "aws:s3/bucketPolicy:BucketPolicy"


def parts(stack: Stack, part: str) -> list[tuple[Resource, Resource | None]]:
    """Every checkpoint bucket with its first child of the given type, or None when it has none."""
    return [(bucket, next(iter(stack.children(bucket, part)), None)) for bucket in stack.of(CHECKPOINT_BUCKET)]
