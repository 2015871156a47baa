"""Every row of the table on the words that scheduler, autoscalers and clouds really use, and the recordings read."""

from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.clouds.aws.service_linked_role import COMMAND
from spotproof.controller.said import (
    PATTERNS,
    SPOT_ROLE_COMMAND,
    Want,
    of_claims,
    of_pods,
    said,
    said_first,
)
from spotproof.rehearsal.recording import load
from spotproof.settings import read_yaml
from tests.conftest import ROOT

MESSAGES: list[tuple[str, Want, str]] = [
    (row["message"], Want(row["want"]), row["text"])
    for row in cast("Any", read_yaml(ROOT / "tests" / "unit" / "controller" / "messages.yaml"))["messages"]
]


@pytest.mark.parametrize(("message", "want", "text"), MESSAGES)
def test_a_message_says_what_is_waited_for(message: str, want: Want, text: str) -> None:
    found = said(message)
    assert found is not None
    assert (found.want, found.text) == (want, text)


def test_every_row_of_the_table_is_the_answer_to_a_message() -> None:
    answered = {next(row for row in PATTERNS if row.words.search(message)) for message, _, _ in MESSAGES}
    assert [row.source for row in PATTERNS if row not in answered] == []


def test_the_command_is_that_of_the_stack() -> None:
    assert SPOT_ROLE_COMMAND == COMMAND


@pytest.mark.parametrize(
    "message",
    ["", "Pod should schedule on: nodeclaim/a100-spot-a-bk4v", "Successfully assigned research/train-0 to spot-0"],
)
def test_a_message_of_something_else_says_nothing(message: str) -> None:
    assert said(message) is None


def test_counts_of_preemption_are_no_reason() -> None:
    assert said("0/4 nodes are available:  preemption: 0/4 nodes are available: 1 Insufficient cpu.") is None


def test_the_limits_of_another_node_pool_are_passed_over() -> None:
    message = (
        "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=cpu); "
        "no instance type has the required offering, requirements=, resources={}"
    )
    found = said(message, "a100-spot-a")
    assert found is not None
    assert found.text == "capacity: no instance type of its node pool can be had now"
    assert said(message, "cpu") == said(message)


def test_of_several_messages_the_one_that_says_most_is_told() -> None:
    scheduler = "0/3 nodes are available: 3 node(s) had untolerated taint(s)."
    refused = "NodeClaim x event: insufficient capacity, the market has no capacity for any offering of this claim"
    found = said_first([scheduler, "Pod should schedule on: nodeclaim/x", refused])
    assert found == said(refused)
    assert said_first(["nothing of it"]) is None


def test_the_conditions_of_pods_and_claims_are_read_and_nothing_of_others() -> None:
    pending = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "a"}]}}
    running = {"status": {"conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready"}]}}
    assert of_pods([pending, running, pending, {}]) == ("a",)

    refused = {"status": {"conditions": [{"type": "Launched", "status": "Unknown", "message": "b"}]}}
    launched = {"status": {"conditions": [{"type": "Launched", "status": "True", "message": "c"}]}}
    assert of_claims([refused, launched, {"status": {}}]) == ("b",)


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "recordings").glob("*.json")), ids=lambda path: path.stem)
def test_every_word_of_the_scheduler_in_the_recordings_is_understood(path: Path) -> None:
    pods = [each.object for each in load(path).versions if each.kind == "Pod"]
    messages = of_pods(pods)
    assert [message for message in messages if said(message) is None] == []


@given(st.text(max_size=200) | st.sampled_from([message for message, _, _ in MESSAGES]).flatmap(st.permutations))
def test_no_text_breaks_it(words: str | list[str]) -> None:
    found = said("".join(words))
    assert found is None or (found.text and "{" not in found.text)
