"""The bucket that training resumes from."""

from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp

MULTIPART_DAYS: Final = 7
"""Parts of an upload that an evicted node never finished are paid for like objects; none takes a week."""


class CheckpointBucketArgs(TypedDict):
    """A bucket and what becomes of what is deleted from it."""

    bucket_name: str
    """Name of the bucket, at most 63 characters, unique in the world."""
    region: str
    """The region."""
    protect: NotRequired[bool]
    """Refuse to delete the bucket. Default true. False: a destroy empties it and deletes it, checkpoints and all."""
    versioning: NotRequired[bool]
    """Keep what is overwritten or deleted. Default true. False: the bucket has a hierarchical namespace instead, whose
    folders are renamed at once, and which excludes versions. For the life of the bucket."""
    retain_days: NotRequired[int]
    """Days it is kept. Default 30."""
    tags: NotRequired[dict[str, str]]
    """Labels of the bucket, beside those of the provider."""


class CheckpointBucket(pulumi.ComponentResource):
    """A private bucket, encrypted by Google, with versions or with a hierarchical namespace, never both.

    Soft delete is off: it is on by itself for seven days, and bills every checkpoint that is overwritten or deleted
    meanwhile, beside the versions. Who may write to the bucket is WorkspaceIdentity's business.

    A protected bucket goes in two steps: `protect: false` and `up`, then `destroy`.
    """

    bucket_name: str
    uri: str
    """`gs://<bucket>`, known at preview."""
    resource: gcp.storage.Bucket

    def __init__(self, name: str, args: CheckpointBucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        protect, versioning = args.get("protect", True), args.get("versioning", True)
        days = int(args.get("retain_days", 30))
        super().__init__(
            "spotproof:gcp:CheckpointBucket",
            name,
            {"protect": protect, "versioning": versioning, "retainDays": days},
            opts,
        )
        self.bucket_name, self.uri = args["bucket_name"], f"gs://{args['bucket_name']}"
        self.resource = gcp.storage.Bucket(
            f"{name}-bucket",
            name=self.bucket_name,
            location=args["region"].upper(),  # as the API gives it back
            force_destroy=not protect,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            soft_delete_policy={"retention_duration_seconds": 0},
            versioning={"enabled": versioning},
            hierarchical_namespace=None if versioning else {"enabled": True},
            lifecycle_rules=lifecycle(days, versioning=versioning),
            labels=args.get("tags"),
            opts=pulumi.ResourceOptions(parent=self, protect=protect),
        )
        # policies over the whole stack see a component's outputs, never its inputs
        self.register_outputs({"uri": self.uri, "protect": protect, "versioning": versioning, "retainDays": days})


def lifecycle(days: int, *, versioning: bool) -> list[Any]:
    """Old versions end after so many days; unfinished uploads in any case."""
    unfinished = {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": MULTIPART_DAYS}}
    versions = {
        "action": {"type": "Delete"},
        "condition": {"days_since_noncurrent_time": days, "with_state": "ARCHIVED"},
    }
    return [*([versions] if versioning else []), unfinished]
