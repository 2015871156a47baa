"""A job that ends, or seems to, in the middle of its move, and a leader that is told to go there."""

from collections.abc import Iterator
from typing import Final

import pytest

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import History, exit_code, role
from tests.e2e.controller import seen
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.faults import Call, Fault
from tests.e2e.controller.gangs import GANGS, JOBSET, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import KNOB, ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.ray import head, submitter
from tests.e2e.stage import Object

PARTS = Parts.JOBSET | Parts.KUBERAY
WITHIN_SECONDS: Final = 60.0
ON_TERM: Final = "exit-code-on-term"
SLOWLY: Final = {f"{KNOB}stop-delay": "4s"}
"""Pods that take their time to end, so that the leader is told to go in the middle of a move."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@pytest.fixture(scope="module")
def controller(installed: ControlPlane, proxy: FaultProxy) -> Iterator[Controller]:
    """One of two replicas, which may lead or not; it asks through the proxy."""
    with Controller(installed, through=proxy, arguments=()) as controller:
        yield controller


def writes_to_a_job(call: Call) -> bool:
    """Whether a call is a write to a job, the first of which suspends it."""
    return call.said in {"patch jobsets", "patch rayjobs"}


@both
def test_a_suspension_that_arrives_after_the_job_has_ended_is_refused_and_it_has_ended(
    here: Controlled, proxy: FaultProxy, gang: Gang
) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    trap = proxy.arm(Fault.LATE, writes_to_a_job)
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    assert trap.reached(WITHIN_SECONDS), "the controller was to suspend the job"
    gang.runs(here, SPOT_POOL, without=lost)
    gang.finish(here)
    here.wait(lambda: gang.is_finished(here), "the job to be done")
    assert not trap.is_released, "the patch was held until the job had ended"

    trap.release()

    here.says(gang.name, phase="Succeeded", evictions=1)
    here.has_lived(gang.name, SPOT_POOL, evictions=1)
    assert seen.suspensions(here.recorder.raw(), gang.name) == []


def moves_while_it_runs(here: Controlled, gang: Gang, polite: list[Object]) -> None:
    """A whole gang that was evicted once is moved for it at once, by a policy that tolerates no eviction any more.

    `polite` are those of its pods that end with 0 as they are told to go.
    """
    here.turn(polite, ON_TERM, 0)
    here.policy(spot(max_failures=0), on_demand())
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1, errors=0)
    assert not gang.is_finished(here)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
    (move,) = seen.suspensions(here.recorder.raw(), gang.name)
    assert move.is_ours
    assert move.until is not None
    lives = {each.uid: each for each in History(here.recorder.raw()).of("Pod")}
    codes = [exit_code(lives[pod["metadata"]["uid"]].last) for pod in polite]
    assert set(codes) == {0}, f"they were to end with 0 as the gang was suspended: {codes}"


@both
def test_a_gang_that_leaves_with_0_as_it_is_suspended_is_not_taken_for_done(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=5), on_demand())
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    pods = gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", evictions=1)
    beside = [head(here), submitter(here)] if gang.kind == "RayJob" else []
    moves_while_it_runs(here, gang, [*pods, *beside])


def test_a_role_that_leaves_with_0_as_the_gang_is_suspended_is_not_taken_for_done(here: Controlled) -> None:
    gang = JOBSET
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=5), on_demand())
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    pods = gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", evictions=1)
    moves_while_it_runs(here, gang, [pod for pod in pods if role(pod) == "learner"])


@both
def test_a_leader_that_is_told_to_go_in_the_middle_of_a_move_leaves_it_to_the_other(
    here: Controlled, controller: Controller, gang: Gang
) -> None:
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand())
    here.submit(gang.job(here, name, knobs=SLOWLY))
    pods = gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)
    second = Controller(here.plane, "controller-2", arguments=())
    second.start()
    node = nodes_of(pods)[0]
    here.give_notice([node])
    here.evict(here.on(node)[0])
    here.wait(lambda: seen.suspensions(here.recorder.raw(), gang.name), "the leader to suspend the job")

    here.recorder.mark("stop the leader")
    assert controller.stop() == 0

    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
    (move,) = seen.suspensions(here.recorder.raw(), gang.name)
    assert move.is_ours
    assert move.until is not None
    told = seen.marked(here.recorder.raw(), "stop the leader")
    assert move.since < told < move.until, "the leader was to go in the middle of the move"
    controller.start()
    second.stop()
