"""The controller gives back nodes of a stack's pools, and is refused those that Karpenter bought for somebody else."""

import copy
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.vocabulary import POOL_LABEL
from tests.e2e.controller.installed import USER, install
from tests.e2e.jobs import ON_DEMAND_POOL, pools
from tests.e2e.kit import pod_spec
from tests.e2e.stacks import Object

PARTS: Final = Parts.KARPENTER
INSTANCE_TYPES: Final = pools().instance_types
THEIRS: Final = "search"
CLAIM: Final = ("karpenter.sh/v1", "NodeClaim")
NODE_POOL: Final = "karpenter.sh/nodepool"


@pytest.fixture(scope="module")
def controller(plane: ControlPlane) -> Kube:
    """The controller's account, on a cluster with a pool of a stack and the same pool of somebody else's."""
    install(plane)
    made: list[Any] = list(pools().objects)
    ours = next(each for each in made if each["metadata"]["name"] == ON_DEMAND_POOL)
    theirs = copy.deepcopy(ours)
    theirs["metadata"] = {"name": THEIRS}
    del theirs["spec"]["template"]["metadata"]["labels"][POOL_LABEL]
    for each in (*(each for each in made if each["kind"] != "NodePool"), ours, theirs):
        plane.kube.apply(each)
    return plane.as_user(USER)


def claims(kube: Kube, pool: str) -> list[Object]:
    """A pool's claims that have a node and are not told to go."""
    found = kube.list(*CLAIM, labels=f"{NODE_POOL}={pool}")
    return [
        each for each in found if "deletionTimestamp" not in each["metadata"] and each.get("status", {}).get("nodeName")
    ]


def wants(kube: Kube, pool: str, namespace: str) -> str:
    """A workload that needs a node of the pool, for as long as it is there. Returns the name of the node's claim."""
    labels = {"app": pool}
    containers = [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}}}]
    anywhere = [{"operator": "Exists"}]
    pod = {
        "metadata": {"labels": labels},
        "spec": pod_spec(nodeSelector={NODE_POOL: pool}, containers=containers, tolerations=anywhere),
    }
    metadata = {"name": pool, "namespace": namespace}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    kube.apply({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec})
    kube.wait(lambda: claims(kube, pool), f"a node of pool {pool}", 90, seen=lambda: kube.list(*CLAIM))
    return claims(kube, pool)[0]["metadata"]["name"]


def refusal(controller: Kube, name: str) -> Refused | None:
    """What the API server says to the controller that would delete a claim; None where it does so."""
    try:
        controller.delete(*CLAIM, name)
    except Refused as refused:
        return refused
    return None


def test_a_node_of_somebody_elses_pool_stays_whatever_the_controller_asks(
    plane: ControlPlane, controller: Kube, namespace: str
) -> None:
    wants(plane.kube, THEIRS, namespace)

    # A new policy is asked about two seconds after it is made: until then claims go, and Karpenter buys others.
    refused = plane.kube.wait(
        lambda: next((refusal(controller, each["metadata"]["name"]) for each in claims(plane.kube, THEIRS)), None),
        "the controller to be refused",
        60,
    )

    assert refused.status == 403
    assert f"NodeClaims of pools of a stack, which carry the label {POOL_LABEL}, and no others" in refused.message
    (claim,) = claims(plane.kube, THEIRS)
    # Whoever else has the right is not asked.
    plane.kube.delete(*CLAIM, claim["metadata"]["name"])
    plane.kube.wait(lambda: plane.kube.find(*CLAIM, claim["metadata"]["name"]) is None, "the claim to be gone", 60)


def test_a_node_of_a_stacks_pool_goes_when_the_controller_says_so(
    plane: ControlPlane, controller: Kube, namespace: str
) -> None:
    name = wants(plane.kube, ON_DEMAND_POOL, namespace)
    node = plane.kube.get(*CLAIM, name)["status"]["nodeName"]

    assert refusal(controller, name) is None

    plane.kube.wait(lambda: plane.kube.find(*CLAIM, name) is None, "the claim to be gone", 60)
    assert plane.kube.find("v1", "Node", node) is None
