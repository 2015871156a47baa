"""Checkpoints are encrypted at rest by a rule that stands in the program."""

from collections.abc import Iterator

from spotproof_policies.buckets import CHECKPOINTS, ENCRYPTION, S3_CHECKPOINTS, parts
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, rows, text

_ALGORITHMS = ("AES256", "aws:kms", "aws:kms:dsse")


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every S3 bucket without a default encryption rule. GCS and Azure Storage leave no choice: always on."""
    for bucket, encryption in parts(stack, S3_CHECKPOINTS, ENCRYPTION):
        if encryption is None:
            yield Finding(
                bucket,
                "The checkpoint bucket states no encryption, so an auditor finds a default nobody chose. "
                "Add a BucketServerSideEncryptionConfiguration with sseAlgorithm AES256 or aws:kms.",
            )
            continue
        algorithms = {
            text(at(rule, "applyServerSideEncryptionByDefault", "sseAlgorithm"))
            for rule in rows(at(encryption.props, "rules"))
        }
        if not algorithms & set(_ALGORITHMS):
            yield Finding(
                encryption,
                "The encryption of the checkpoint bucket names no algorithm that S3 knows, so the update fails. "
                f"Write sseAlgorithm as one of {', '.join(_ALGORITHMS)}.",
            )


POLICY = Policy(
    name="checkpoint-buckets-are-encrypted",
    description="A checkpoint bucket has a default encryption rule.",
    level="mandatory",
    severity="high",
    remedy="Use spotproof.clouds.aws.CheckpointBucket, or add a BucketServerSideEncryptionConfiguration.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-encryption.html",
    judges=WholeStack((ENCRYPTION,), check, about=CHECKPOINTS),
)
