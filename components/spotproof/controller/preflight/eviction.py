"""An eviction fails the child Job, and restarts the JobSet without counting: both rules are there, and come first.

Played through as the Job controller and JobSet 0.12 do it (pod_failure_policy.go, failure_policy.go): the first rule
that matches decides, by the reason and the message of the failed Job.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View
from spotproof.settings.errors import shown

FAIL_JOB: Final = "FailJob"
REASON: Final = "PodFailurePolicy"
NOT_COUNTED: Final = "RestartJobSetAndIgnoreMaxRestarts"
KILLED: Final = frozenset({137, 143})
"""Exit codes of a container that was ended by SIGKILL or SIGTERM."""
OUTCOMES: Final = {
    "FailJobSet": "end the job for good",
    "RestartJobSet": "use up maxRestarts, and a JobSet that has failed cannot be revived",
    "RestartJob": "restart one Job, and leave the others hanging",
    "RestartJobAndIgnoreMaxRestarts": "restart one Job, and leave the others hanging",
}

Rules = Sequence[Mapping[str, Any]]


def eviction(view: View) -> Iterator[Finding]:
    """What becomes of the JobSet where a pod of each of its Jobs is evicted."""
    told: set[str] = set()
    for index, each in enumerate(view.spec.get("replicatedJobs", [])):
        field = f"spec.replicatedJobs[{index}].template.spec.podFailurePolicy"
        rules: Rules = (each.get("template", {}).get("spec", {}).get("podFailurePolicy") or {}).get("rules") or []
        hidden, messages = _failures(rules)
        if hidden is not None:
            yield finding("EvictionRuleHidden", f"{field}.rules[{hidden}]", action=rules[hidden]["action"])
        elif not messages:
            yield finding("EvictionRule", field)
        for message in messages:
            found = _restart(view, each["name"], message)
            if found is not None and found.field not in told:
                told.add(found.field)
                yield found


def _failures(rules: Rules) -> tuple[int | None, list[str]]:
    """Messages with which an evicted pod may fail its Job; or else the rule that would keep it from failing so."""
    messages: list[str] = []
    for index, rule in enumerate(rules):
        is_evicted, is_killed = _matches_eviction(rule), _matches_killed(rule)
        if (is_evicted or is_killed) and rule["action"] != FAIL_JOB:
            return index, []
        if is_evicted:
            return None, [*messages, f"Pod a/b has condition DisruptionTarget matching FailJob rule at index {index}"]
        if is_killed:
            messages += [
                f"Container c for pod a/b failed with exit code {code} matching FailJob rule at index {index}"
                for code in sorted(KILLED)
                if _has(rule["onExitCodes"], code)
            ]
    return None, []


def _matches_eviction(rule: Mapping[str, Any]) -> bool:
    return any(
        each.get("type") == "DisruptionTarget" and each.get("status", "True") == "True"
        for each in rule.get("onPodConditions") or []
    )


def _matches_killed(rule: Mapping[str, Any]) -> bool:
    return bool(rule.get("onExitCodes")) and any(_has(rule["onExitCodes"], code) for code in KILLED)


def _has(codes: Mapping[str, Any], code: int) -> bool:
    return (code in (codes.get("values") or [])) == (codes.get("operator", "In") == "In")


def _restart(view: View, role: str, message: str) -> Finding | None:
    """What is wrong with the first rule of the JobSet that such a failure meets."""
    field = "spec.failurePolicy.rules"
    rules: Rules = (view.spec.get("failurePolicy") or {}).get("rules") or []
    for index, rule in enumerate(rules):
        if (rule.get("targetReplicatedJobs") and role not in rule["targetReplicatedJobs"]) or (
            rule.get("onJobFailureReasons") and REASON not in rule["onJobFailureReasons"]
        ):
            continue
        patterns: list[str] = rule.get("onJobFailureMessagePatterns") or []
        readable = [each for each in patterns if is_readable(each)]
        if not patterns or any(re.search(each, message) for each in readable):
            if rule["action"] == NOT_COUNTED:
                return None
            outcome = OUTCOMES.get(rule["action"], "not restart the gang")
            return finding("RestartRuleHidden", f"{field}[{index}]", action=rule["action"], outcome=outcome)
        if unread := [each for each in patterns if each not in readable]:
            return finding("RestartRuleUnread", f"{field}[{index}]", pattern=shown(unread[0]))
    return finding("RestartRule", field)


LONGEST_PATTERN: Final = 300
MOST_REPETITIONS: Final = 2
FOREIGN: Final = re.compile(r"\\[pPzQEC]|\[\[|\(\?[=!<P]|\)[*+?{]|\|\||--|&&|~~")
"""What Go reads otherwise than Python does or will (its set operations), and repetitions of groups."""


def is_readable(pattern: str) -> bool:
    """Whether a pattern of a job's author may be tried here.

    Go's expressions take linear time whatever they are; Python's can take years, and one job must not stop the
    controller for all others. With two repetitions of single characters they stay cubic in a short message.
    """
    if len(pattern) > LONGEST_PATTERN or FOREIGN.search(pattern):
        return False
    if sum(pattern.count(each) for each in "*+?{") > MOST_REPETITIONS:
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
