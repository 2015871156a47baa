"""No checkpoint can be made public, by anybody's later mistake either."""

from collections.abc import Iterator

from spotproof_policies.buckets import PUBLIC_ACCESS_BLOCK, parts
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at

_SWITCHES = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint bucket whose public access is not blocked four times over."""
    for bucket, block in parts(stack, PUBLIC_ACCESS_BLOCK):
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


POLICY = Policy(
    name="checkpoint-buckets-are-private",
    description="A checkpoint bucket blocks public access in all four ways.",
    level="mandatory",
    severity="critical",
    remedy="Use spotproof.clouds.aws.CheckpointBucket, or set all four switches of BucketPublicAccessBlock.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html",
    judges=WholeStack((PUBLIC_ACCESS_BLOCK,), check),
)
