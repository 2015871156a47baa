"""Walks every policy folder and runs its cases as Pulumi's engine would. No policy has test code of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from spotproof.preview.model import NOTE, UNKNOWN, Resource, Violation
from spotproof.preview.policy_run import run_policies
from spotproof_policies.model import EachResource, Policy
from spotproof_policies.registry import POLICIES
from tests.policies.cases import FOLDER, Case, cases, leaves_unknown, one_changed

ALLOWED = cases("allowed")
DENIED = cases("denied")
FOREIGN: tuple[object, ...] = (None, "text", 7, {}, [[]], [{"key": []}])
EVERY_POLICY = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


def judged(
    case: Case, resources: Iterable[Resource] | None = None, config: Mapping[str, Any] | None = None
) -> list[Violation]:
    written = {**case.config, **(config or {})}
    return run_policies(
        list(case.resources if resources is None else resources),
        project="spotproof",
        stack="test",
        config={case.policy.name: written} if written else None,
        policies=(case.policy,),
    )


@pytest.mark.parametrize("case", ALLOWED, ids=str)
def test_what_is_allowed_passes_without_a_word(case: Case) -> None:
    assert judged(case) == []


@pytest.mark.parametrize("case", DENIED, ids=str)
def test_what_is_denied_is_named_at_the_level_of_the_policy(case: Case) -> None:
    found = judged(case)

    assert {one.level for one in found} == {case.policy.level}
    assert {one.severity for one in found} == {case.policy.severity}
    assert {one.remedy for one in found} == {case.policy.remedy}
    assert {one.urn for one in found} <= {resource.urn for resource in case.resources}
    text = "\n".join(one.message for one in found)
    assert case.messages, "a denied case says which sentence it expects"
    assert [part for part in case.messages if part not in text] == [], text


@pytest.mark.parametrize("case", DENIED, ids=str)
def test_a_sentence_says_what_is_wrong_and_what_to_write(case: Case) -> None:
    for one in judged(case):
        assert one.message.endswith("."), one.message
        assert ". " in one.message, "the remedy is a sentence of its own"
        assert ", so " in one.message or ", which " in one.message or "; " in one.message or " and " in one.message


@pytest.mark.parametrize("case", DENIED, ids=str)
def test_the_configuration_sets_the_level(case: Case) -> None:
    other = "advisory" if case.policy.level == "mandatory" else "mandatory"

    assert {one.level for one in judged(case, config={"enforcementLevel": other})} == {other}
    assert judged(case, config={"enforcementLevel": "disabled"}) == []


@pytest.mark.parametrize("case", ALLOWED, ids=str)
def test_an_unknown_value_never_becomes_a_violation(case: Case) -> None:
    for index, resource in enumerate(case.resources):
        for planted in one_changed(dict(resource.inputs), (UNKNOWN,)):
            if isinstance(planted, dict):
                changed = [*case.resources[:index], replace(resource, inputs=planted), *case.resources[index + 1 :]]
                assert {one.level for one in judged(case, changed)} <= {NOTE}, planted


@pytest.mark.parametrize("case", [*ALLOWED, *DENIED], ids=str)
def test_a_wholly_unknown_resource_is_judged_without_a_crash(case: Case) -> None:
    unknown = [replace(one, inputs=leaves_unknown(dict(one.inputs))) for one in case.resources]

    assert {one.level for one in judged(case, unknown)} <= {NOTE, case.policy.level}


@pytest.mark.parametrize("case", [*ALLOWED, *DENIED], ids=str)
def test_a_foreign_shape_is_judged_without_a_crash(case: Case) -> None:
    # An exception in a policy fails the whole `pulumi up` of somebody whose program we have never seen.
    for index, resource in enumerate(case.resources):
        for planted in one_changed(dict(resource.inputs), FOREIGN):
            if isinstance(planted, dict):
                judged(case, [*case.resources[:index], replace(resource, inputs=planted), *case.resources[index + 1 :]])


@EVERY_POLICY
def test_a_stack_without_its_resources_does_not_concern_a_policy(policy: Policy) -> None:
    other = Resource("urn:pulumi:test::p::random:index:Pet::pet", "random:index:Pet", "pet", True, "", "", {})  # noqa: FBT003

    assert run_policies([other], project="p", stack="test", policies=(policy,)) == []


@EVERY_POLICY
def test_every_type_that_a_policy_judges_has_cases_of_both_kinds(policy: Policy) -> None:
    for found in (ALLOWED, DENIED):
        assert [case for case in found if case.policy is policy]
    if isinstance(policy.judges, EachResource):
        own = [case for case in (*ALLOWED, *DENIED) if case.policy is policy]
        assert {resource.type for case in own for resource in case.resources} & set(policy.judges.types)


def test_names_of_cases_tell_them_apart() -> None:
    for found in (ALLOWED, DENIED):
        names = [str(case) for case in found]
        assert sorted(set(names)) == sorted(names)


def test_folders_and_table_agree() -> None:
    folders = {file.parent.name for file in FOLDER.glob("*/policy.py")}

    assert sorted(policy.folder for policy in POLICIES) == sorted(folders)
    for folder in folders:
        files = {file.name for file in (FOLDER / folder).iterdir() if file.is_file()}
        assert {"policy.py", "allowed.yaml", "denied.yaml", "README.md"} <= files


@EVERY_POLICY
def test_metadata_is_complete(policy: Policy) -> None:
    assert policy.description.endswith(".")
    assert policy.remedy.endswith(".")
    assert policy.url.startswith("https://") or (FOLDER.parents[1] / policy.url).is_file()
    assert all("default" in schema and "description" in schema for schema in policy.config_schema.values())
