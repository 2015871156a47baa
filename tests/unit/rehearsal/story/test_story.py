"""What is told of recordings made by hand, each with one thing that happens."""

import pytest

from spotproof.rehearsal.recording import Recording, read
from spotproof.rehearsal.story import OBSERVATIONS, Moment, story
from tests.unit.rehearsal.tale import (
    EVICTED,
    NO_NODE,
    RUNS,
    Json,
    Tale,
    claim,
    event,
    gang_runs,
    job,
    jobset,
    node,
    pod,
    raycluster,
    rayjob,
)


def of(kind: str, recording: Recording) -> list[Moment]:
    return [moment for moment in story(recording) if moment.kind == kind]


def texts(kind: str, recording: Recording) -> list[str]:
    return [moment.text for moment in of(kind, recording)]


def one(kind: str, recording: Recording) -> Moment:
    (found,) = of(kind, recording)
    return found


def running() -> Tale:
    """Two pods of JobSet train that run on two spot nodes from second 2.6 on."""
    tale = Tale().put(1, jobset()).put(1, job())
    tale.put(1, claim("c0"), claim("c1")).put(1.2, claim("c0", Launched="True"), claim("c1", Launched="True"))
    tale.put(1.5, node("n0"), node("n1"))
    for name, on in (("c0", "n0"), ("c1", "n1")):
        tale.put(1.8, claim(name, node=on, Launched="True", Ready="True"))
    gang_runs(tale, 2.0, ["a", "b"], ["n0", "n1"])
    return tale


def reclaimed(tale: Tale, at: float = 10) -> Tale:
    """Node n0 is reclaimed: its pod is evicted and ends, the other one goes with the Job, the JobSet restarts."""
    tale.mark(at, "reclaim", "NodeClaim/c0")
    tale.put(at, claim("c0", node="n0", leaving=True, Launched="True", Ready="True"))
    tale.put(at + 0.1, pod("a", node="n0", phase="Running", **EVICTED))
    tale.put(at + 1.1, pod("a", node="n0", phase="Failed", code=143, **EVICTED)).gone(at + 1.3, pod("a"))
    tale.put(at + 2.0, pod("b", rank=1, node="n1", leaving=True, phase="Running"))
    tale.put(at + 2.2, job(FailureTarget="True/PodFailurePolicy"))
    tale.put(at + 3.0, pod("b", rank=1, node="n1", leaving=True, phase="Failed", code=143)).gone(at + 3.2, pod("b"))
    words = "Pod research/a has condition DisruptionTarget matching FailJob rule at index 0"
    tale.put(at + 4.0, job(FailureTarget="True/PodFailurePolicy", Failed=f"True/PodFailurePolicy/{words}"))
    tale.put(at + 4.1, jobset(restarts=1, RestartingJobSet="True/FailurePolicy_evicted"))
    return tale.gone(at + 5.0, node("n0"))


def test_a_reclaim_is_told_from_its_cause_to_the_return_in_this_order() -> None:
    tale = reclaimed(running())
    gang_runs(tale, 15, ["c", "d"], ["n1", "n1"])
    found = story(tale.ends(20))

    assert [(moment.at, moment.kind) for moment in found if moment.at >= 10] == [
        (10, "reclaimed"),
        (10.1, "evicted"),
        (12.0, "ended"),
        (14.1, "restarted"),
        (15, "waiting"),
        (15.6, "running"),
    ]


def test_every_observation_is_a_function_of_its_own_and_an_empty_recording_tells_nothing() -> None:
    assert len({observe.__name__ for observe in OBSERVATIONS}) == len(OBSERVATIONS)
    assert story(Recording(())) == ()


def test_a_job_is_submitted_with_its_roles_and_one_that_was_there_is_not() -> None:
    assert texts("submitted", Tale().put(1, jobset()).ends(2)) == ["JobSet train is submitted: 2 pods of worker"]
    assert texts("submitted", Tale().put(1, rayjob()).ends(2)) == [
        "RayJob tune is submitted: 1 pod of head and 1 pod of gpu"
    ]
    assert texts("submitted", Tale().put(0, jobset()).ends(2)) == []


def test_nodes_that_are_bought_together_are_told_once() -> None:
    found = one("bought", running().ends(5))

    assert found.text == "Karpenter buys 2 nodes of pool spot-a (spot)"
    assert (found.at, found.until, found.objects) == (1, 1.8, ("c0", "c1"))


def test_nodes_of_two_pools_are_told_apart() -> None:
    tale = Tale().put(1, claim("a", Launched="True"), claim("b", "spot-b", Launched="True"))

    assert len(of("bought", tale.ends(3))) == 2


def test_a_gang_runs_when_its_last_pod_is_ready() -> None:
    found = one("running", running().ends(5))

    assert found.text == "JobSet train: all 2 pods run, 1.6 s after it was submitted"
    assert (found.at, found.until) == (2.6, None)


def test_a_gang_that_is_back_says_how_long_it_was_away_from_its_first_lost_pod_on() -> None:
    tale = reclaimed(running())
    gang_runs(tale, 15, ["c", "d"], ["n1", "n1"])
    first, second = of("running", tale.ends(20))

    assert (first.until, second.at) == (10.1, 15.6)
    assert second.text == "JobSet train: all 2 pods run again, 5.5 s after the first one was lost"


def test_a_reclaimed_node_is_called_by_its_claim_and_is_gone_when_its_object_is() -> None:
    found = one("reclaimed", reclaimed(running()).ends(20))

    assert found.text == "node c0 (pool spot-a, spot, zone-a) is reclaimed"
    assert (found.at, found.until) == (10, 15.0)


def test_a_reclaim_stands_at_the_moment_it_was_sent_where_the_watch_was_late() -> None:
    tale = running().mark(9.9, "reclaim", "NodeClaim/c0")
    tale.put(10.2, claim("c0", node="n0", leaving=True, Launched="True"))

    assert one("reclaimed", tale.ends(12)).at == 9.9


def test_a_node_that_karpenter_takes_back_is_no_reclaim() -> None:
    leaving = claim("c0", node="n0", leaving=True, Launched="True", DisruptionReason="True/Empty")
    found = one("reclaimed", running().put(10, leaving).ends(20))

    assert found.text == "Karpenter takes node c0 (pool spot-a, spot, zone-a) back by itself: Empty"


def test_evicted_pods_are_told_with_their_node_the_condition_s_reason_and_their_exit_code() -> None:
    found = one("evicted", reclaimed(running()).ends(20))

    assert found.text == (
        "1 pod of worker on node c0 (pool spot-a, spot, zone-a) is evicted (DisruptionTarget EvictionByEvictionAPI) "
        "and ends with exit code 143"
    )
    assert (found.at, found.until, found.objects) == (10.1, 11.1, ("a",))


def test_pods_of_one_node_are_one_moment_and_those_of_another_node_another_one() -> None:
    tale = Tale().put(0, jobset(size=3), node("n0"), node("n1"))
    for rank, (name, on) in enumerate([("a", "n0"), ("b", "n0"), ("c", "n1")]):
        tale.put(1, pod(name, rank=rank, node=on, **RUNS))
        tale.put(2 + rank / 10, pod(name, rank=rank, node=on, phase="Running", **EVICTED))

    assert [moment.objects for moment in of("evicted", tale.ends(9))] == [("a", "b"), ("c",)]


def test_an_evicted_pod_that_ends_with_zero_is_the_trap_it_is() -> None:
    tale = Tale().put(0, jobset(), node("n0")).put(1, pod("a", node="n0", **RUNS))
    tale.put(2, pod("a", node="n0", phase="Running", **EVICTED))
    tale.put(3, pod("a", node="n0", phase="Succeeded", code=0, **EVICTED))

    assert one("evicted", tale.ends(9)).text.endswith("exit code 0: counted as done, and never run again")


def test_a_healthy_pod_of_a_job_that_failed_goes_with_it_though_the_job_says_so_later() -> None:
    found = one("ended", reclaimed(running()).ends(20))

    assert found.text.startswith("1 pod of worker of the same Job, though healthy, is ended as well")
    assert found.text.endswith("ends with exit code 143")
    assert found.objects == ("b",)


def test_healthy_pods_of_other_jobs_go_with_the_restart() -> None:
    tale = Tale().put(0, jobset(), job("other"), node("n0")).put(1, pod("a", node="n0", of="other", **RUNS))
    tale.put(5, pod("a", node="n0", of="other", phase="Running", leaving=True))

    assert "of the other Jobs is ended, though healthy" in one("ended", tale.ends(9)).text


def test_a_pod_that_never_had_a_node_is_not_lost() -> None:
    tale = Tale().put(0, jobset(), job()).put(1, pod("a", **NO_NODE)).put(2, pod("a", leaving=True)).gone(2, pod("a"))

    assert texts("ended", tale.ends(9)) == []


def test_pods_of_a_suspended_job_are_ended_by_the_suspension() -> None:
    tale = running().put(10, jobset(suspend=True)).put(10.1, pod("a", node="n0", phase="Running", leaving=True))
    tale.put(10.1, pod("b", rank=1, node="n1", phase="Running", leaving=True)).gone(11.5, pod("a"), pod("b"))
    recording = tale.ends(20)

    assert one("ended", recording).text == "2 pods of worker are ended by the suspension"
    assert one("suspended", recording).text == "JobSet train is suspended"
    assert one("suspended", recording).until == 11.5
    assert texts("evicted", recording) == texts("broken", recording) == []


def test_pods_of_a_job_that_is_complete_just_go() -> None:
    tale = running().put(10, jobset(Completed="True/AllJobsCompleted"))
    tale.put(10.1, pod("a", node="n0", phase="Succeeded", code=0)).put(10.2, pod("a", node="n0", leaving=True))

    assert texts("ended", tale.ends(12)) == []


def test_a_pod_that_fails_by_itself_is_a_software_error() -> None:
    tale = running().put(10, pod("a", node="n0", phase="Failed", code=1))

    assert texts("broken", tale.ends(12)) == ["1 pod of worker fails by itself: ends with exit code 1"]


def test_a_restart_names_its_rule_what_is_used_up_and_what_the_job_said() -> None:
    found = one("restarted", reclaimed(running()).ends(20))

    assert found.text == (
        "JobSet train restarts as a whole, restart 1, by rule evicted; 0 of maxRestarts 5 are used up"
    )
    assert found.quote == "Pod research/a has condition DisruptionTarget matching FailJob rule at index 0"


def test_a_restart_by_no_rule_counts() -> None:
    tale = running().put(9, jobset(restarts=1, counted=1, RestartingJobSet="True/DefaultFailurePolicy"))

    assert one("restarted", tale.ends(12)).text.endswith("by no rule, the default; 1 of maxRestarts 5 is used up")


def test_waiting_goes_on_over_a_restart_and_says_who_said_what_and_who_holds_nodes() -> None:
    tale = Tale().put(0, jobset(size=3), node("n0"))
    tale.put(1, pod("h-x", rank=2, node="n0", **RUNS))
    tale.put(2, pod("a-x", **NO_NODE), pod("b-x", rank=1, **NO_NODE)).gone(4, pod("a-x"), pod("b-x"))
    tale.put(4.2, pod("a-y", **NO_NODE), pod("b-y", rank=1, **NO_NODE))
    tale.put(5, event("e", ("Pod", "a-y"), "FailedScheduling", "all instance types exceed limits"))
    tale.put(5, event("f", ("Pod", "a-y"), "FailedScheduling", "0/1 nodes", by="default-scheduler"))
    found = one("waiting", tale.ends(9))

    assert found.text == "2 pods of worker wait for a node while 1 pod holds its node"
    assert found.quote == "Scheduler: 0 nodes are available. Karpenter: all instance types exceed limits"
    assert (found.at, found.until) == (2, None)


def test_a_wait_that_ended_long_before_the_next_one_is_another_one() -> None:
    tale = Tale().put(0, jobset()).put(1, pod("a", **NO_NODE)).put(3, pod("a", node="n0", **RUNS))
    tale.put(8, pod("b", rank=1, **NO_NODE))

    assert [(moment.at, moment.until) for moment in of("waiting", tale.ends(9))] == [(1, 3), (8, None)]


def test_a_pod_that_is_placed_in_the_same_breath_did_not_wait() -> None:
    tale = Tale().put(0, jobset()).put(1, pod("a", **NO_NODE)).put(1.2, pod("a", node="n0", **RUNS))

    assert texts("waiting", tale.ends(9)) == []


def test_refused_claims_are_one_moment_with_their_number_and_the_market_s_words() -> None:
    tale = Tale()
    for number, at in enumerate((1.0, 11.0, 21.0)):
        tale.put(at, claim(f"c{number}")).gone(at + 1, claim(f"c{number}", leaving=True))
    tale.put(2, event("e", ("NodeClaim", "c0"), "InsufficientCapacityError", "the market has none"))
    found = one("refused", tale.ends(30))

    assert found.text == "Karpenter asks for spot nodes of pool spot-a and is refused, 3 times so far: no capacity"
    assert (found.at, found.until, found.quote) == (1, 21, "the market has none")


def test_a_claim_that_is_not_answered_yet_is_neither_bought_nor_refused() -> None:
    recording = Tale().put(1, claim("c0")).ends(3)

    assert texts("refused", recording) == texts("bought", recording) == []


def test_a_move_names_the_pools_and_a_selector_that_stays_is_none() -> None:
    tale = running().put(10, jobset(suspend=True, pool="on-demand")).put(12, jobset(pool="on-demand"))
    recording = tale.ends(20)

    assert texts("moved", recording) == ["JobSet train moves from spot-a to on-demand"]
    assert texts("suspended", recording) == ["JobSet train is suspended", "JobSet train is resumed"]


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (jobset(Completed="True/AllJobsCompleted/done"), "JobSet train is complete"),
        (jobset(Failed="True/ReachedMaxRestarts/no more"), "JobSet train has failed for good"),
    ],
)
def test_the_end_of_a_jobset_is_told_with_its_reason(end: Json, says: str) -> None:
    found = one("over", running().put(10, end).ends(20))

    assert found.text == says
    assert found.quote in {"AllJobsCompleted: done", "ReachedMaxRestarts: no more"}


def ray() -> Tale:
    tale = Tale().put(1, rayjob(status="Initializing")).put(1.1, raycluster(), node("n0"), node("n1"))
    tale.put(1.2, pod("h", of="tune-x/headgroup", node="n1", **RUNS), pod("w", of="tune-x/gpu", node="n0", **RUNS))
    return tale.put(2, rayjob())


def test_a_rayjob_runs_when_head_and_workers_do_and_what_submits_it_is_no_part_of_the_gang() -> None:
    tale = ray()
    submitter = pod("s", node="n1", **RUNS)
    submitter["metadata"]["labels"] = {"ray.io/cluster": "tune-x"}

    assert texts("running", tale.put(3, submitter).ends(5)) == [
        "RayJob tune: all 2 pods run, 0.2 s after it was submitted"
    ]


def test_a_lost_worker_is_replaced_and_the_rayjob_counts_nothing() -> None:
    tale = ray().put(10, pod("w", of="tune-x/gpu", node="n0", phase="Running", **EVICTED))
    tale.gone(11, pod("w", of="tune-x/gpu")).put(11.1, pod("v", of="tune-x/gpu", **NO_NODE))
    recording = tale.ends(15)

    assert texts("replaced", recording) == [
        "KubeRay replaces 1 pod of gpu in Ray cluster tune-x; RayJob tune counts no failure"
    ]
    assert texts("restarted", recording) == []


@pytest.mark.parametrize("status", ["Failed", "ValidationFailed"])
def test_a_rayjob_s_dead_ends_are_said(status: str) -> None:
    assert (
        f"has the status {status}, from which nothing leads back"
        in one("over", ray().put(9, rayjob(status=status)).ends(10)).text
    )


def test_a_rayjob_that_is_tried_again_says_how_often_it_may_fail() -> None:
    tale = ray().put(9, rayjob(status="Retrying", failed=1))

    assert texts("retried", tale.ends(10)) == ["RayJob tune has failed once, and backoffLimit is 3"]


def test_nodes_without_claims_are_closed_emptied_lost_and_silent() -> None:
    tale = Tale().put(0, node("n0"), node("n1")).put(2, node("n0", cordoned=True)).put(3, node("n1", Ready="Unknown"))
    tale.put(4, node("n1", Ready="True")).gone(5, node("n0", cordoned=True))

    assert [(moment.at, moment.kind, moment.text.partition(" (")[0]) for moment in story(tale.ends(9))] == [
        (2, "drained", "node n0"),
        (3, "silent", "node n1"),
        (4, "silent", "node n1"),
        (5, "vanished", "node n0"),
    ]
    assert story(tale.ends(9))[0].text.endswith("is closed to new pods")


def test_the_same_recording_tells_the_same_story_after_it_was_written_and_read() -> None:
    recording = reclaimed(running()).ends(20)

    assert story(read(recording.text())) == story(recording)
