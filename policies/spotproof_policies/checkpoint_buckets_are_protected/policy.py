"""`pulumi destroy` does not take the checkpoints along, unless the settings say that it may."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    BLOB_CONTAINER,
    BUCKET,
    CHECKPOINTS,
    GCS_BUCKET,
    GCS_CHECKPOINTS,
    S3_CHECKPOINTS,
    STORAGE_ACCOUNT,
    made,
)
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at

_HOLD_DATA: Final = (
    (S3_CHECKPOINTS, BUCKET),
    (GCS_CHECKPOINTS, GCS_BUCKET),
    (BLOB_CHECKPOINTS, STORAGE_ACCOUNT),
    (BLOB_CHECKPOINTS, BLOB_CONTAINER),
)
"""Store -> what in it is gone with everything inside when it is deleted."""


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield how a destroy reaches checkpoints that were to stay; what was to go in one command is left alone."""
    for store, part in _HOLD_DATA:
        yield from _reached(stack, store, part)


def _reached(stack: Stack, store: str, part: str) -> Iterator[Finding]:
    for checkpoints, holder in made(stack, store, part):
        if at(checkpoints.props, "protect") is False:
            continue
        what = part.rpartition(":")[2]
        if not holder.protect:
            yield Finding(
                holder,
                f"The {what} of the checkpoints is not protected, so `pulumi destroy` deletes every run's state with "
                "the cluster. Write `checkpoints.protect: true`.",
            )
        elif at(holder.props, "forceDestroy") is True:
            yield Finding(
                holder,
                f"The {what} of the checkpoints has forceDestroy, so a destroy empties it before it deletes it. Remove "
                "forceDestroy; a bucket that still holds checkpoints then stops the destroy.",
            )


POLICY = Policy(
    name="checkpoint-buckets-are-protected",
    description="A checkpoint bucket is protected from pulumi destroy, unless its settings say otherwise.",
    level="mandatory",
    severity="high",
    remedy="Write `checkpoints.protect: true` (the default).",
    url="https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",
    judges=WholeStack((*CHECKPOINTS, *(part for _, part in _HOLD_DATA)), check, about=CHECKPOINTS),
)
