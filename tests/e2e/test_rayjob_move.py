"""A RayJob is moved to another pool by hand, as the fallback controller is to do it, and what goes wrong otherwise."""

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import node_of, waits
from spotproof.vocabulary import POOL_LABEL, SPOT
from tests.e2e.jobs import HEAD_POOL, ON_DEMAND_POOL, SPOT_POOL, WORKERS, pools, rendered
from tests.e2e.moves import move_rayjob, patch, selectors, suspend
from tests.e2e.ray import RAY, ends, head, runs, start, workers
from tests.e2e.stage import Stage

PARTS = Parts.KUBERAY | Parts.KARPENTER
INSTANCE_TYPES = pools().instance_types


def test_workers_that_wait_for_spot_are_moved_to_one_zone_of_on_demand_and_the_head_stays(stage: Stage) -> None:
    before = start(stage)
    stage.close_market(capacity_type=SPOT)
    stage.reclaim(node_of(workers(stage)[0]))
    stage.wait(lambda: any(waits(pod) for pod in workers(stage)), "workers to wait for spot")

    move_rayjob(stage, ON_DEMAND_POOL)

    after = runs(stage, ON_DEMAND_POOL)
    assert after["rayClusterName"] != before["rayClusterName"]
    assert (after["failed"], after["succeeded"]) == (0, 0)
    assert len(stage.zones(workers(stage))) == 1
    assert node_of(head(stage)) in stage.nodes(HEAD_POOL)
    stage.tells("rayjob-move")


def test_the_next_attempt_uses_a_template_that_changed_while_this_one_ran_and_a_move_keeps_its_count(
    stage: Stage,
) -> None:
    first = start(stage)["jobId"]
    patch(stage, "RayJob", "select", lambda job: selectors(job, {POOL_LABEL: ON_DEMAND_POOL}))
    assert runs(stage, SPOT_POOL)["jobId"] == first

    ends(stage, first, "FAILED")

    second = runs(stage, ON_DEMAND_POOL, not_as=first)
    assert (second["failed"], second["succeeded"]) == (1, 0)

    move_rayjob(stage, SPOT_POOL)

    third = runs(stage, SPOT_POOL, not_as=second["jobId"])
    assert (third["failed"], third["succeeded"]) == (1, 0)


def test_a_ray_job_that_keeps_its_cluster_cannot_be_suspended_and_nothing_leads_back(stage: Stage) -> None:
    start(stage)
    keeps = {"spec": {"shutdownAfterJobFinishes": False}}
    stage.recorder.mark("set shutdownAfterJobFinishes false", "RayJob/ray")
    stage.kube.patch(RAY, "RayJob", "ray", keeps, stage.namespace)

    suspend(stage, "RayJob", {POOL_LABEL: ON_DEMAND_POOL})

    refused = "a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended"
    stage.wait(lambda: refused in stage.status("RayJob").get("message", ""), "the RayJob to be refused")
    mended = {"spec": {"shutdownAfterJobFinishes": True, "suspend": False}}
    stage.recorder.mark("set shutdownAfterJobFinishes true and resume", "RayJob/ray")
    stage.kube.patch(RAY, "RayJob", "ray", mended, stage.namespace)
    # KubeRay takes one RayJob after the other: when it has come to this one, it has seen the other mended
    later = rendered("ray", stage.namespace)
    later["metadata"]["name"], later["spec"]["suspend"] = "later", True
    stage.kube.apply(later)
    stage.wait(
        lambda: stage.kube.get(RAY, "RayJob", "later", stage.namespace).get("status", {}).get("jobDeploymentStatus"),
        "KubeRay to come to the RayJob that was made last",
    )
    status = stage.kube.get(RAY, "RayJob", "ray", stage.namespace)["status"]
    assert (status["jobDeploymentStatus"], status["jobStatus"]) == ("ValidationFailed", "RUNNING")
    assert len(workers(stage)) == WORKERS
    stage.kube.delete(RAY, "RayJob", "later", stage.namespace)
    stage.tells("rayjob-dead-end")
