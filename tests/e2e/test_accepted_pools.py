"""Pools are taken as they are by the kinds of their own cloud, and as a rehearsal has them by Karpenter itself."""

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from spotproof.kube.client import Applied, Kube, Objects, Refused
from spotproof.prices import load_prices
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.pools import rehearsed
from spotproof.rehearsal.tools import Tools
from spotproof.vocabulary import Manifest
from tests.e2e.kit import condition
from tests.e2e.stacks import environment_of, established, is_of, lost, objects_of
from tests.stacks.runs import STACKS

PARTS: Final = Parts.KARPENTER
INSTANCE_TYPES: Final[Objects] = list(
    {kind["name"]: kind for stack in STACKS for kind in rehearsed(environment_of(stack), load_prices()).instance_types}
    .values()
)  # fmt: skip
CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CLOUDS: Final = {
    "karpenter.k8s.aws": "karpenter-provider-aws",
    "karpenter.azure.com": "karpenter-provider-azure",
}
"""Group of a cloud's node classes -> folder of its definitions; each has its own flavour of NodePool."""


@pytest.mark.parametrize("stack", STACKS)
def test_karpenter_takes_every_pool_of_a_rehearsal(plane: ControlPlane, stack: str) -> None:
    objects = rehearsed(environment_of(stack), load_prices()).objects

    sent = [(one, plane.kube.apply(one)) for one in objects]
    pools = [one for one in objects if one["kind"] == "NodePool"]
    ready = {_name(pool): plane.kube.wait(partial(_judged, plane.kube, pool), "Karpenter's word", 60) for pool in pools}

    assert_taken(sent)
    assert ready == dict.fromkeys(ready, "True")


@pytest.fixture(scope="module", params=CLOUDS)
def cloud(request: pytest.FixtureRequest, tools: Tools, shared: Path) -> Iterator[tuple[str, Kube]]:
    """A cloud's group, and an API server with that cloud's own kinds; no controller is there."""
    with ControlPlane(tools) as running:
        for path in sorted((shared / "crds" / CLOUDS[request.param]).glob("karpenter*.yaml")):
            established(running.kube, running.kube.create_text(CRDS, path.read_bytes()))
        yield request.param, running.kube


def test_every_pool_and_node_class_of_a_cloud_is_taken_whole_and_without_a_warning(cloud: tuple[str, Kube]) -> None:
    group, kube = cloud
    stacks = [stack for stack in STACKS if environment_of(stack).provider.node_class_group == group]
    objects = [one for stack in stacks for one in objects_of(stack) if is_of(one, "karpenter.sh", group)]

    assert_taken([(one, kube.apply(one)) for one in objects])
    assert {one["kind"] for one in objects} == {"NodePool", "EC2NodeClass" if "aws" in group else "AKSNodeClass"}
    assert len(stacks) == 2


def test_a_label_that_a_cloud_keeps_for_itself_is_refused_by_its_own_kind(cloud: tuple[str, Kube]) -> None:
    """The cloud's own flavour of NodePool is what judged the pools above."""
    group, kube = cloud
    stack = next(stack for stack in STACKS if environment_of(stack).provider.node_class_group == group)
    pool = copy.deepcopy(next(one for one in objects_of(stack) if one["kind"] == "NodePool"))
    pool["spec"]["template"]["metadata"]["labels"][f"{group}/mine"] = "yes"

    with pytest.raises(Refused, match="is restricted"):
        kube.apply(pool, dry_run=True)


def assert_taken(sent: Sequence[tuple[Manifest, Applied]]) -> None:
    """Everything came back as it was sent, and nothing was warned of."""
    assert sent
    assert [(_name(one), answer.warnings) for one, answer in sent if answer.warnings] == []
    assert [(_name(one), each) for one, answer in sent for each in lost(one, answer.object)] == []


def _name(one: Any) -> str:
    return one["metadata"]["name"]


def _judged(kube: Kube, pool: Manifest) -> str:
    """Whether Karpenter finds the pool in order, once it has looked at this version of it."""
    found = kube.get("karpenter.sh/v1", "NodePool", _name(pool))
    ready = condition(found, "Ready")
    current = ready.get("observedGeneration") == found["metadata"]["generation"]
    return ready["status"] + ready.get("message", "") if current and ready["status"] != "Unknown" else ""
