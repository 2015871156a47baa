"""A JobSet loses a node, is killed, fails, ends: what JobSet makes of our failure rules, and what it counts."""

from collections.abc import Iterator

import pytest

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import condition, node_of
from tests.e2e.jobs import OTHER_SPOT_POOL, PODS, SPOT_POOL, pools, rendered, with_controller
from tests.e2e.stage import Stage

PARTS = Parts.JOBSET | Parts.KARPENTER
INSTANCE_TYPES = pools().instance_types
POD_GC_SECONDS = 150.0
"""PodGC looks every 20 s, and leaves pods alone until their node has been gone for 40 s; neither can be set."""


@pytest.fixture(scope="module", autouse=True)
def vanished(prepared: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A gang of its own, one of whose nodes is gone from the start: the other tests pass the minute that it takes."""
    record = bool(request.config.getoption("--record"))
    with Stage(prepared, "vanished", record=record, bought=False) as stage:
        stage.static_nodes(OTHER_SPOT_POOL, 3)
        stage.submit(rendered("gang", stage.namespace, policy="h100"))
        lost = node_of(stage.gang_runs(PODS, OTHER_SPOT_POOL)[0])
        stage.recorder.mark("delete the node", f"Node/{lost}")
        stage.kube.delete("v1", "Node", lost)
        yield stage


def test_a_reclaimed_node_restarts_the_gang_and_is_not_counted(stage: Stage) -> None:
    stage.submit(rendered("gang", stage.namespace))
    lost = node_of(stage.gang_runs(PODS, SPOT_POOL)[0])
    jobs = {name: job["metadata"]["uid"] for name, job in stage.jobs().items()}

    stage.reclaim(lost)

    stage.wait(lambda: stage.status().get("restarts") == 1, "the JobSet to restart")
    assert all(node_of(pod) != lost for pod in stage.gang_runs(PODS, SPOT_POOL))
    assert all(job["metadata"]["uid"] != jobs[name] for name, job in stage.jobs().items())
    stage.tells("jobset-reclaim")


def test_a_pod_killed_without_a_word_restarts_the_gang_and_is_counted_where_nobody_tells_why(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.submit(rendered("gang", stage.namespace))

    stage.turn(stage.gang_runs(PODS, SPOT_POOL)[:1], "exit-code", 137)

    stage.wait(lambda: stage.status().get("restarts") == 1, "the JobSet to restart")
    stage.gang_runs(PODS, SPOT_POOL)
    stage.tells("jobset-killed")


def test_a_pod_killed_without_a_word_is_not_counted_where_a_controller_is_to_tell_why(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.submit(rendered("gang", stage.namespace, with_controller()))

    stage.turn(stage.gang_runs(PODS, SPOT_POOL)[:1], "exit-code", 143)

    stage.wait(lambda: stage.status().get("restarts") == 1, "the JobSet to restart")
    stage.gang_runs(PODS, SPOT_POOL)
    assert condition(stage.job(), "RestartingJobSet")["reason"] in {"FailurePolicy_killed", "JobsReady"}
    assert "restartsCountTowardsMax" not in stage.status()


def test_a_software_error_restarts_the_gang_and_is_counted_and_the_end_is_completed(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.submit(rendered("gang", stage.namespace))
    stage.turn(stage.gang_runs(PODS, SPOT_POOL)[:1], "exit-code", 1)
    stage.wait(lambda: stage.status().get("restarts") == 1, "the JobSet to restart")

    stage.turn(stage.gang_runs(PODS, SPOT_POOL), "exit-code", 0)

    stage.tells("jobset-error")
    assert stage.status()["terminalState"] == "Completed"


def test_an_evicted_pod_that_ends_with_zero_counts_as_done_and_its_gang_waits_for_it_for_ever(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.submit(rendered("gang", stage.namespace))
    evicted, other = stage.gang_runs(PODS, SPOT_POOL)[:2]
    stage.turn([evicted], "exit-code-on-term", 0)

    stage.evict(evicted)

    stage.wait(lambda: any(job["status"].get("succeeded") == 1 for job in stage.jobs().values()), "a Job to count it")
    stage.wait(lambda: len(stage.pods()) == PODS - 1, "the pod to be gone")
    # What JobSet does of an error it would have done of the eviction before: one restart is the error's alone.
    stage.turn([other], "exit-code", 1)
    stage.wait(lambda: stage.status().get("restarts"), "the JobSet to restart")
    stage.gang_runs(PODS, SPOT_POOL)
    stage.tells("jobset-exit-zero")
    assert (stage.status()["restarts"], stage.status()["restartsCountTowardsMax"]) == (1, 1)


def test_as_many_errors_as_the_file_allows_and_one_more_end_the_gang(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    job = rendered("gang", stage.namespace)
    stage.submit(job)
    for restarts in range(job["spec"]["failurePolicy"]["maxRestarts"] + 1):
        stage.wait(lambda n=restarts: stage.status().get("restarts", 0) == n, f"restart {restarts}")
        stage.turn(stage.gang_runs(PODS, SPOT_POOL)[:1], "exit-code", 1)

    stage.wait(lambda: stage.status().get("terminalState") == "Failed", "the JobSet to fail")
    assert stage.status()["restartsCountTowardsMax"] == 1


@pytest.mark.slow
def test_pods_of_a_node_that_vanished_are_lost_by_pod_gc_and_count_as_evicted(vanished: Stage) -> None:
    vanished.wait(lambda: vanished.status().get("restarts") == 1, "the JobSet to restart", POD_GC_SECONDS)
    vanished.gang_runs(PODS, OTHER_SPOT_POOL)
    vanished.tells("jobset-node-vanished")
