"""The stages are well formed and leave no pod in two of them at once."""

from typing import Any

import pytest

from spotproof.rehearsal.core import STAGES
from spotproof.rehearsal.roles import documents

ANNOTATION = "rehearsal.spotproof.dev/"


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    return {stage["metadata"]["name"]: stage["spec"] for stage in documents(STAGES)}


def test_every_document_is_a_stage_of_its_own_name(stages: dict[str, Any]) -> None:
    found = documents(STAGES)
    assert {(each["apiVersion"], each["kind"]) for each in found} == {("kwok.x-k8s.io/v1alpha1", "Stage")}
    assert len(stages) == len(found) == 7


@pytest.mark.parametrize("phase", ["Pending", "Running", "Failed", "Succeeded"])
@pytest.mark.parametrize("deleted", [True, False])
@pytest.mark.parametrize("told", [True, False])
def test_a_pod_is_never_in_two_stages(stages: dict[str, Any], phase: str, *, deleted: bool, told: bool) -> None:
    pod = {
        ".metadata.deletionTimestamp": "now" if deleted else None,
        ".status.phase": phase,
        f'.metadata.annotations["{ANNOTATION}exit-code"]': "0" if told else None,
    }
    matching = [
        name for name, stage in stages.items() if stage["resourceRef"]["kind"] == "Pod" and _matches(stage, pod)
    ]
    assert matching == _expected(phase, deleted=deleted, told=told)


@pytest.mark.parametrize("ready", ["True", "False", None])
@pytest.mark.parametrize("labelled", [True, False])
def test_a_node_is_never_in_two_stages(stages: dict[str, Any], ready: str | None, *, labelled: bool) -> None:
    node = {
        '.status.conditions.[] | select( .type == "Ready" ) | .status': ready,
        f'.metadata.labels["{ANNOTATION}not-ready"]': "yes" if labelled else None,
        ".status.phase": "Running" if ready else None,
    }
    of_nodes = [name for name, stage in stages.items() if stage["resourceRef"]["kind"] == "Node"]
    matching = [name for name in of_nodes if _matches(stages[name], node)]
    wanted = {(True, True): ["node-not-ready"], (False, True): ["node-heartbeat"], (False, False): ["node-initialize"]}
    assert matching == wanted.get((labelled, ready == "True"), [])


def test_every_knob_that_is_described_is_read(stages: dict[str, Any]) -> None:
    head = STAGES.read_text("utf-8").partition("---")[0]
    described = {line.split()[1] for line in head.splitlines() if line.startswith("#   ")}
    assert described == {"start-delay", "exit-code", "exit-code-on-term", "stop-delay"}
    assert all(f"{ANNOTATION}{knob}" in str(stages) for knob in described)


def _expected(phase: str, *, deleted: bool, told: bool) -> list[str]:
    if deleted:
        return ["pod-terminate" if phase in {"Pending", "Running"} else "pod-remove"]
    if phase == "Pending":
        return ["pod-run"]
    return ["pod-exit"] if phase == "Running" and told else []


def _matches(stage: dict[str, Any], thing: dict[str, str | None]) -> bool:
    return all(_holds(each, thing[each["key"]]) for each in stage["selector"]["matchExpressions"])


def _holds(expression: dict[str, Any], value: str | None) -> bool:
    match expression["operator"]:
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "In":
            return value in expression["values"]
        case operator:
            assert operator == "NotIn"
            return value not in expression["values"]
