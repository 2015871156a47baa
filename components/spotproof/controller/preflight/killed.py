"""A pod that is evicted by force leaves no condition, only 137 or 143: maxRestarts has room for those, or counts none.

Forced deletes of AKS, and of Karpenter after its grace, are such evictions. Played through as in eviction.py, for a
failure that no rule on DisruptionTarget matches.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spotproof.controller.annotations import backoff_limit_of
from spotproof.controller.preflight.eviction import FAIL_JOB, KILLED, REASON, is_readable
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.retries import ENOUGH
from spotproof.controller.preflight.view import View

COUNTED: Final = "RestartJobSet"
"""Also what JobSet does where no rule matches."""
BACKOFF: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
"""Reason and message of a Job whose pod failed by no rule: its backoffLimit is 0."""

Rules = Sequence[Mapping[str, Any]]


def killed(view: View) -> Iterator[Finding]:
    """Where a pod that ends with 137 or 143 uses up maxRestarts, that is no less than the policy tolerates."""
    policy = view.spec.get("failurePolicy") or {}
    evictions, errors = view.evictions, backoff_limit_of(view.job) or 0
    limit, needed, field = policy.get("maxRestarts") or 0, evictions + errors, "spec.failurePolicy.maxRestarts"
    if not any(_is_counted(policy.get("rules") or [], *each) for each in _failures(view)):
        return
    if limit < needed:
        parts = f"{evictions} evictions until the policy has no more to say, and {errors} errors of the job's own limit"
        yield finding("KilledCounts", field, limit=limit, needed=needed, sum=parts)
    elif view.is_endless and limit < ENOUGH:
        yield finding("EvictionsRunOut", field, limit=limit)


def _failures(view: View) -> Iterator[tuple[str, str, str]]:
    """Role, reason and message with which a Job fails whose pod was killed."""
    for each in view.spec.get("replicatedJobs", []):
        rules: Rules = (each.get("template", {}).get("spec", {}).get("podFailurePolicy") or {}).get("rules") or []
        for code in sorted(KILLED):
            index = next((index for index, rule in enumerate(rules) if _matches(rule, code)), None)
            if index is None or rules[index]["action"] == "Count":
                yield each["name"], *BACKOFF
            elif rules[index]["action"] == FAIL_JOB:
                said = f"Container c for pod a/b failed with exit code {code} matching FailJob rule at index {index}"
                yield each["name"], REASON, said


def _matches(rule: Mapping[str, Any], code: int) -> bool:
    codes = rule.get("onExitCodes")
    return bool(codes) and (code in (codes.get("values") or [])) == (codes.get("operator", "In") == "In")


def _is_counted(rules: Rules, role: str, reason: str, message: str) -> bool:
    """Whether the restart counts, by the first rule that matches; of patterns that are not read eviction.py tells."""
    for rule in rules:
        if (rule.get("targetReplicatedJobs") and role not in rule["targetReplicatedJobs"]) or (
            rule.get("onJobFailureReasons") and reason not in rule["onJobFailureReasons"]
        ):
            continue
        patterns: list[str] = rule.get("onJobFailureMessagePatterns") or []
        if not patterns or any(is_readable(each) and re.search(each, message) for each in patterns):
            return rule["action"] == COUNTED
    return True
