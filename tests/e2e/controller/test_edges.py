"""What happens between two calls of the controller, and what a second replica makes of it."""

from collections.abc import Iterator

import pytest

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from tests.e2e.controller import timeline
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.faults import Call, Fault
from tests.e2e.controller.gangs import GANGS, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
WITHIN_SECONDS = 60.0

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@pytest.fixture(scope="module")
def controller(installed: ControlPlane, proxy: FaultProxy) -> Iterator[Controller]:
    """One of two replicas, which may lead or not; it asks through the proxy."""
    with Controller(installed, through=proxy, arguments=()) as controller:
        yield controller


def suspends(call: Call) -> bool:
    """Whether a call is a write to a job."""
    return call.said in {"patch jobsets", "patch rayjobs"}


@both
def test_a_job_that_ends_as_it_is_to_be_moved_has_ended(here: Controlled, proxy: FaultProxy, gang: Gang) -> None:
    furnished(here, gang)
    pods = running(here, gang, spot(max_failures=0, pending_timeout="3s"), on_demand())
    trap = proxy.arm(Fault.KILLED_BEFORE, suspends)
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    assert trap.reached(WITHIN_SECONDS), "the controller was to suspend the job"
    here.add_nodes(SPOT_POOL, 1)
    gang.runs(here, SPOT_POOL, without=lost)
    gang.finish(here)
    here.wait(lambda: gang.is_finished(here), "the job to be done")
    trap.release()
    here.says(gang.name, phase="Succeeded")
    assert gang.is_finished(here)
    assert not here.job(gang.kind)["spec"].get("suspend")
    here.has_lived(gang.name, SPOT_POOL, evictions=1)
    assert timeline.suspensions(here.recorder.raw(), gang.name) == []


@both
def test_a_second_replica_goes_on_in_the_middle_of_a_move(
    here: Controlled, controller: Controller, proxy: FaultProxy, gang: Gang
) -> None:
    furnished(here, gang)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    second = Controller(here.plane, "controller-2", arguments=())
    second.start()
    trap = proxy.arm(Fault.KILLED_AFTER, suspends)
    drained(here, nodes_of(pods)[0])
    assert trap.reached(WITHIN_SECONDS), "the controller was to suspend the job"
    controller.kill()
    trap.release()
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1, quiet=True)
    assert len(timeline.suspensions(here.recorder.raw(), gang.name)) == 1
    controller.start()
    second.stop()
