"""Whether GCS bills overwritten checkpoints for another week is somebody's decision."""

from collections.abc import Iterator

from spotproof_policies.buckets import GCS_BUCKET, GCS_CHECKPOINTS, made
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, number

_RETENTION = "softDeletePolicy.retentionDurationSeconds"
_LEAST_SECONDS = 604_800
_MOST_SECONDS = 7_776_000


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint bucket that leaves soft delete to GCS, or writes what GCS refuses."""
    for _, bucket in made(stack, GCS_CHECKPOINTS, GCS_BUCKET):
        seconds = number(at(bucket.props, "softDeletePolicy", "retentionDurationSeconds"))
        if seconds is None:
            yield Finding(
                bucket,
                "The checkpoint bucket says nothing of soft delete, so GCS keeps and bills every overwritten "
                f"checkpoint for 7 days, on top of versions. Write {_RETENTION}: 0, or the days you want.",
            )
        elif seconds != 0 and not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
            yield Finding(
                bucket,
                f"The soft delete of the checkpoint bucket is {seconds:g} s, which GCS refuses. Write {_RETENTION} as "
                f"0, or {_LEAST_SECONDS} (7 days) to {_MOST_SECONDS} (90 days).",
            )


POLICY = Policy(
    name="soft-delete-is-chosen",
    description="A checkpoint bucket on GCS says how long overwritten objects are kept and billed.",
    level="mandatory",
    severity="low",
    remedy=f"Write {_RETENTION}; 0 where versioning keeps earlier checkpoints.",
    url="https://cloud.google.com/storage/docs/soft-delete",
    judges=WholeStack((GCS_BUCKET,), check, about=(GCS_CHECKPOINTS,)),
)
