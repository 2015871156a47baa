"""A RayJob loses workers, its head, its program: what KubeRay makes of it, and what it counts."""

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import node_of
from tests.e2e.jobs import SPOT_POOL, pools
from tests.e2e.ray import ends, head, runs, start, workers
from tests.e2e.stage import Stage

PARTS = Parts.KUBERAY | Parts.KARPENTER
INSTANCE_TYPES = pools().instance_types


def test_a_reclaimed_node_costs_workers_and_neither_the_attempt_nor_a_count(stage: Stage) -> None:
    before = start(stage)
    lost = node_of(workers(stage)[0])

    stage.reclaim(lost)

    stage.wait(lambda: all(node_of(pod) != lost for pod in workers(stage)), "the workers of the node to be gone")
    after = runs(stage, SPOT_POOL)
    assert {key: after[key] for key in ("jobId", "rayClusterName", "failed")} == {
        "jobId": before["jobId"],
        "rayClusterName": before["rayClusterName"],
        "failed": 0,
    }
    stage.tells("rayjob-reclaim")


def test_a_lost_head_comes_back_and_the_submitter_tries_again(stage: Stage) -> None:
    before = start(stage)
    lost = head(stage)["metadata"]["name"]

    stage.reclaim(node_of(head(stage)))

    stage.wait(lambda: head(stage).get("metadata", {}).get("name", lost) != lost, "another head")
    stage.lose_head(before["rayClusterName"])
    after = runs(stage, SPOT_POOL)
    assert (after["jobId"], after["rayClusterName"], after["failed"]) == (before["jobId"], before["rayClusterName"], 0)
    stage.tells("rayjob-head")


def test_a_program_that_fails_is_tried_again_on_a_new_cluster_and_the_end_is_complete(stage: Stage) -> None:
    first = start(stage)

    ends(stage, first["jobId"], "FAILED")

    second = runs(stage, SPOT_POOL, not_as=first["jobId"])
    assert second["failed"] == 1
    assert second["rayClusterName"] != first["rayClusterName"]

    ends(stage, second["jobId"], "SUCCEEDED")

    stage.tells("rayjob-retry")
    status = stage.status("RayJob")
    assert (status["jobDeploymentStatus"], status["failed"], status["succeeded"]) == ("Complete", 1, 1)


def test_as_many_failures_as_the_file_allows_and_one_more_end_the_ray_job(stage: Stage) -> None:
    ends(stage, first := start(stage)["jobId"], "FAILED")
    ends(stage, runs(stage, SPOT_POOL, not_as=first)["jobId"], "FAILED")

    stage.wait(lambda: stage.status("RayJob").get("jobDeploymentStatus") == "Failed", "the RayJob to fail")
    status = stage.status("RayJob")
    assert (status["reason"], status["failed"]) == ("AppFailed", 2)
