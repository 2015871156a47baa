"""When a gang is whole, what of it is missing, and what it has lost."""

from typing import Any

import pytest

from spotproof.controller.gang import Gang, complete_without_pods, gang
from spotproof.controller.jobs.jobset import JobSetKind
from spotproof.controller.kinds import Object
from tests.unit.controller.things import NOW, at, pod

ROLES = {"launcher": 1, "worker": 2}


def jobset(restarts: int = 0) -> Object:
    """A JobSet of a launcher and two workers."""
    roles = [
        {"name": name, "replicas": 1, "template": {"spec": {"parallelism": pods, "template": {"spec": {}}}}}
        for name, pods in ROLES.items()
    ]
    return {
        "kind": "JobSet",
        "metadata": {"name": "train", "creationTimestamp": at(-900)},
        "spec": {"replicatedJobs": roles},
        "status": {"restarts": restarts},
    }


def child(role: str, *, complete: bool, why: str = "CompletionsReached") -> Object:
    """A child Job of it, complete since second 0."""
    done = {"type": "Complete", "status": "True", "reason": why, "lastTransitionTime": at()}
    conditions = [done] if complete else []
    return {
        "metadata": {"uid": f"job-{role}"},
        "spec": {"completions": ROLES[role]},
        "status": {"conditions": conditions},
    }


def of(role: str, name: str, **more: Any) -> Object:
    """A pod of a role."""
    made = pod(name, **more)
    made["metadata"]["ownerReferences"] = [{"kind": "Job", "name": role, "uid": f"job-{role}"}]
    return made


WORKERS = (of("worker", "w-0"), of("worker", "w-1"))
DONE = of("launcher", "l-0", phase="Succeeded", exit_code=0)


def seen(*pods: Object, gone: tuple[Object, ...] = (), launcher_done: bool = False) -> Gang:
    children = [child("launcher", complete=launcher_done), child("worker", complete=False)]
    return gang(JobSetKind(), jobset(), pods, gone, None, children=children)


def test_a_gang_is_whole_with_every_pod_ready() -> None:
    assert seen(of("launcher", "l-0"), *WORKERS).is_whole
    assert not seen(*WORKERS).is_whole
    assert seen(*WORKERS).is_missing_pods


def test_a_pod_that_has_done_its_work_counts_as_there_and_is_no_loss() -> None:
    found = seen(DONE, *WORKERS)

    assert (found.is_whole, found.is_missing_pods, found.lost) == (True, False, ())


def test_a_role_that_is_complete_is_missed_by_nobody_once_its_pods_are_gone_with_their_node() -> None:
    found = seen(*WORKERS, gone=(DONE,), launcher_done=True)

    assert (found.is_whole, found.is_missing_pods, found.lost) == (True, False, ())


def test_a_pod_that_left_with_zero_after_its_eviction_is_lost() -> None:
    evicted = of("launcher", "l-0", phase="Succeeded", disrupted="EvictionByEvictionAPI", exit_code=0)
    found = seen(evicted, *WORKERS)

    assert (found.is_whole, found.is_missing_pods, found.lost) == (False, True, (evicted,))


def evicted_launcher(disrupted_at: int) -> Object:
    """The launcher's pod, which ended with 0 at second 0."""
    evicted = {"disrupted": "EvictionByEvictionAPI", "disrupted_at": disrupted_at}
    return of("launcher", "l-0", phase="Succeeded", exit_code=0, **evicted)


def test_a_role_that_is_complete_since_its_evicted_pod_left_with_zero_is_missed() -> None:
    evicted = evicted_launcher(-1)
    for found in (seen(evicted, *WORKERS, launcher_done=True), seen(*WORKERS, gone=(evicted,), launcher_done=True)):
        assert (found.is_whole, found.is_missing_pods, found.lost) == (False, True, (evicted,))
        assert found.left_early == {"job-launcher"}


@pytest.mark.parametrize("done", [DONE, evicted_launcher(60)], ids=["done", "drained after it was done"])
def test_a_role_that_was_complete_before_its_node_was_drained_is_done(done: Object) -> None:
    for found in (seen(done, *WORKERS, launcher_done=True), seen(*WORKERS, gone=(done,), launcher_done=True)):
        assert (found.is_whole, found.is_missing_pods, found.lost) == (True, False, ())
        assert found.left_early == frozenset()


def test_a_role_that_is_complete_by_a_pod_that_was_last_seen_running_is_missed() -> None:
    running = of("launcher", "l-0")
    found = seen(*WORKERS, gone=(running,), launcher_done=True)

    assert (found.left_early, found.left_early_at, found.lost) == ({"job-launcher"}, NOW, (running,))


@pytest.mark.parametrize(
    ("children", "pods", "after", "found"),
    [
        ([child("launcher", complete=True)], (), -1, {"job-launcher"}),
        ([child("launcher", complete=True)], (DONE,), -1, set[str]()),
        ([child("launcher", complete=True)], (evicted_launcher(-1),), -1, {"job-launcher"}),
        ([child("launcher", complete=True)], (), 0, set[str]()),
        ([child("launcher", complete=False)], (), -1, set[str]()),
        ([child("worker", complete=True)], (of("worker", "w-0", phase="Succeeded"),), -1, {"job-worker"}),
        ([child("worker", complete=True, why="SuccessPolicy")], (), -1, set[str]()),
    ],
    ids=["gone", "there", "evicted", "known", "under way", "one of two there", "ended by its successPolicy"],
)
def test_a_role_without_the_pods_that_did_its_work_is_found_by_a_process_that_did_not_see_it_end(
    children: list[Object], pods: tuple[Object, ...], after: int, found: set[str]
) -> None:
    assert complete_without_pods(children, pods, NOW + after) == found


def test_a_role_that_is_being_deleted_has_no_pods_for_that_reason() -> None:
    leaving = child("launcher", complete=True)
    leaving["metadata"]["deletionTimestamp"] = at()

    assert complete_without_pods([leaving], (), NOW - 1) == set()


def test_pods_of_a_namesake_that_was_deleted_are_not_the_jobs() -> None:
    old = of("launcher", "l-0")
    old["metadata"]["creationTimestamp"] = at(-1000)

    assert seen(old, *WORKERS).is_missing_pods
    assert seen(*WORKERS, gone=(old,)).lost == ()


def test_a_role_that_others_depend_on_is_known_by_the_name_of_its_job() -> None:
    job = jobset()
    first, second = job["spec"]["replicatedJobs"]
    second["dependsOn"] = [{"name": first["name"], "status": "Complete"}]
    named = [{"metadata": {"name": f"train-{role}-0"}} for role in ROLES]

    assert [JobSetKind().is_awaited(job, each) for each in named] == [True, False]
