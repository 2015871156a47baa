"""Checkpoints travel over TLS only, and over one that is not broken."""

from collections.abc import Iterator

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    BUCKET_POLICY,
    CHECKPOINTS,
    S3_CHECKPOINTS,
    STORAGE_ACCOUNT,
    made,
    parts,
)
from spotproof_policies.documents import refuses_plain_http
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, json_document, text

_TLS = ("TLS1_2", "TLS1_3")


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint store that answers requests without TLS. GCS takes no credentials without it."""
    yield from _in_s3(stack)
    yield from _in_blob(stack)


def _in_s3(stack: Stack) -> Iterator[Finding]:
    for bucket, policy in parts(stack, S3_CHECKPOINTS, BUCKET_POLICY):
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


def _in_blob(stack: Stack) -> Iterator[Finding]:
    for _, account in made(stack, BLOB_CHECKPOINTS, STORAGE_ACCOUNT):
        # On when nothing is written, since the API of 2019-04-01.
        if at(account.props, "enableHttpsTrafficOnly") is False:
            yield Finding(
                account,
                "The storage account of the checkpoints answers over plain HTTP, so checkpoints can be read on their "
                "way. Write enableHttpsTrafficOnly: true.",
            )
        if text(at(account.props, "minimumTlsVersion")) not in _TLS:
            yield Finding(
                account,
                "The storage account of the checkpoints takes TLS 1.0 (the API's default), so checkpoints can be read "
                'on their way. Write minimumTlsVersion: "TLS1_2".',
            )


POLICY = Policy(
    name="checkpoint-buckets-refuse-plain-http",
    description="A checkpoint bucket refuses requests without TLS.",
    level="mandatory",
    severity="high",
    remedy="Use the checkpoint component of spotproof.clouds, or write what the sentence names.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html",
    judges=WholeStack((BUCKET_POLICY, STORAGE_ACCOUNT), check, about=CHECKPOINTS),
)
