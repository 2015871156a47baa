"""A JobSet is moved to another pool by hand, as the fallback controller is to do it, and what goes wrong otherwise."""

from collections import Counter

import pytest

from spotproof.kube.client import Refused
from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import is_true, node_of, waits
from spotproof.vocabulary import CAPACITY_LABEL, LOST_NODE_TAINTS, ON_DEMAND, POOL_LABEL, SPOT
from tests.e2e.jobs import KNOB, ON_DEMAND_POOL, PODS, SPOT_POOL, pools, rendered, saves_and_leaves
from tests.e2e.moves import (
    SUSPENDED,
    as_read,
    move_jobset,
    no_pod_left,
    replace_jobs,
    resume,
    selectors,
    suspend,
)
from tests.e2e.stage import Object, Stage

PARTS = Parts.JOBSET | Parts.KARPENTER
INSTANCE_TYPES = pools().instance_types


def pod_spec(job: Object) -> Object:
    """What a Job's pods are made from."""
    return job["spec"]["template"]["spec"]


def tolerations(stage: Stage) -> dict[str, Counter[str]]:
    """How often each Job tolerates each key."""
    return {name: Counter(each["key"] for each in pod_spec(job)["tolerations"]) for name, job in stage.jobs().items()}


def resumed_once_more(before: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    """The same, with what is tolerated for some seconds only, the lost nodes, once more."""
    return {name: keys + Counter(LOST_NODE_TAINTS) for name, keys in before.items()}


def test_a_gang_that_waits_for_spot_is_moved_to_one_zone_of_on_demand_and_no_restart_is_counted(stage: Stage) -> None:
    stage.submit(saves_and_leaves(rendered("gang", stage.namespace)))
    lost = node_of(stage.gang_runs(PODS, SPOT_POOL)[0])
    stage.close_market(capacity_type=SPOT)
    stage.reclaim(lost)
    stage.wait(lambda: stage.status().get("restarts") == 1, "the JobSet to restart")
    stage.wait(lambda: any(waits(pod) for pod in stage.pods()), "pods to wait for spot")

    move_jobset(stage, ON_DEMAND_POOL)

    assert len(stage.zones(stage.gang_runs(PODS, ON_DEMAND_POOL))) == 1
    assert all(pod_spec(job)["nodeSelector"] == {POOL_LABEL: ON_DEMAND_POOL} for job in stage.jobs().values())
    assert stage.status()["restarts"] == 1
    assert "restartsCountTowardsMax" not in stage.status()
    stage.tells("jobset-move")


def test_jobs_that_are_kept_get_both_selectors_and_nobody_says_a_word_and_replacing_them_mends_it(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.static_nodes(ON_DEMAND_POOL, 2)
    stage.submit(saves_and_leaves(rendered("gang", stage.namespace)))
    stage.gang_runs(PODS, SPOT_POOL)

    suspend(stage, "JobSet", {CAPACITY_LABEL: ON_DEMAND})
    no_pod_left(stage)
    resume(stage, "JobSet")

    stage.wait(lambda: len([pod for pod in stage.pods() if waits(pod)]) == PODS, "every pod to find no node")
    both = {POOL_LABEL: SPOT_POOL, CAPACITY_LABEL: ON_DEMAND}
    assert all(pod_spec(job)["nodeSelector"] == both for job in stage.jobs().values())
    conditions = {each["type"] for each in stage.status()["conditions"] if each["status"] == "True"}
    assert conditions == set()

    suspend(stage, "JobSet", {POOL_LABEL: ON_DEMAND_POOL})
    no_pod_left(stage)
    replace_jobs(stage)
    resume(stage, "JobSet")

    stage.gang_runs(PODS, ON_DEMAND_POOL)
    stage.tells("jobset-stale-selector")


def test_every_resume_adds_the_tolerations_with_a_limit_once_more_and_only_new_jobs_forget_them(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.static_nodes(ON_DEMAND_POOL, 2)
    stage.submit(saves_and_leaves(rendered("gang", stage.namespace)))
    stage.gang_runs(PODS, SPOT_POOL)
    once = tolerations(stage)

    for pool in (ON_DEMAND_POOL, SPOT_POOL):
        move_jobset(stage, pool)
        stage.gang_runs(PODS, pool)
        assert tolerations(stage) == resumed_once_more(once)

    suspend(stage, "JobSet", {POOL_LABEL: ON_DEMAND_POOL})
    no_pod_left(stage)
    resume(stage, "JobSet")
    stage.gang_runs(PODS, ON_DEMAND_POOL)
    assert tolerations(stage) == resumed_once_more(resumed_once_more(once))


def test_a_killed_pod_seen_while_its_job_is_suspended_fails_the_job_and_a_restart_is_counted(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.static_nodes(ON_DEMAND_POOL, 2)
    stage.submit(rendered("gang", stage.namespace))
    # a pod that has ended is there for 0.2 s more, and the Job controller may look then or not: this one stays
    held = stage.gang_runs(PODS, SPOT_POOL)[0]["metadata"]["name"]
    finalizer = {"op": "add", "path": "/metadata/finalizers/-", "value": f"{KNOB}held"}
    stage.kube.patch("v1", "Pod", held, [finalizer], stage.namespace)

    suspend(stage, "JobSet", {POOL_LABEL: ON_DEMAND_POOL})

    stage.wait(lambda: any(is_true(job, "FailureTarget") for job in stage.jobs().values()), "a Job to fail")
    stage.kube.patch("v1", "Pod", held, {"metadata": {"finalizers": []}}, stage.namespace)
    no_pod_left(stage)
    resume(stage, "JobSet")
    stage.wait(lambda: stage.status().get("restarts") == 1, "the JobSet to restart")
    stage.gang_runs(PODS, ON_DEMAND_POOL)
    stage.tells("jobset-killed-while-suspended")


def test_a_move_of_what_has_changed_meanwhile_is_refused_whole(stage: Stage) -> None:
    stage.static_nodes(SPOT_POOL, 2)
    stage.submit(saves_and_leaves(rendered("gang", stage.namespace)))
    stage.gang_runs(PODS, SPOT_POOL)
    read = stage.job()
    meanwhile = {"metadata": {"labels": {"changed": "meanwhile"}}}
    stage.kube.patch(read["apiVersion"], "JobSet", "gang", meanwhile, stage.namespace)

    move = as_read(read, [SUSPENDED, *selectors(read, {POOL_LABEL: ON_DEMAND_POOL})])
    with pytest.raises(Refused) as refused:
        stage.kube.patch(read["apiVersion"], "JobSet", "gang", move, stage.namespace)

    assert (refused.value.status, refused.value.reason) == (422, "Invalid")
    assert stage.job()["spec"] == read["spec"]
    assert not is_true(stage.job(), "Suspended")
