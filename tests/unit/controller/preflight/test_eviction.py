"""The rules of Job and JobSet are played through as their controllers do it: the first that matches decides."""

import gc
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.controller.preflight import Finding, preflight
from spotproof.controller.preflight.eviction import is_readable
from tests.unit.controller.preflight.samples import JOB_SPEC, JOBSET, changed, policy

EVICTED = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
KILLED = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [137, 143]}}
NOT_COUNTED = {"name": "evicted", "action": "RestartJobSetAndIgnoreMaxRestarts"}


def exit_codes(action: str, operator: str, *values: int) -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(values)}}


def found(pod_rules: list[Any] | None = None, job_rules: list[Any] | None = None) -> tuple[Finding, ...]:
    made = JOBSET
    if pod_rules is not None:
        made = changed(made, (*JOB_SPEC, "podFailurePolicy", "rules"), pod_rules)
    if job_rules is not None:
        made = changed(made, ("spec", "failurePolicy", "rules"), job_rules)
    return preflight(made, policy(), ())


@pytest.mark.parametrize(
    "rules",
    [
        [EVICTED],
        [EVICTED, exit_codes("Ignore", "In", 143)],
        [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}],
        [exit_codes("Count", "In", 3), EVICTED],
        [exit_codes("Ignore", "NotIn", 1, 137, 143), EVICTED],
        [{"action": "Ignore", "onPodConditions": [{"type": "ConfigIssue"}]}, EVICTED],
        [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "False"}]}, EVICTED],
    ],
)
def test_a_rule_that_fails_the_job_with_an_evicted_pod_is_enough_where_it_comes_first(rules: list[Any]) -> None:
    assert found(rules, [NOT_COUNTED]) == ()


@pytest.mark.parametrize(
    ("rules", "code", "place"),
    [
        ([], "EvictionRule", ""),
        ([exit_codes("FailJob", "In", 3)], "EvictionRule", ""),
        ([KILLED], "EvictionRule", ""),
        ([{**EVICTED, "action": "Ignore"}, EVICTED], "EvictionRuleHidden", ".rules[0]"),
        ([{**EVICTED, "action": "Count"}], "EvictionRuleHidden", ".rules[0]"),
        ([exit_codes("Ignore", "In", 1, 143), EVICTED], "EvictionRuleHidden", ".rules[0]"),
        ([exit_codes("FailJob", "In", 3), exit_codes("Count", "NotIn", 1), EVICTED], "EvictionRuleHidden", ".rules[1]"),
    ],
)
def test_a_job_that_would_go_on_without_its_evicted_pod_is_refused(rules: list[Any], code: str, place: str) -> None:
    (refused,) = found(rules)
    assert (refused.code, refused.field) == (code, f"spec.replicatedJobs[0].template.spec.podFailurePolicy{place}")


@pytest.mark.parametrize(
    "rules",
    [
        [NOT_COUNTED],
        [{**NOT_COUNTED, "onJobFailureReasons": ["PodFailurePolicy"]}],
        [{**NOT_COUNTED, "onJobFailureMessagePatterns": ["DisruptionTarget"]}],
        [{**NOT_COUNTED, "onJobFailureMessagePatterns": ["never", "^Pod .*/.* has condition"]}],
        [{**NOT_COUNTED, "targetReplicatedJobs": ["worker"]}],
        [{"action": "FailJobSet", "onJobFailureReasons": ["BackoffLimitExceeded"]}, NOT_COUNTED],
        [{"action": "FailJobSet", "targetReplicatedJobs": ["other"]}, NOT_COUNTED],
        [{"action": "FailJobSet", "onJobFailureMessagePatterns": ["exit code 3 "]}, NOT_COUNTED],
    ],
)
def test_a_jobset_that_restarts_uncounted_after_an_eviction_is_accepted(rules: list[Any]) -> None:
    assert found(None, rules) == ()


@pytest.mark.parametrize(
    ("rules", "code", "field"),
    [
        ([], "RestartRule", ""),
        ([{**NOT_COUNTED, "onJobFailureReasons": ["BackoffLimitExceeded"]}], "RestartRule", ""),
        ([{**NOT_COUNTED, "targetReplicatedJobs": ["other"]}], "RestartRule", ""),
        ([{**NOT_COUNTED, "onJobFailureMessagePatterns": ["index 7$"]}], "RestartRule", ""),
        ([{"action": "RestartJobSet"}, NOT_COUNTED], "RestartRuleHidden", "[0]"),
        ([{"action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}], "RestartRuleHidden", "[0]"),
        ([{"action": "RestartJob"}], "RestartRuleHidden", "[0]"),
        ([{"action": "FailJobSet", "onJobFailureMessagePatterns": ["Disruption.*"]}], "RestartRuleHidden", "[0]"),
        ([{**NOT_COUNTED, "onJobFailureMessagePatterns": ["(a+)+$"]}], "RestartRuleUnread", "[0]"),
        (
            [{"action": "FailJobSet", "onJobFailureMessagePatterns": ["(.*)*x"]}, NOT_COUNTED],
            "RestartRuleUnread",
            "[0]",
        ),
    ],
)
def test_a_jobset_that_an_eviction_would_end_or_count_is_refused(rules: list[Any], code: str, field: str) -> None:
    (refused,) = found([EVICTED], rules)
    assert (refused.code, refused.field) == (code, f"spec.failurePolicy.rules{field}")


def test_an_exit_code_that_fails_the_job_before_its_condition_is_seen_must_not_count_either() -> None:
    """Two messages can then come of one eviction, and both must restart the JobSet uncounted."""
    by_condition = {**NOT_COUNTED, "onJobFailureMessagePatterns": ["DisruptionTarget"]}
    by_code = {**NOT_COUNTED, "onJobFailureMessagePatterns": ["exit code (137|143) matching"]}
    assert found([KILLED, EVICTED], [by_condition, by_code]) == ()
    assert [each.code for each in found([KILLED, EVICTED], [by_condition])] == ["RestartRule"]


def test_what_is_wrong_with_one_rule_is_told_once_for_all_roles() -> None:
    (role,) = JOBSET["spec"]["replicatedJobs"]
    made = changed(JOBSET, ("spec", "replicatedJobs"), [role, {**role, "name": "other"}])
    made = changed(made, ("spec", "failurePolicy", "rules"), [])
    assert [each.code for each in preflight(made, policy(), ())] == ["RestartRule"]


EVIL = [
    "(a+)+$",
    "(a|a)*b",
    "(a|b|ab)*c",
    "a*a*a*a*b",
    ".*.*.*x",
    "(?=a)",
    "(a?){30}",
    "x" * 301,
    "(",
    "[[:alpha:]]",
    r"\pL",
    r"a\z",
]
"""Patterns that take Python for ever, or that Go reads otherwise."""


@pytest.mark.parametrize("pattern", EVIL)
def test_a_pattern_that_could_stop_the_controller_is_not_tried(pattern: str) -> None:
    assert not is_readable(pattern)


@pytest.fixture
def without_collections() -> Iterator[None]:
    """A full collection in a worker with 8,000 tests takes a second, which is the pattern's limit."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collections")
@given(pattern=st.text("ab.*+?|()[]{}^$\\", max_size=30))
def test_whatever_is_tried_ends_at_once(pattern: str) -> None:
    rules = [{"action": "FailJobSet", "onJobFailureMessagePatterns": [pattern]}, NOT_COUNTED]
    before = time.thread_time()
    found(None, rules)
    assert time.thread_time() - before < 1
