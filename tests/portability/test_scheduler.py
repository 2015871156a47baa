"""The matcher against cases of Kubernetes' own documentation: without it the portability table proves nothing."""

from typing import Any

import pytest

from tests.portability.scheduler import Node, quantity, reasons_against, requests

SPOT = {"key": "spotproof.dev/capacity", "value": "spot", "effect": "NoSchedule"}


def node(labels: dict[str, str] | None = None, *taints: dict[str, str], gpus: int = 0) -> Node:
    return Node("node-1", labels or {}, taints, {"cpu": 8, "memory": 2**35, "nvidia.com/gpu": gpus})


def affinity(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = [{"matchExpressions": list(expressions)}]
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }


AFFINITY = [
    ({"key": "a", "operator": "In", "values": ["x", "y"]}, {"a": "y"}, True),
    ({"key": "a", "operator": "In", "values": ["x"]}, {}, False),
    ({"key": "a", "operator": "NotIn", "values": ["x"]}, {}, True),
    ({"key": "a", "operator": "NotIn", "values": ["x"]}, {"a": "x"}, False),
    ({"key": "a", "operator": "Exists"}, {"a": ""}, True),
    ({"key": "a", "operator": "DoesNotExist"}, {"a": ""}, False),
    ({"key": "a", "operator": "Gt", "values": ["3"]}, {"a": "4"}, True),
    ({"key": "a", "operator": "Lt", "values": ["3"]}, {"a": "x"}, False),
]


@pytest.mark.parametrize(("expression", "labels", "fits"), AFFINITY)
def test_a_required_expression_is_read_as_the_scheduler_reads_it(
    expression: dict[str, Any], labels: dict[str, str], *, fits: bool
) -> None:
    assert (reasons_against(affinity(expression), node(labels)) == []) is fits


def test_terms_are_alternatives_and_the_selector_holds_beside_them() -> None:
    two = affinity({"key": "a", "operator": "Exists"})
    required = two["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"].append({"matchExpressions": [{"key": "b", "operator": "Exists"}]})

    assert reasons_against(two, node({"b": "1"})) == []
    assert reasons_against({**two, "nodeSelector": {"c": "1"}}, node({"b": "1"})) == ["selector c=1"]


def test_a_term_without_parts_and_a_list_without_terms_match_nothing() -> None:
    assert reasons_against(affinity(), node()) == ["node affinity"]


TOLERATIONS = [
    ({"key": SPOT["key"], "operator": "Equal", "value": "spot", "effect": "NoSchedule"}, True),
    ({"key": SPOT["key"], "value": "spot"}, True),
    ({"key": SPOT["key"], "operator": "Exists"}, True),
    ({"operator": "Exists"}, True),
    ({"key": SPOT["key"], "operator": "Equal", "value": "true"}, False),
    ({"key": SPOT["key"], "operator": "Exists", "effect": "NoExecute"}, False),
    ({"key": "other", "operator": "Exists"}, False),
    ({"value": "spot"}, False),
]


@pytest.mark.parametrize(("toleration", "fits"), TOLERATIONS)
def test_a_toleration_is_read_as_the_scheduler_reads_it(toleration: dict[str, str], *, fits: bool) -> None:
    assert (reasons_against({"tolerations": [toleration]}, node({}, SPOT)) == []) is fits


def test_a_taint_that_only_prefers_keeps_nobody_away() -> None:
    assert reasons_against({}, node({}, {**SPOT, "effect": "PreferNoSchedule"})) == []


def test_a_pod_asks_for_the_sum_of_its_containers_or_for_its_largest_start() -> None:
    pod = {
        "initContainers": [
            {"resources": {"requests": {"cpu": "6"}}},
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
        ],
        "containers": [
            {"resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": 1}}},
            {"resources": {"requests": {"cpu": "1500m"}}},
        ],
    }

    assert {key: float(value) for key, value in requests(pod).items()} == {
        "cpu": 6,
        "memory": 2**30,
        "nvidia.com/gpu": 1,
    }
    assert reasons_against(pod, node()) == ["insufficient nvidia.com/gpu"]
    assert reasons_against(pod, node({}, gpus=1)) == []


def test_quantities_are_those_of_kubernetes() -> None:
    assert [float(quantity(text)) for text in ("500m", "2", "1Ki", "1.5Gi", "3G")] == [0.5, 2, 1024, 1.5 * 2**30, 3e9]
