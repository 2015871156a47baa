"""A checkpoint that was overwritten or deleted can be had back. The user may choose otherwise."""

from collections.abc import Iterator

from spotproof_policies.buckets import VERSIONING, parts
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every checkpoint bucket that keeps no earlier versions."""
    for bucket, versioning in parts(stack, VERSIONING):
        status = at(versioning.props, "versioningConfiguration", "status") if versioning else None
        if status != "Enabled":
            yield Finding(
                versioning or bucket,
                "The checkpoint bucket keeps no earlier versions, so two writers on one path or a wrong delete lose "
                "the run for good. Write `checkpoints.versioning: true`; retainDays bounds what the versions cost.",
            )


POLICY = Policy(
    name="checkpoint-buckets-are-versioned",
    description="A checkpoint bucket keeps earlier versions of its objects.",
    level="advisory",
    severity="medium",
    remedy="Write `checkpoints.versioning: true`; `checkpoints.retainDays` removes old versions.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html",
    judges=WholeStack((VERSIONING,), check),
)
