"""The bucket that training resumes from."""

from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.documents import deny_plain_http, document
from spotproof.clouds.aws.names import bucket_arn
from spotproof.clouds.options import after

MULTIPART_DAYS: Final = 7
"""Parts of an upload that an evicted node never finished are paid for like objects; none takes a week."""


class CheckpointBucketArgs(TypedDict):
    """A bucket and what becomes of what is deleted from it."""

    bucket_name: str
    """Name of the bucket, at most 63 characters, unique in the world."""
    region: str
    """The AWS region."""
    protect: NotRequired[bool]
    """Refuse to delete the bucket. Default true. False: a destroy empties it and deletes it, checkpoints and all."""
    versioning: NotRequired[bool]
    """Keep what is overwritten or deleted. Default true."""
    retain_days: NotRequired[int]
    """Days it is kept. Default 30."""


class CheckpointBucket(pulumi.ComponentResource):
    """A private, encrypted (SSE-S3), versioned bucket that answers over TLS only.

    Not with a key of ours: a key that is lost takes every checkpoint along, and each one would cost a KMS request per
    part. Who may write to it is WorkspaceIdentity's business.

    A protected bucket goes in two steps: `protect: false` and `up`, then `destroy`.
    """

    bucket_name: str
    uri: str
    """`s3://<bucket>`, known at preview."""

    def __init__(self, name: str, args: CheckpointBucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        protect, versioning = args.get("protect", True), args.get("versioning", True)
        days = int(args.get("retain_days", 30))
        super().__init__(
            "spotproof:aws:CheckpointBucket",
            name,
            {"protect": protect, "versioning": versioning, "retainDays": days},
            opts,
        )
        self.bucket_name, self.uri = args["bucket_name"], f"s3://{args['bucket_name']}"
        child = pulumi.ResourceOptions(parent=self)
        bucket = aws.s3.Bucket(
            f"{name}-bucket",
            bucket=self.bucket_name,
            force_destroy=not protect,
            opts=pulumi.ResourceOptions(parent=self, protect=protect),
        )
        _guard(name, bucket, bucket_document(self.bucket_name, args["region"]), child)
        _keep_versions(name, bucket, days, child, versioning=versioning)
        # policies over the whole stack see a component's outputs, never its inputs
        self.register_outputs({"uri": self.uri, "protect": protect, "versioning": versioning, "retainDays": days})


def _guard(name: str, bucket: aws.s3.Bucket, policy: str, child: pulumi.ResourceOptions) -> None:
    """No public access in any of four ways, no ACLs, SSE-S3, TLS only."""
    aws.s3.BucketOwnershipControls(
        f"{name}-ownership", bucket=bucket.id, rule={"object_ownership": "BucketOwnerEnforced"}, opts=child
    )
    private = aws.s3.BucketPublicAccessBlock(
        f"{name}-private",
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=child,
    )
    aws.s3.BucketServerSideEncryptionConfiguration(
        f"{name}-encryption",
        bucket=bucket.id,
        rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}],
        opts=child,
    )
    # S3 answers this and the access block with OperationAborted when they arrive together
    aws.s3.BucketPolicy(f"{name}-policy", bucket=bucket.id, policy=policy, opts=after(child, private))


def _keep_versions(
    name: str, bucket: aws.s3.Bucket, days: int, child: pulumi.ResourceOptions, *, versioning: bool
) -> None:
    versions = aws.s3.BucketVersioning(
        f"{name}-versioning",
        bucket=bucket.id,
        versioning_configuration={"status": "Enabled" if versioning else "Suspended"},
        opts=child,
    )
    aws.s3.BucketLifecycleConfiguration(
        f"{name}-lifecycle",
        bucket=bucket.id,
        rules=[
            {
                "id": "old-versions",
                "status": "Enabled",
                "filter": {"prefix": ""},
                "noncurrent_version_expiration": {"noncurrent_days": days},
                "expiration": {"expired_object_delete_marker": True},
            },
            {
                "id": "unfinished-uploads",
                "status": "Enabled",
                "filter": {"prefix": ""},
                "abort_incomplete_multipart_upload": {"days_after_initiation": MULTIPART_DAYS},
            },
        ],
        opts=after(child, versions),
    )


def bucket_document(bucket: str, region: str) -> str:
    """Refuse whoever comes without TLS; rights are given to roles, not here."""
    arn = bucket_arn(bucket, region)
    return document(deny_plain_http("s3:*", [arn, f"{arn}/*"]))
