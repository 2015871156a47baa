"""Earlier versions of checkpoints go after the time that was said: a run overwrites its state for weeks."""

from collections.abc import Iterator
from typing import Any

from spotproof_policies.buckets import (
    BLOB_CHECKPOINTS,
    BLOB_SERVICE,
    CHECKPOINTS,
    GCS_BUCKET,
    GCS_CHECKPOINTS,
    GCS_NONCURRENT,
    LIFECYCLE,
    MANAGEMENT_POLICY,
    S3_CHECKPOINTS,
    VERSIONING,
    made,
    parts,
)
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack
from spotproof_policies.reading import at, number, rows

_COSTS = (
    "The checkpoint bucket keeps earlier versions for ever, so its bill grows with every checkpoint that is "
    "overwritten. "
)


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every versioned checkpoint store without a rule that ends versions, or with one for other days."""
    yield from _in_s3(stack)
    yield from _in_gcs(stack)
    yield from _in_blob(stack)


def _in_gcs(stack: Stack) -> Iterator[Finding]:
    for store, bucket in made(stack, GCS_CHECKPOINTS, GCS_BUCKET):
        if at(bucket.props, "versioning", "enabled") is not True:
            continue
        ends = [rule for rule in rows(at(bucket.props, "lifecycleRules")) if _ends_in_gcs(rule)]
        if not ends:
            yield Finding(
                bucket,
                f"{_COSTS}Add a lifecycle rule with action Delete and daysSinceNoncurrentTime or numNewerVersions.",
            )
        for rule in ends:
            days = number(at(rule, "condition", "daysSinceNoncurrentTime"))
            yield from _other_days(store, bucket, days, "condition.daysSinceNoncurrentTime")


def _in_s3(stack: Stack) -> Iterator[Finding]:
    lifecycles = dict(_by_store(stack, S3_CHECKPOINTS, LIFECYCLE))
    for store, versioning in parts(stack, S3_CHECKPOINTS, VERSIONING):
        if versioning is None or at(versioning.props, "versioningConfiguration", "status") != "Enabled":
            continue
        rules = rows(at(lifecycles.get(store.urn), "rules"))
        ends = [days for rule in rules if (days := at(rule, "noncurrentVersionExpiration", "noncurrentDays"))]
        if not ends:
            yield Finding(
                versioning,
                f"{_COSTS}Add a rule with noncurrentVersionExpiration to a BucketLifecycleConfiguration.",
            )
        for days in ends:
            yield from _other_days(store, versioning, number(days), "noncurrentVersionExpiration.noncurrentDays")


def _in_blob(stack: Stack) -> Iterator[Finding]:
    policies = dict(_by_store(stack, BLOB_CHECKPOINTS, MANAGEMENT_POLICY))
    for store, service in parts(stack, BLOB_CHECKPOINTS, BLOB_SERVICE):
        if service is None or at(service.props, "isVersioningEnabled") is not True:
            continue
        rules = rows(at(policies.get(store.urn), "policy", "rules"))
        ends = [found for rule in rules if (found := at(rule, "definition", "actions", "version", "delete"))]
        if not ends:
            yield Finding(
                service,
                f"{_COSTS}Soft delete does not end them: add a ManagementPolicy with "
                "actions.version.delete.daysAfterCreationGreaterThan.",
            )
        # what a rule deletes, soft delete keeps for some days more
        soft = at(service.props, "deleteRetentionPolicy")
        more = (number(at(soft, "days")) or 0.0) if at(soft, "enabled") is True else 0.0
        for found in ends:
            days = number(at(found, "daysAfterCreationGreaterThan"))
            key = "daysAfterCreationGreaterThan and the days of soft delete, which together"
            yield from _other_days(store, service, None if days is None else days + more, key)


def _other_days(store: Resource, said_of: Resource, days: float | None, key: str) -> Iterator[Finding]:
    """Says where a rule keeps versions for other days than the store was made for; older stores do not say theirs."""
    wanted = number(at(store.props, "retainDays"))
    if wanted is None or days is None or days == wanted:
        return
    sooner = "cannot be had back when somebody misses it" if days < wanted else "is paid for longer than anybody said"
    yield Finding(
        said_of,
        f"What is overwritten or deleted goes after {days:g} days, and retainDays is {wanted:g}, so a checkpoint "
        f"{sooner}. Write `checkpoints.retainDays: {days:g}`, or let {key} be {wanted:g}.",
    )


def _by_store(stack: Stack, store: str, part: str) -> Iterator[tuple[str, Any]]:
    return ((found.urn, child.props) for found, child in parts(stack, store, part) if child is not None)


def _ends_in_gcs(rule: Any) -> bool:
    condition = at(rule, "condition")
    if at(rule, "action", "type") != "Delete":
        return False
    return any(at(condition, key) for key in GCS_NONCURRENT)


POLICY = Policy(
    name="checkpoint-versions-expire",
    description="A checkpoint bucket that keeps earlier versions has a rule that removes them, after retainDays.",
    level="mandatory",
    severity="medium",
    remedy="Write `checkpoints.retainDays`; in a program of your own, the rule that the sentence names.",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-configuration-examples.html",
    judges=WholeStack(
        (*CHECKPOINTS, VERSIONING, LIFECYCLE, GCS_BUCKET, BLOB_SERVICE, MANAGEMENT_POLICY), check, about=CHECKPOINTS
    ),
)
