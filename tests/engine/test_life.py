"""Every stack file, from nothing to nothing on the real engine."""

import json
import re
from typing import Any

import pytest

from tests.engine.driver import Run
from tests.engine.life import Life
from tests.engine.order import broken
from tests.engine.standin.invokes import KUBECONFIG_MARK
from tests.stacks.test_stacks import PROTECTED


def test_up_makes_what_the_preview_planned(life: Life) -> None:
    made = {step.urn for step in life.up.steps if step.op == "create"}

    assert made == set(life.planned["resourcePlans"])
    assert {step.op for step in life.up.steps} == {"create"}


def test_a_second_preview_has_nothing_to_change(life: Life) -> None:
    assert life.unchanged.changes() == []
    assert life.unchanged.error == ""


def test_no_secret_is_in_the_state_in_clear(life: Life) -> None:
    text = json.dumps(life.state)

    providers = [one for one in life.state["resources"] if one["type"] == "pulumi:providers:kubernetes"]
    assert len(providers) == 1
    for bag in ("inputs", "outputs"):
        kubeconfig = providers[0][bag].get("kubeconfig", "")
        # a cluster of somebody else's is named by its context, and the kubeconfig is not in the stack at all
        assert kubeconfig == "" or "ciphertext" in kubeconfig, (bag, kubeconfig)
        assert (kubeconfig == "") == life.name.startswith("kind-")
    assert KUBECONFIG_MARK not in text
    assert "certificate-authority-data" not in text


def test_what_is_protected_refuses_its_deletion_and_says_how_it_may_go(life: Life) -> None:
    assert set(protected(life).values()) == PROTECTED.get(life.name, set())
    assert bool(life.refused.error) == bool(protected(life))
    # the engine stops at the first it comes to, and those it was busy with
    assert set(unprotected_by(life.refused)) <= set(protected(life))
    assert bool(unprotected_by(life.refused)) == bool(protected(life))


@pytest.mark.parametrize("life", ["azure-prod"], indirect=True)
def test_doing_what_the_refusals_say_unprotects_everything_and_no_more_is_refused(life: Life) -> None:
    refused, done = life.refused, set[str]()
    while refused.error:
        named = unprotected_by(refused)
        assert named, refused.error
        assert done.isdisjoint(named)
        for urn in named:
            life.stack.unprotect(urn)
        done |= set(named)
        refused = life.stack.preview_destroy()

    assert done == set(protected(life))


def protected(life: Life) -> dict[str, str]:
    """URN and type of what the first `up` protected."""
    return {one["urn"]: one["type"] for one in life.state["resources"] if one.get("protect")}


def unprotected_by(run: Run) -> list[str]:
    """The URNs whose deletion was refused with the command that allows it."""
    said = "\n".join(text for severity, text in run.said if severity == "error" and "because it is protected" in text)
    return re.findall(r"`pulumi state unprotect '([^']+)'`", said)


def test_destroy_takes_everything_in_a_safe_order(life: Life) -> None:
    deleted, left = life.destroyed

    assert broken(life.name, deleted) == []
    assert left == []


def test_what_dies_with_its_cluster_is_not_asked_of_a_cluster_that_is_going(life: Life) -> None:
    deleted, _ = life.destroyed
    with_cluster = {_named(one) for one in life.state["resources"] if one.get("deletedWith")}

    assert with_cluster.isdisjoint(deleted)
    assert bool(with_cluster) != life.name.startswith("kind-")


def _named(resource: dict[str, Any]) -> str:
    return f"{resource['type']} {resource['urn'].rpartition('::')[2]}"
