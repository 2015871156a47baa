"""The gang restarts as a whole, or not at all: what each child Job of a JobSet must leave to the JobSet."""

from collections.abc import Iterator
from typing import Final

from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View
from spotproof.settings.errors import shown

RESTART_POLICY: Final = "OnFailure"
BACKOFF_LIMIT: Final = 6
REPLACEMENT: Final = "TerminatingOrFailed"
"""What they are where nobody wrote them (JobSet's webhook, batch/v1)."""


def gang(view: View) -> Iterator[Finding]:
    """No container restarts in place, no Job replaces a pod or ends by its own clock, no pod starts beside another."""
    for index, each in enumerate(view.spec.get("replicatedJobs", [])):
        job = each.get("template", {}).get("spec", {})
        field = f"spec.replicatedJobs[{index}].template.spec"
        policy = job.get("template", {}).get("spec", {}).get("restartPolicy")
        if policy != "Never":
            written = policy or f"not written, which means {RESTART_POLICY}"
            yield finding("RestartPolicy", f"{field}.template.spec.restartPolicy", policy=written)
        limit = job.get("backoffLimit")
        if limit != 0:
            written = shown(limit) if limit is not None else f"not written, which means {BACKOFF_LIMIT}"
            yield finding("JobBackoffLimit", f"{field}.backoffLimit", limit=written)
        replacement = job.get("podReplacementPolicy")
        if replacement != "Failed":
            written = replacement or f"not written, which may mean {REPLACEMENT}"
            yield finding("PodReplacement", f"{field}.podReplacementPolicy", policy=written)
        if seconds := job.get("activeDeadlineSeconds"):
            yield finding("JobDeadline", f"{field}.activeDeadlineSeconds", seconds=seconds)
