"""An eviction that leaves 143 and no condition is played through, and counts against maxRestarts or does not."""

from typing import Any

import pytest

from spotproof.controller.preflight import preflight
from spotproof.settings.fallback import Deadline
from tests.unit.controller.preflight.samples import JOB_SPEC, JOBSET, Path, changed, policy

EVICTED = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
KILLED = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [137, 143]}}
OF_EVICTED = {
    "action": "RestartJobSetAndIgnoreMaxRestarts",
    "onJobFailureReasons": ["PodFailurePolicy"],
    "onJobFailureMessagePatterns": ["matching FailJob rule at index 0$"],
}
OF_ALL = {"action": "RestartJobSetAndIgnoreMaxRestarts", "onJobFailureReasons": ["PodFailurePolicy"]}
LIMIT: Path = ("spec", "failurePolicy", "maxRestarts")
OWN_LIMIT: Path = ("metadata", "annotations", "spotproof.dev/backoff-limit")


def found(pod_rules: list[Any], job_rules: list[Any], limit: int, own: str = "5") -> list[tuple[str, str]]:
    """Codes and messages, under tiers that tolerate 5 evictions and then 2: eight in all until nothing more is said."""
    made = changed(changed(JOBSET, LIMIT, limit), OWN_LIMIT, own)
    made = changed(made, (*JOB_SPEC, "podFailurePolicy", "rules"), pod_rules)
    made = changed(made, ("spec", "failurePolicy", "rules"), job_rules)
    tiers = {"t4-spot": {"max_failures": 5}, "t4": {"max_failures": 1}}
    made_to_end = policy(tiers=tiers, failure_window=None, return_=None, deadline=Deadline())
    return [(each.code, each.message) for each in preflight(made, made_to_end, ())]


COUNTED: dict[str, tuple[list[Any], list[Any]]] = {
    "a rule says so": ([EVICTED, KILLED], [OF_EVICTED, {"action": "RestartJobSet"}]),
    "no rule of the JobSet matches": ([EVICTED, KILLED], [OF_EVICTED]),
    "no rule of the Job matches": ([EVICTED], [OF_ALL]),
    "a rule of the Job counts it": ([EVICTED, {**KILLED, "action": "Count"}], [OF_ALL]),
    "one of the two codes": (
        [EVICTED, {**KILLED, "onExitCodes": {"operator": "In", "values": [143]}}],
        [{**OF_EVICTED}, {**OF_ALL, "onJobFailureMessagePatterns": ["exit code 143 "]}],
    ),
    "of another role": ([EVICTED, KILLED], [OF_EVICTED, {**OF_ALL, "targetReplicatedJobs": ["other"]}]),
}


@pytest.mark.parametrize(("pod_rules", "job_rules"), COUNTED.values(), ids=COUNTED)
def test_a_jobset_whose_killed_pods_count_has_room_for_what_its_policy_tolerates(
    pod_rules: list[Any], job_rules: list[Any]
) -> None:
    assert found(pod_rules, job_rules, 13) == []
    ((code, message),) = found(pod_rules, job_rules, 12)
    assert code == "KilledCounts"
    assert "is 12, where pods that end with 137 or 143 count, and 13 is the least: 8 evictions" in message
    assert "and 5 errors of the job's own limit" in message


NOT_COUNTED: dict[str, tuple[list[Any], list[Any]]] = {
    "one rule for both": ([EVICTED, KILLED], [OF_ALL]),
    "a rule of their own": (
        [EVICTED, KILLED],
        [OF_EVICTED, {**OF_ALL, "onJobFailureMessagePatterns": ["exit code (137|143) matching FailJob rule"]}],
    ),
    "whatever fails": ([EVICTED], [{"action": "RestartJobSetAndIgnoreMaxRestarts"}]),
}


@pytest.mark.parametrize(("pod_rules", "job_rules"), NOT_COUNTED.values(), ids=NOT_COUNTED)
def test_one_whose_killed_pods_do_not_count_needs_its_own_limit_alone(
    pod_rules: list[Any], job_rules: list[Any]
) -> None:
    assert found(pod_rules, job_rules, 5) == []


def test_the_remedy_is_accepted() -> None:
    assert found([EVICTED, KILLED], [OF_EVICTED], 1_000_000, own="3") == []


def test_where_no_eviction_is_the_last_it_is_told_that_they_run_out() -> None:
    killed_count = changed(changed(JOBSET, LIMIT, 50), (*JOB_SPEC, "podFailurePolicy", "rules"), [EVICTED, KILLED])
    killed_count = changed(killed_count, ("spec", "failurePolicy", "rules"), [OF_EVICTED])
    (told,) = preflight(killed_count, policy(), ())
    assert (told.code, told.field, told.refuses) == ("EvictionsRunOut", "spec.failurePolicy.maxRestarts", False)
