"""Under Karpenter: a node that is gone while its claim is there, and a return that is bought."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import History, condition, is_leaving, is_true, labels, phase
from spotproof.vocabulary import POOL_LABEL, SYSTEM_NAMESPACE
from tests.e2e.controller import seen
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.gangs import GANGS, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import running
from tests.e2e.controller.stage import Controlled, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL, pools
from tests.e2e.stage import Object

PARTS = Parts.ALL
INSTANCE_TYPES = pools().instance_types
PROMPTLY_SECONDS: Final = 15.0
"""On an idle machine it is under 5 s; PodGC would take 40 s at least."""
OURS: Final = "spotproof: the pod's node is gone"
KEPT: Final = "example.org/kept"
CLAIM: Final = ("karpenter.sh/v1", "NodeClaim")
RETURN: Final[dict[str, Any]] = {"return_": {"minStay": "3s"}, "probe": {"every": "5s"}}

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@pytest.fixture(scope="module")
def controller(installed: ControlPlane, proxy: FaultProxy) -> Iterator[Controller]:
    """The only replica; it asks through the proxy."""
    with Controller(installed, through=proxy) as controller:
        yield controller


def claim_of(here: Controlled, node: str) -> str:
    """The NodeClaim of a node."""
    (name,) = (each["metadata"]["name"] for each in here.claims() if each.get("status", {}).get("nodeName") == node)
    return str(name)


def keep(here: Controlled, claim: str, *, finalizers: list[str]) -> None:
    """A NodeClaim stays as long as somebody's finalizer is on it."""
    here.kube.patch(*CLAIM, claim, {"metadata": {"finalizers": finalizers}})


def vanish(here: Controlled, node: str) -> None:
    """The Node object goes at once, without the drain that Karpenter's finalizer would wait for."""
    here.kube.patch("v1", "Node", node, {"metadata": {"finalizers": None}})
    here.delete_node(node)
    here.wait(lambda: here.kube.find("v1", "Node", node) is None, f"{node} to be gone")


@both
def test_pods_of_a_node_that_is_gone_are_ended_once_its_claim_is_gone_too_and_not_before(
    here: Controlled, proxy: FaultProxy, gang: Gang
) -> None:
    pods = running(here, gang, spot(max_failures=5), on_demand())
    node = nodes_of(pods)[0]
    lost, claim = here.on(node), claim_of(here, node)
    keep(here, claim, finalizers=[KEPT, *here.kube.get(*CLAIM, claim)["metadata"]["finalizers"]])
    before = len(proxy.calls)

    vanish(here, node)

    def asked() -> bool:
        calls = proxy.calls[before:]
        return any(each.said == "get nodeclaims" and each.path.endswith(claim) for each in calls)

    here.wait(asked, "the controller to ask whether the claim is there")
    here.kube.delete(*CLAIM, claim)
    here.wait(lambda: is_leaving(here.kube.get(*CLAIM, claim)), "the claim to be told to go")
    assert len(here.on(node)) == len(lost)
    keep(here, claim, finalizers=[])

    gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=1)
    ended_in_time(here, claim, lost)


def ended_in_time(here: Controlled, claim: str, lost: list[Object]) -> None:
    """As it is recorded: all pods were ended by the controller, after the claim had gone, and at once."""
    history = History(here.recorder.raw())
    (gone,) = (each.gone for each in history.of("NodeClaim") if each.name == claim)
    assert gone is not None
    lives = {each.uid: each for each in history.of("Pod")}
    for pod in lost:
        life = lives[pod["metadata"]["uid"]]
        touched = life.when(lambda thing: phase(thing) == "Failed" or is_leaving(thing))
        assert touched is not None
        assert gone <= touched < gone + PROMPTLY_SECONDS
        assert condition(life.last, "DisruptionTarget")["message"] == OURS


@both
def test_a_return_to_spot_is_bought_by_a_probe_and_no_node_of_it_is_left_unused(here: Controlled, gang: Gang) -> None:
    running(here, gang, spot(max_failures=0), on_demand(), pool=ON_DEMAND_POOL, **RETURN)
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0)
    here.wait(lambda: not here.kube.list("v1", "Pod", SYSTEM_NAMESPACE), "the probe to be gone")
    used = set(nodes_of(gang.moving(here)))
    here.wait(lambda: spot_nodes(here) == used, "spot nodes that nobody uses to be given back")
    here.has_lived(gang.name, ON_DEMAND_POOL, SPOT_POOL, evictions=0)

    recording = here.recorder.raw()
    (move,) = seen.suspensions(recording, gang.name)
    assert move.is_ours
    claims = [each for each in History(recording).of("NodeClaim") if labels(each.last).get(POOL_LABEL) == SPOT_POOL]
    launched = [at for each in claims if (at := each.when(lambda claim: is_true(claim, "Launched"))) is not None]
    assert sum(at < move.since for at in launched) == 1, "one node was bought to ask, and the rest by the move"


def spot_nodes(here: Controlled) -> set[str]:
    """Nodes of spot claims that nobody has told to go; an unnamed one for a claim that is no node yet."""
    claims = (each for each in here.claims() if labels(each).get(POOL_LABEL) == SPOT_POOL)
    return {each.get("status", {}).get("nodeName", "") for each in claims}
