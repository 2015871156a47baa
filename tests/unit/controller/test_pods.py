"""Which pods wait for a node of their tier: not those that nobody has tried to place, nor those that have a node."""

from typing import Any

import pytest

from spotproof.controller.pods import waits

UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def pod(*conditions: dict[str, str], gates: bool = False, more: dict[str, Any] | None = None) -> dict[str, Any]:
    spec = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]} if gates else {}
    return {
        "metadata": {"name": "a"},
        "spec": spec,
        "status": {"phase": "Pending", "conditions": conditions, **(more or {})},
    }


def placed(thing: dict[str, Any]) -> dict[str, Any]:
    return {**thing, "spec": {"nodeName": "node-1"}}


PULLING: dict[str, Any] = {"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}


@pytest.mark.parametrize(
    ("words", "thing", "found"),
    [
        ("no node fits", pod(UNSCHEDULABLE), True),
        ("gated, as by Kueue", pod({**UNSCHEDULABLE, "reason": "SchedulingGated"}, gates=True), False),
        ("nobody has looked at it yet", pod(), False),
        ("its image is being pulled", placed(pod({"type": "PodScheduled", "status": "True"}, more=PULLING)), False),
        ("the scheduler itself failed", pod({**UNSCHEDULABLE, "reason": "SchedulerError"}), False),
    ],
)
def test_only_a_pod_that_no_node_fits_waits(words: str, thing: dict[str, Any], *, found: bool) -> None:
    assert waits(thing) is found, words
