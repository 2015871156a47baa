"""`pulumi destroy` does not take the checkpoints along, unless the settings say that it may."""

from collections.abc import Iterator

from spotproof_policies.buckets import BUCKET, CHECKPOINT_BUCKET, parts
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield how a destroy reaches checkpoints that were to stay; one that was to go in one command is left alone."""
    for checkpoints, bucket in parts(stack, BUCKET):
        if bucket is None or at(checkpoints.props, "protect") is False:
            continue
        if not bucket.protect:
            yield Finding(
                bucket,
                "The checkpoint bucket is not protected, so `pulumi destroy` deletes every run's state with the "
                "cluster. Write `checkpoints.protect: true`.",
            )
        elif at(bucket.props, "forceDestroy") is True:
            yield Finding(
                bucket,
                "The checkpoint bucket has forceDestroy, so a destroy empties it before it deletes it. Remove "
                "forceDestroy; a bucket that still holds checkpoints then stops the destroy.",
            )


POLICY = Policy(
    name="checkpoint-buckets-are-protected",
    description="A checkpoint bucket is protected from pulumi destroy, unless its settings say otherwise.",
    level="mandatory",
    severity="high",
    remedy="Write `checkpoints.protect: true` (the default).",
    url="https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",
    judges=WholeStack((CHECKPOINT_BUCKET, BUCKET), check),
)
