"""What people do to a job: freeze it, pause everything, write to it, mend it, end it, in the middle of a move too."""

from typing import Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.vocabulary import (
    FALLBACK_POLICY_LABEL,
    MANUAL_LABEL,
    MOVE_ANNOTATION,
    PAUSED_LABEL,
    POOL_LABEL,
    SYSTEM_NAMESPACE,
)
from tests.e2e.controller import timeline
from tests.e2e.controller.gangs import GANGS, RAYJOB, Gang
from tests.e2e.controller.policies import NEXT_SPOT_POOL, on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import QUIET_SECONDS, Controlled, drained, nodes_of
from tests.e2e.jobs import KNOB, ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.moves import RESUMED, SUSPENDED, selectors
from tests.e2e.ray import ends, runs
from tests.e2e.stage import Object

PARTS = Parts.JOBSET | Parts.KUBERAY
SLOWLY: Final = {f"{KNOB}stop-delay": "8s"}
"""Pods that take their time to end, so that a test finds a move in its middle."""
SUSPENDS: Final = frozenset({"Suspending", "Suspended"})
"""What KubeRay says of a RayJob whose cluster it takes away, or has taken."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


def label(here: Controlled, gang: Gang, key: str, value: str | None) -> None:
    """Set a label of the job, or take it away."""
    job = here.job(gang.kind)
    here.recorder.mark(f"label {key}={value}", f"{gang.kind}/{gang.name}")
    here.kube.patch(job["apiVersion"], gang.kind, gang.name, {"metadata": {"labels": {key: value}}}, here.namespace)


def pause(here: Controlled, namespace: str, value: str | None) -> None:
    """Pause a namespace, or let it go on."""
    here.recorder.mark(f"pause {value}", f"Namespace/{namespace}")
    here.kube.patch("v1", "Namespace", namespace, {"metadata": {"labels": {PAUSED_LABEL: value}}})


def moving(here: Controlled, gang: Gang) -> None:
    """A job whose pods end slowly, in the middle of its move to on-demand."""
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand())
    here.submit(gang.job(here, name, knobs=SLOWLY))
    pods = gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)
    node = nodes_of(pods)[0]
    here.give_notice([node])
    here.evict(here.on(node)[0])
    # recorded as well: what is done next is compared with when that was
    here.wait(
        lambda: is_suspended(here, gang) and timeline.suspensions(here.recorder.raw(), gang.name),
        "the controller to suspend the job",
    )
    if gang.kind == "RayJob":  # one that is resumed before KubeRay has looked goes on in the cluster that it has
        here.wait(lambda: here.status("RayJob")["jobDeploymentStatus"] in SUSPENDS, "KubeRay to suspend it")


def is_suspended(here: Controlled, gang: Gang) -> bool:
    """Whether the job is suspended by the controller."""
    job = here.job(gang.kind)
    return bool(job["spec"].get("suspend")) and MOVE_ANNOTATION in job["metadata"].get("annotations", {})


def evicted_once(here: Controlled, gang: Gang, pods: list[Object]) -> None:
    """A node goes; the gang runs again on its tier."""
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    gang.runs(here, SPOT_POOL, without=lost)


@both
def test_a_job_that_is_frozen_stays_whatever_happens_and_moves_once_it_is_not(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=4)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    label(here, gang, MANUAL_LABEL, "true")
    here.says(gang.name, phase="Manual")
    evicted_once(here, gang, pods)
    assert here.run(gang.name)["phase"] == "Manual"
    assert timeline.suspensions(here.recorder.raw(), gang.name) == []

    # what happened meanwhile was an eviction all the same, and one too many
    label(here, gang, MANUAL_LABEL, None)
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)


@both
@pytest.mark.parametrize("everywhere", [False, True], ids=["workspace", "cluster"])
def test_nothing_is_moved_while_it_is_paused(here: Controlled, gang: Gang, *, everywhere: bool) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    namespace = SYSTEM_NAMESPACE if everywhere else here.namespace
    pause(here, namespace, "true")
    try:
        here.wait(lambda: here.condition(gang.name, "Paused").get("status") == "True", "the pause to be seen")
        evicted_once(here, gang, pods)
        assert not is_suspended(here, gang)
    finally:
        pause(here, namespace, None)
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)


@both
def test_a_job_that_somebody_suspends_is_left_alone_until_they_resume_it(here: Controlled, gang: Gang) -> None:
    furnished(here, gang)
    running(here, gang, spot(max_failures=0), on_demand())
    here.recorder.mark("suspend", gang.kind)
    gang.set(here, SUSPENDED)
    here.says(gang.name, phase="Suspended")
    here.wait(lambda: not gang.moving(here), "its pods to be gone")
    gang.set(here, RESUMED)
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=0)


@both
def test_a_job_that_somebody_resumes_in_the_middle_of_a_move_is_handed_back(here: Controlled, gang: Gang) -> None:
    moving(here, gang)
    here.recorder.mark("resume", gang.kind)
    resumed = here.resumed_by_hand = here.recorder.seconds
    gang.set(here, RESUMED)
    here.says(gang.name, phase="HandedBack")
    assert here.condition(gang.name, "HandedBack")["status"] == "True"
    here.has_told(gang.name, "Evicted", "Moving", "HandedBack")
    gang.runs(here, ON_DEMAND_POOL)
    here.stays(
        f"{gang.name} as the person set it", lambda: suspended_since(here, gang, resumed), for_seconds=QUIET_SECONDS
    )
    assert here.run(gang.name)["phase"] == "HandedBack"

    label(here, gang, MANUAL_LABEL, "true")
    here.says(gang.name, phase="Manual")
    label(here, gang, MANUAL_LABEL, None)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL)
    assert here.condition(gang.name, "HandedBack").get("status") != "True"
    assert suspended_since(here, gang, resumed) == []
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)


def suspended_since(here: Controlled, gang: Gang, at: float) -> list[timeline.Suspension]:
    """Suspensions of the job that began after a moment of the recording."""
    return [each for each in timeline.suspensions(here.recorder.raw(), gang.name) if each.since > at]


@both
def test_a_job_of_an_unknown_policy_is_refused_and_taken_up_when_it_is_mended(here: Controlled, gang: Gang) -> None:
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand())
    here.submit(gang.job(here, "nobody-knows-it"))
    here.says(gang.name, phase="Refused")
    accepted = here.condition(gang.name, "Accepted")
    assert accepted["status"] == "False"
    assert "nobody-knows-it" in accepted["message"]
    assert FALLBACK_POLICY_LABEL in accepted["message"]
    pods = gang.runs(here, SPOT_POOL)

    label(here, gang, FALLBACK_POLICY_LABEL, name)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)
    assert here.condition(gang.name, "Accepted")["status"] == "True"
    drained(here, nodes_of(pods)[0])
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)


@both
def test_a_job_that_is_put_back_on_its_tier_in_the_middle_of_a_move_is_counted_where_its_pods_are(
    here: Controlled, gang: Gang
) -> None:
    moving(here, gang)
    here.add_nodes(SPOT_POOL, 2)
    put_on(here, gang, SPOT_POOL)
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=1)
    assert [each["reason"] for each in here.run(gang.name)["history"] if each["what"] == "Moved"][-1] == "PutElsewhere"


def test_a_ray_job_whose_manifest_is_applied_again_is_counted_where_its_next_cluster_is(here: Controlled) -> None:
    gang = RAYJOB
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand())
    here.submit(gang.job(here, name, pool=ON_DEMAND_POOL))
    first = runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL)

    put_on(here, gang, SPOT_POOL)
    ends(here, first["jobId"], "FAILED")
    runs(here, SPOT_POOL, not_as=first["jobId"])
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0, errors=1)

    drained(here, nodes_of(gang.moving(here))[0])
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1, errors=1)
    here.has_lived(gang.name, ON_DEMAND_POOL, SPOT_POOL, ON_DEMAND_POOL, evictions=1, errors=1)


def put_on(here: Controlled, gang: Gang, pool: str) -> None:
    """Somebody applies the job again, as it was written for a pool."""
    here.recorder.mark(f"put on {pool}", f"{gang.kind}/{gang.name}")
    gang.set(here, *selectors(here.job(gang.kind), {POOL_LABEL: pool}))


@both
def test_a_job_that_is_deleted_in_the_middle_of_its_move_leaves_nothing(here: Controlled, gang: Gang) -> None:
    moving(here, gang)
    job = here.job(gang.kind)
    here.kube.delete(job["apiVersion"], gang.kind, gang.name, here.namespace)
    here.wait(lambda: not here.kube.list(job["apiVersion"], gang.kind, here.namespace), "the job to be gone")
    here.wait(lambda: not gang.moving(here), "its pods to be gone")
    here.wait(lambda: here.run(gang.name) == {}, "its TrainingRun to be gone")
    assert not any(timeline.probes(here.recorder.raw(), pool) for pool in (SPOT_POOL, ON_DEMAND_POOL))
    # the same name again: another job, which starts afresh
    here.add_nodes(SPOT_POOL, 1)
    here.submit(gang.job(here, here.policy(spot(max_failures=0), on_demand())))
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=0)


@both
def test_an_edited_policy_holds_from_the_next_attempt_on(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=2)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    here.add_nodes(NEXT_SPOT_POOL, 2)
    here.policy(spot(max_failures=0, pool=NEXT_SPOT_POOL), on_demand())
    here.says(gang.name, phase="Running", tier=SPOT_POOL, reason="TierIsGone")
    # with notice: the next attempt begins with the first pod that is lost, and a drain alone is nobody's by then
    here.give_notice(nodes_of(pods)[:1])
    drained(here, nodes_of(pods)[0])
    gang.runs(here, NEXT_SPOT_POOL)
    here.says(gang.name, phase="Running", tier=NEXT_SPOT_POOL)
    here.has_lived(gang.name, SPOT_POOL, NEXT_SPOT_POOL, evictions=1)


@both
@pytest.mark.parametrize("way", ["killed", "stopped"])
def test_a_controller_that_is_replaced_goes_on_with_what_was_counted(
    here: Controlled, controller: Controller, gang: Gang, way: str
) -> None:
    furnished(here, gang, spot=4)
    pods = running(here, gang, spot(max_failures=1), on_demand())
    evicted_once(here, gang, pods)
    here.says(gang.name, phase="Running", evictions=1)
    if way == "killed":
        controller.kill()
    else:
        assert controller.stop() == 0
    # while nobody looks
    pods = gang.moving(here)
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    gang.runs(here, SPOT_POOL, without=lost)
    controller.start()
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=2, errors=0)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=2, quiet=way == "killed")
