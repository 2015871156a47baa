"""How often and how long KubeRay lets a RayJob try: never less than the policy does."""

from collections.abc import Iterator
from typing import Final

from spotproof.controller.annotations import backoff_limit_of
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View

ENOUGH: Final = 1000
"""Attempts that no job uses up: on the roughest recorded market (docs/how-to/choose-max-failures.md) 24 days of running
in which each eviction ends one."""


def retries(view: View) -> Iterator[Finding]:
    """KubeRay counts every attempt that failed, whatever failed it, and ends a job by its own clocks for good."""
    evictions, errors = view.evictions, backoff_limit_of(view.job) or 0
    limit = view.spec.get("backoffLimit") or 0
    if limit < evictions + errors:
        parts = f"{evictions} evictions until the policy has no more to say, and {errors} errors of the job's own limit"
        yield finding("RayBackoffLimit", "spec.backoffLimit", limit=limit, needed=evictions + errors, sum=parts)
    elif view.is_endless and limit < ENOUGH:
        yield finding("EvictionsRunOut", "spec.backoffLimit", limit=limit)
    if seconds := view.spec.get("preRunningDeadlineSeconds"):
        yield finding("PreRunningDeadline", "spec.preRunningDeadlineSeconds", seconds=seconds)
    if seconds := view.spec.get("activeDeadlineSeconds"):
        yield finding("ActiveDeadline", "spec.activeDeadlineSeconds", seconds=seconds)
