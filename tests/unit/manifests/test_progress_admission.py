"""The rules on a TrainingRun's progress, evaluated: a job may write its progress, and nothing else."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.manifests.progress_admission import progress_admission
from spotproof.vocabulary import PROGRESS_ANNOTATION, WORKSPACE_LABEL
from tests.unit.manifests.cel_rules import is_asked, refusals

Json = dict[str, Any]

MADE: list[Any] = progress_admission()
POLICY, BINDING = MADE

RUN: Json = {
    "apiVersion": "spotproof.dev/v1alpha1",
    "kind": "TrainingRun",
    "metadata": {
        "name": "train",
        "namespace": "research",
        "annotations": {"note": "mine", PROGRESS_ANNOTATION: "60"},
        "labels": {"team": "research"},
        "ownerReferences": [{"kind": "JobSet", "name": "train", "uid": "1"}],
    },
    "spec": {"policy": "standard", "job": {"kind": "JobSet", "name": "train", "uid": "1"}},
}


def refused(change: Callable[[Json], object], before: Json = RUN) -> list[str]:
    after = copy.deepcopy(before)
    change(after)
    return refusals(POLICY, after, oldObject=before)


def test_the_policy_is_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/progress-admission.yaml", [POLICY, BINDING])


def progress(value: str) -> Callable[[Json], object]:
    return lambda run: run["metadata"].setdefault("annotations", {}).update({PROGRESS_ANNOTATION: value})


BARE: Json = {**RUN, "metadata": {"name": "train", "namespace": "research"}}


@pytest.mark.parametrize("before", [RUN, BARE], ids=["with annotations", "without any"])
@pytest.mark.parametrize("seconds", ["0", "5400", "9999999999"])
def test_progress_is_written_whatever_else_is_there(before: Json, seconds: str) -> None:
    assert refused(progress(seconds), before) == []


def test_a_patch_that_changes_nothing_and_one_that_takes_progress_back_pass() -> None:
    assert refused(lambda _: None) == []
    assert refused(lambda run: run["metadata"]["annotations"].pop(PROGRESS_ANNOTATION)) == []


@pytest.mark.parametrize("text", ["", "1h", "-1", "5400 ", "1e9", "nan", "0x10", "1" * 11, "5400.25"])
def test_progress_that_is_no_number_is_refused_with_what_to_write(text: str) -> None:
    (message,) = refused(progress(text))

    assert "Write a number, as 5400" in message


FOREIGN: dict[str, Callable[[Json], object]] = {
    "another policy": lambda run: run["spec"].update(policy="cheap"),
    "another job": lambda run: run["spec"]["job"].update(uid="2"),
    "a new annotation": lambda run: run["metadata"]["annotations"].update({"spotproof.dev/move": "1"}),
    "another annotation's value": lambda run: run["metadata"]["annotations"].update(note="yours"),
    "an annotation less": lambda run: run["metadata"]["annotations"].pop("note"),
    "all annotations": lambda run: run["metadata"].pop("annotations"),
    "a label": lambda run: run["metadata"]["labels"].update({"spotproof.dev/manual": "true"}),
    "no labels": lambda run: run["metadata"].pop("labels"),
    "no owner": lambda run: run["metadata"].pop("ownerReferences"),
    "another owner": lambda run: run["metadata"]["ownerReferences"][0].update(uid="2"),
    "a finalizer": lambda run: run["metadata"].update(finalizers=["example.org/never"]),
}


@pytest.mark.parametrize("change", FOREIGN)
def test_nothing_else_is_written(change: str) -> None:
    (message,) = refused(FOREIGN[change])

    assert message.startswith(f"A job may set the annotation {PROGRESS_ANNOTATION}")


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(["1", "2"])),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(["1", "2"])),
)
def test_any_change_of_other_annotations_is_refused_and_no_change_never(
    one: dict[str, str], other: dict[str, str]
) -> None:
    before = {**RUN, "metadata": {**RUN["metadata"], "annotations": one}}

    answer = refused(lambda run: run["metadata"].update(annotations={**other, PROGRESS_ANNOTATION: "1"}), before)

    assert (answer == []) == (one == other)


@pytest.mark.parametrize(
    ("user", "asked"),
    [
        ("system:serviceaccount:research:trainer", True),
        ("system:serviceaccount:research:default", True),
        ("system:serviceaccount:research-2:trainer", False),
        ("system:serviceaccount:spotproof-system:spotproof-controller", False),
        ("system:serviceaccount:kube-system:generic-garbage-collector", False),
        ("ada", False),
    ],
)
def test_only_accounts_of_the_workspace_are_asked(user: str, *, asked: bool) -> None:
    request = {"userInfo": {"username": user}, "namespace": "research"}

    assert is_asked(POLICY, request=request) is asked


def test_it_is_asked_of_every_change_in_a_workspace_and_refuses_when_it_cannot_tell() -> None:
    (rule,) = POLICY["spec"]["matchConstraints"]["resourceRules"]

    assert (rule["resources"], rule["operations"]) == (["trainingruns"], ["UPDATE"])
    assert POLICY["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"][0]["key"] == WORKSPACE_LABEL
    assert POLICY["spec"]["failurePolicy"] == "Fail"
    assert BINDING["spec"] == {"policyName": POLICY["metadata"]["name"], "validationActions": ["Deny"]}
