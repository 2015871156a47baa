import json
from collections.abc import Callable
from typing import Any

import pytest

from spotproof.manifests.admission import GPU_POLICY, SPOT_POLICY, spot_tolerations
from spotproof.settings import Environment
from spotproof.vocabulary import GPU_TOLERATION, POOL_LABEL, SPOT_SELECTORS, SPOT_TOLERATIONS, WORKSPACE_LABEL
from tests.unit.manifests.samples import Json, environment

KINDS = ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"]


def policies(env: Environment) -> dict[str, Any]:
    return {str(each["metadata"]["name"]): each["spec"] for each in manifests(env) if each["kind"] == KINDS[0]}


def manifests(env: Environment) -> list[Any]:
    return list(spot_tolerations(env))


def variables(spec: Json) -> dict[str, str]:
    return {each["name"]: each["expression"] for each in spec["variables"]}


def test_the_policies_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/admission.yaml", spot_tolerations(environment(spot=True)))


def test_each_policy_has_its_binding() -> None:
    found = manifests(environment(spot=True))
    assert [each["kind"] for each in found] == KINDS * 2
    assert [each["spec"]["policyName"] for each in found[1::2]] == [SPOT_POLICY, GPU_POLICY]


@pytest.mark.parametrize(("version", "count"), [("1.35", 0), ("1.36", 4)])
def test_nothing_is_made_where_the_api_server_does_not_serve_it(version: str, count: int) -> None:
    assert len(spot_tolerations(environment(spot=True, kubernetesVersion=version))) == count


def test_every_known_way_to_select_spot_is_seen() -> None:
    env = environment(spot=True)
    spot = json.loads(variables(policies(env)[SPOT_POLICY])["spot"])
    assert {key: [value] for key, value in SPOT_SELECTORS.items()} | {
        POOL_LABEL: [pool.name for pool in env.spot_pools]
    } == spot


def test_without_spot_pools_no_pool_name_means_spot() -> None:
    spot = json.loads(variables(policies(environment())[SPOT_POLICY])["spot"])
    assert POOL_LABEL not in spot


def test_what_is_added_is_what_rendered_jobs_carry() -> None:
    found = policies(environment(spot=True))
    assert json.loads(variables(found[SPOT_POLICY])["wanted"]) == list(SPOT_TOLERATIONS)
    assert json.loads(variables(found[GPU_POLICY])["wanted"]) == [GPU_TOLERATION]


@pytest.mark.parametrize("name", [SPOT_POLICY, GPU_POLICY])
def test_only_pods_of_workspaces_are_touched_and_only_as_they_are_made(name: str) -> None:
    match = policies(environment(spot=True))[name]["matchConstraints"]
    assert match["namespaceSelector"] == {"matchExpressions": [{"key": WORKSPACE_LABEL, "operator": "Exists"}]}
    (rule,) = match["resourceRules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE"], ["pods"])


@pytest.mark.parametrize("name", [SPOT_POLICY, GPU_POLICY])
def test_a_variable_is_there_before_it_is_used(name: str) -> None:
    spec = policies(environment(spot=True))[name]
    seen: set[str] = set()
    for each in spec["variables"]:
        assert used(each["expression"]) <= seen
        seen.add(each["name"])
    assert used(spec["mutations"][0]["jsonPatch"]["expression"]) <= seen


def used(expression: str) -> set[str]:
    words = expression.replace("(", " ").replace(")", " ").replace("[", " ").replace(",", " ").split()
    return {word.split(".")[1] for word in words if word.lstrip("!").startswith("variables.")}
