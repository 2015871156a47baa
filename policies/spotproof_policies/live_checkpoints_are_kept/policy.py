"""What training would resume from stays: a lifecycle rule may end what was replaced, never what is current."""

from collections.abc import Iterator
from typing import Any

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    CHECKPOINTS,
    GCS_BUCKET,
    GCS_CHECKPOINTS,
    GCS_NONCURRENT,
    LIFECYCLE,
    MANAGEMENT_POLICY,
    S3_CHECKPOINTS,
    made,
)
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, rows, table, text


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every rule of a checkpoint store that deletes current objects."""
    for _, lifecycle in made(stack, S3_CHECKPOINTS, LIFECYCLE):
        for rule in rows(at(lifecycle.props, "rules")):
            if ends := _ends_in_s3(rule):
                instead = "noncurrentVersionExpiration ends what was overwritten or deleted"
                yield Finding(lifecycle, _sentence(_named(rule, "id"), f"expiration.{ends}", instead))
    for _, bucket in made(stack, GCS_CHECKPOINTS, GCS_BUCKET):
        for number, rule in enumerate(rows(at(bucket.props, "lifecycleRules"))):
            if _ends_in_gcs(rule):
                key, instead = f"lifecycleRules[{number}]", "condition.daysSinceNoncurrentTime spares what is current"
                yield Finding(bucket, _sentence(f" {key}", key, instead))
    for _, policy in made(stack, BLOB_CHECKPOINTS, MANAGEMENT_POLICY):
        for rule in rows(at(policy.props, "policy", "rules")):
            if at(rule, "enabled") is not False and table(at(rule, "definition", "actions", "baseBlob", "delete")):
                instead = "actions.version.delete ends what was overwritten or deleted"
                yield Finding(policy, _sentence(_named(rule, "name"), "actions.baseBlob.delete", instead))


def _sentence(rule: str, key: str, instead: str) -> str:
    return (
        f"The lifecycle rule{rule} deletes current objects of the checkpoint bucket, so a run that waited for "
        f"capacity, or was put aside, finds nothing to resume from and starts afresh. Remove {key}; {instead}."
    )


def _named(rule: Any, key: str) -> str:
    name = text(at(rule, key))
    return f" `{name}`" if name else ""


def _ends_in_s3(rule: Any) -> str | None:
    if at(rule, "status") != "Enabled":
        return None
    return next((key for key in ("days", "date") if at(rule, "expiration", key)), None)


def _ends_in_gcs(rule: Any) -> bool:
    condition = at(rule, "condition")
    if at(rule, "action", "type") != "Delete" or at(condition, "withState") == "ARCHIVED":
        return False
    return not any(at(condition, key) for key in GCS_NONCURRENT)


POLICY = Policy(
    name="live-checkpoints-are-kept",
    description="No lifecycle rule of a checkpoint bucket deletes current objects.",
    level="mandatory",
    severity="high",
    remedy="Leave what is current to the program that wrote it; let rules end versions alone, after "
    "`checkpoints.retainDays`.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html",
    judges=WholeStack((LIFECYCLE, GCS_BUCKET, MANAGEMENT_POLICY), check, about=CHECKPOINTS),
)
