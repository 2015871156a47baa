"""The rule on NodeClaims, evaluated: of the controller those of a stack's pools go, and nobody else is asked."""

from collections.abc import Callable
from typing import Any

import pytest

from spotproof.manifests.claim_admission import claim_admission
from spotproof.manifests.karpenter import NodeClassRef, node_pool
from spotproof.rehearsal.controller import USER
from tests.unit.manifests.cel_rules import is_asked, refusals
from tests.unit.manifests.jobs import stack

Json = dict[str, Any]

MADE: list[Any] = claim_admission()
POLICY, BINDING = MADE


def claim(labels: Json | None) -> Json:
    """A NodeClaim as Karpenter makes it: with the labels of its pool's template, and the pool's name."""
    carried = {} if labels is None else {"labels": {**labels, "karpenter.sh/nodepool": "one"}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "one-x7k2p", **carried}}


def refused(labels: Json | None) -> list[str]:
    return refusals(POLICY, {}, oldObject=claim(labels))


def test_the_policy_is_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/claim-admission.yaml", [POLICY, BINDING])


@pytest.mark.parametrize("name", ["aws-dev", "aws-prod", "azure-dev"])
def test_a_claim_of_every_pool_that_a_stack_gives_to_karpenter_goes(name: str) -> None:
    env = stack(name)
    for pool in env.pools:
        made: Any = node_pool(
            pool,
            node_class=NodeClassRef("karpenter.k8s.aws", "v1", "EC2NodeClass"),
            node_class_name=pool.name,
            zones=["a"],
            machine=lambda _: None,
        )
        assert refused(made["spec"]["template"]["metadata"]["labels"]) == []


@pytest.mark.parametrize("labels", [None, {}, {"team": "search"}, {"spotproof.dev/workspace": "t4-spot"}])
def test_a_claim_of_a_pool_of_somebody_elses_stays(labels: Json | None) -> None:
    (message,) = refused(labels)

    assert "spotproof.dev/pool" in message


def test_nobody_is_asked_but_the_controllers_account() -> None:
    def asked(name: str) -> bool:
        return is_asked(POLICY, request={"userInfo": {"username": name}})

    assert asked(USER)
    for other in ("system:serviceaccount:karpenter:karpenter", "jo@example.org", f"{USER}-2", ""):
        assert not asked(other)


def test_it_is_asked_before_a_deletion_refuses_and_lets_nothing_pass_where_it_cannot_be() -> None:
    (rule,) = POLICY["spec"]["matchConstraints"]["resourceRules"]

    assert (rule["operations"], rule["resources"], rule["scope"]) == (["DELETE"], ["nodeclaims"], "Cluster")
    assert POLICY["spec"]["failurePolicy"] == "Fail"
    assert BINDING["spec"] == {"policyName": POLICY["metadata"]["name"], "validationActions": ["Deny"]}
