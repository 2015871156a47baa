"""One row a managed job."""

import pytest

from spotproof.controller.kinds import RUN
from spotproof.fallback.record import parse_instant
from spotproof.status.rows import rows
from tests.unit.status.worlds import (
    EVERYTHING,
    MOVING,
    UNSCHEDULABLE,
    UNSEEN,
    WAITING,
    condition,
    event,
    jobset,
    of_cluster,
    of_jobset,
    pod,
    rayjob,
    run,
    world,
)


def test_a_row_says_what_the_training_run_says() -> None:
    (row,) = rows(world(WAITING))

    assert (row.namespace, row.name, row.kind, row.policy) == ("research", "llama-70b", "JobSet", "a100")
    assert (row.phase, row.tier, row.attempt, row.evictions, row.errors) == ("Waiting", "a100-spot-a", 4, 3, 1)
    assert row.since == parse_instant("2026-11-21T11:48:00Z")
    assert row.waits_for == "capacity: the cloud has none of p4d.24xlarge in us-west-2a"
    assert row.next_decision == parse_instant("2026-11-21T12:08:00Z")
    assert row.nodes_held == 3
    assert row.trouble == ("ProgressAssumed: " + WAITING["status"]["conditions"][1]["message"],)


def test_the_schedulers_own_words_are_told_in_ours_and_others_as_they_are() -> None:
    def told(words: str) -> str:
        return rows(world(run("x", phase="Waiting", waitingFor=words)))[0].waits_for

    assert told(UNSCHEDULABLE) == "free cpu and nvidia.com/gpu: what fits it otherwise is full"
    assert told("a word of the controller's") == "a word of the controller's"


def test_jobs_that_are_over_come_last_and_the_others_by_name() -> None:
    found = [f"{row.namespace}/{row.name}" for row in rows(EVERYTHING)]
    assert found == [
        "research/fresh", "research/legacy", "research/llama-70b", "research/tune", "speech/训练-bert",
        "research/warmup",
    ]  # fmt: skip


def test_a_condition_that_the_phase_tells_already_is_not_told_again() -> None:
    (row,) = rows(
        world(run("x", phase="HandedBack", conditions=[condition("HandedBack", "True", "somebody resumed it")]))
    )
    assert row.trouble == ()


def test_nodes_are_held_while_a_job_waits_and_not_while_it_runs() -> None:
    (row,) = rows(world(run("x", phase="Running", nodesHeld=4)))
    assert row.nodes_held == 0


def test_a_job_with_the_label_and_no_training_run_is_not_seen() -> None:
    (row,) = rows(world(UNSEEN))
    assert (row.name, row.phase, row.policy) == ("fresh", "NotSeen", "a100")
    assert "the fallback controller has not seen it yet, or does not run" in row.message


def test_a_job_that_has_ended_or_that_has_its_run_is_not_unseen() -> None:
    labels = {"spotproof.dev/fallback-policy": "a100"}
    over = jobset("over", {}, labels=labels, conditions=[{"type": "Completed", "status": "True"}])
    seen = jobset("llama-70b", {}, labels=labels)
    assert [row.name for row in rows(world(over, seen, WAITING))] == ["llama-70b"]


def test_a_job_whose_name_a_job_of_another_kind_has_is_refused_as_the_controllers_event_says() -> None:
    tune = rayjob("tune", {})
    tune["metadata"]["labels"]["spotproof.dev/fallback-policy"] = "a100"
    found = {row.kind: row for row in rows(world(run("tune", phase="Running"), tune))}
    assert (found["JobSet"].phase, found["RayJob"].phase) == ("Running", "Refused")
    assert found["RayJob"].message == (
        "metadata.name: a JobSet of the same name has the TrainingRun tune. Give one of the two another name."
    )


def test_where_training_runs_cannot_be_read_no_job_is_called_unseen() -> None:
    assert rows(world(UNSEEN, unseen=[RUN])) == ()


def test_a_job_that_waits_without_a_word_of_the_controller_has_the_schedulers() -> None:
    waiting = run("train", phase="Pending", tier="a100-spot-a")
    pods = [pod("train-worker-0-0", of_jobset("train"))]

    (row,) = rows(world(waiting, *pods))
    assert row.waits_for == "free cpu and nvidia.com/gpu: what fits it otherwise is full"

    refused = event(
        "a100-spot-a-x7k2q",
        "InsufficientCapacityError",
        "NodeClaim a100-spot-a-x7k2q event: creating instance, with fleet error(s), "
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission",
        kind="NodeClaim",
    )
    (row,) = rows(world(waiting, *pods, refusals=[refused]))
    assert row.waits_for.startswith("the account's service-linked role for spot, which is missing: run `aws iam")


TAINTED = "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
TOLD_OF_TAINTS = "a node whose taints it tolerates, and there is none"
NO_CAPACITY = "NodeClaim x event: insufficient capacity, the market has no capacity for any offering of this claim"


@pytest.mark.parametrize("own", [TAINTED, "no nodes available to schedule pods", TOLD_OF_TAINTS])
def test_a_refused_purchase_says_more_than_what_the_controller_saw_of_the_nodes(own: str) -> None:
    waiting = run("train", phase="Waiting", tier="a100-spot-a", waitingFor=own)
    refused = event("a100-spot-a-x7k2q", "InsufficientCapacityError", NO_CAPACITY, kind="NodeClaim")

    (row,) = rows(world(waiting, pod("p", of_jobset("train"), TAINTED), refusals=[refused]))
    assert row.waits_for == "capacity: the cloud has none for it now"
    (row,) = rows(world(waiting, pod("p", of_jobset("train"), TAINTED)))
    assert row.waits_for in {TOLD_OF_TAINTS, "a node: none takes pods now"}


def test_what_the_controller_was_told_says_more_than_a_taint() -> None:
    own = "capacity: the cloud has none of p4d.24xlarge in us-west-2a"
    waiting = run("train", phase="Waiting", tier="a100-spot-a", waitingFor=own)
    (row,) = rows(world(waiting, pod("p", of_jobset("train"), TAINTED)))
    assert row.waits_for == own


def test_a_refusal_of_another_pool_or_of_an_hour_ago_is_not_the_jobs() -> None:
    waiting = run("train", phase="Pending", tier="a100-spot-a")
    words = "NodeClaim x event: insufficient capacity, the market has no capacity for any offering of this claim"
    other = event("a100-spot-b-x7k2q", "InsufficientCapacityError", words, kind="NodeClaim")
    old = event("a100-spot-a-x7k2q", "InsufficientCapacityError", words, "2026-11-21T11:00:00Z", "NodeClaim")
    (row,) = rows(world(waiting, refusals=[other, old]))
    assert row.waits_for == ""


def test_a_job_that_runs_waits_for_nothing_whatever_its_pods_say() -> None:
    (row,) = rows(world(run("train", phase="Running"), pod("p", of_jobset("train"))))
    assert row.waits_for == ""


def test_pods_of_a_ray_cluster_are_of_the_rayjob_that_names_it() -> None:
    tune = run("tune", kind="RayJob", phase="Waiting")
    found = rows(world(tune, rayjob("tune", {}, cluster="tune-x7"), pod("w", of_cluster("tune-x7"))))
    assert found[0].waits_for
    assert not rows(world(tune, rayjob("tune", {}, cluster="tune-y8"), pod("w", of_cluster("tune-x7"))))[0].waits_for


def test_of_a_pods_events_the_newest_of_each_reason_counts() -> None:
    events = [
        event("p", "FailedScheduling", "no nodes available to schedule pods"),
        event(
            "p",
            "FailedScheduling",
            "Failed to schedule pod, node limits have been exhausted for nodepool",
            "2026-11-21T11:10:00Z",
        ),
    ]
    pending = pod("p", of_jobset("train"), "nothing")
    (row,) = rows(world(run("train", phase="Waiting"), pending, *events))
    assert row.waits_for == "a node: none takes pods now"


def test_a_move_is_a_row_too() -> None:
    (row,) = rows(world(MOVING))
    assert (row.phase, row.tier, row.kind) == ("Moving", "a100", "RayJob")
