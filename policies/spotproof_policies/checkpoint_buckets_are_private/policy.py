"""No checkpoint can be made public, by anybody's later mistake either."""

from collections.abc import Iterator

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    CHECKPOINTS,
    GCS_BUCKET,
    GCS_CHECKPOINTS,
    PUBLIC_ACCESS_BLOCK,
    S3_CHECKPOINTS,
    STORAGE_ACCOUNT,
    made,
    parts,
)
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at

_SWITCHES = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint store that one wrong setting elsewhere could publish."""
    yield from _in_s3(stack)
    yield from _in_gcs(stack)
    yield from _in_blob(stack)


def _in_s3(stack: Stack) -> Iterator[Finding]:
    for bucket, block in parts(stack, S3_CHECKPOINTS, PUBLIC_ACCESS_BLOCK):
        if block is None:
            yield Finding(
                bucket,
                "The checkpoint bucket has no public access block, so one wrong policy or ACL publishes model weights. "
                f"Add a BucketPublicAccessBlock with {', '.join(_SWITCHES)} all true.",
            )
            continue
        off = [switch for switch in _SWITCHES if at(block.props, switch) is not True]
        if off:
            yield Finding(
                block,
                f"The public access block of the checkpoint bucket leaves {', '.join(off)} off, so one wrong policy or "
                "ACL publishes model weights. Set all four to true.",
            )


def _in_gcs(stack: Stack) -> Iterator[Finding]:
    for _, bucket in made(stack, GCS_CHECKPOINTS, GCS_BUCKET):
        if at(bucket.props, "publicAccessPrevention") != "enforced":
            yield Finding(
                bucket,
                "The checkpoint bucket leaves public access to the organisation's policy, so one binding of allUsers "
                'publishes model weights. Write publicAccessPrevention: "enforced".',
            )
        if at(bucket.props, "uniformBucketLevelAccess") is not True:
            yield Finding(
                bucket,
                "The checkpoint bucket has ACLs beside IAM, so an object can be open to somebody whom no IAM policy "
                "names. Write uniformBucketLevelAccess: true.",
            )


def _in_blob(stack: Stack) -> Iterator[Finding]:
    for _, account in made(stack, BLOB_CHECKPOINTS, STORAGE_ACCOUNT):
        for switch, harm in (
            ("allowBlobPublicAccess", "one container set to public publishes model weights"),
            ("allowSharedKeyAccess", "whoever has the account's key reads all of it, and no log says who"),
        ):
            if at(account.props, switch) is not False:
                yield Finding(
                    account,
                    f"The storage account of the checkpoints does not set {switch} to false, so {harm}. "
                    f"Write {switch}: false.",
                )


POLICY = Policy(
    name="checkpoint-buckets-are-private",
    description="A checkpoint bucket can be made public by nobody, and keys open it to nobody.",
    level="mandatory",
    severity="critical",
    remedy="Use the checkpoint component of spotproof.clouds, or write what the sentence names.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html",
    judges=WholeStack((PUBLIC_ACCESS_BLOCK, GCS_BUCKET, STORAGE_ACCOUNT), check, about=CHECKPOINTS),
)
