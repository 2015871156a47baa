"""Checkpoints travel over TLS only."""

from collections.abc import Iterator

from spotproof_policies.buckets import BUCKET_POLICY, parts
from spotproof_policies.documents import refuses_plain_http
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, json_document


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint bucket that answers requests without TLS."""
    for bucket, policy in parts(stack, BUCKET_POLICY):
        if policy is None:
            yield Finding(
                bucket,
                "The checkpoint bucket has no bucket policy, so it answers requests over plain HTTP. "
                "Add a BucketPolicy that denies s3:* to everybody when aws:SecureTransport is false.",
            )
        elif not refuses_plain_http(json_document(at(policy.props, "policy")), "s3:*"):
            yield Finding(
                policy,
                "The policy of the checkpoint bucket does not refuse plain HTTP, so checkpoints can be read on their "
                "way. Deny s3:* to Principal * when aws:SecureTransport is false.",
            )


POLICY = Policy(
    name="checkpoint-buckets-refuse-plain-http",
    description="A checkpoint bucket refuses requests without TLS.",
    level="mandatory",
    severity="high",
    remedy="Use spotproof.clouds.aws.CheckpointBucket, or deny s3:* when aws:SecureTransport is false.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html",
    judges=WholeStack((BUCKET_POLICY,), check),
)
