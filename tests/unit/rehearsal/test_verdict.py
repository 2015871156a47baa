from spotproof.rehearsal.history import History
from spotproof.rehearsal.marks import CLOSES
from spotproof.rehearsal.recording import Recording
from spotproof.rehearsal.verdict import Account, verdict
from tests.unit.rehearsal.story.test_story import ray, reclaimed, running
from tests.unit.rehearsal.tale import EVICTED, NO_NODE, jobset, node, pod
from tests.unit.rehearsal.test_forecast import ONE


def account(recording: Recording) -> Account:
    history = History(recording)
    return Account(history, history.jobs[0])


def sentences(recording: Recording) -> str:
    return " ".join(verdict(account(recording), ONE))


def waiting() -> Recording:
    """After one reclaim, in a market that has closed, both pods wait and one of them holds nothing."""
    tale = reclaimed(running()).mark(9, CLOSES)
    return tale.put(15, pod("c", **NO_NODE), pod("d", rank=1, **NO_NODE)).ends(40)


def test_what_was_lost_what_came_back_and_what_waits_are_counted() -> None:
    found = account(waiting())

    assert (found.reclaims, len(found.evicted), len(found.ended), found.exit_codes) == (1, 1, 1, [143])
    assert (found.restarts, found.restarts_counted, found.most_restarts) == (1, 0, 5)
    assert (found.interruptions, found.waiting_since, found.is_dry) == ([(10.1, None)], 15, True)


def test_the_verdict_says_it_in_this_order() -> None:
    assert verdict(account(waiting()), ONE) == [
        (
            "1 spot node was taken away: 1 pod of train went with it, and 1 healthy pod had to go with the others; "
            "all ended with exit code 143."
        ),
        "The job was interrupted once.",
        "JobSet restarted the whole gang once; 0 of these count towards maxRestarts 5, so 5 are left.",
        "At the end it has waited for nodes for 25 s: the spot market is closed, and Karpenter's requests are refused.",
        (
            "Nothing moves the job to another tier: this rehearsal ran without the fallback controller. What it would "
            "do is what the rule says of policy standard: maxFailures of spot-a is 3: 1 has been counted, and "
            "interruption 4 would move the job; so would a wait of 20m."
        ),
        "If the market stayed as it is, the rule would take the job to paid 20m after the wait began.",
    ]


def test_a_job_without_a_policy_waits_for_good_and_that_is_said() -> None:
    assert verdict(account(waiting()), None)[-1] == (
        "The job names no fallback policy, so it would wait for spot for as long as there is none."
    )


def test_nodes_that_are_held_by_a_job_that_waits_are_paid_for() -> None:
    tale = running().put(9, pod("b", rank=1, node="n1", phase="Running", **EVICTED)).gone(10, pod("b"))
    tale.put(10, pod("d", rank=1, **NO_NODE))

    assert "while 1 node is held and paid for" in sentences(tale.ends(20))


def test_a_job_that_runs_at_the_end_is_left_where_it_is() -> None:
    said = sentences(running().ends(20))

    assert "No node was taken away." in said
    assert "At the end it runs." in said
    assert said.endswith("As the job runs, the rule leaves it where it is.")


def test_restarts_that_count_say_how_many_are_left() -> None:
    said = sentences(running().put(9, jobset(restarts=2, counted=2)).ends(20))

    assert "2 of these count towards maxRestarts 5, so 3 are left." in said
    used_up = sentences(running().put(9, jobset(restarts=5, counted=5)).ends(20))
    assert "5 of these count towards maxRestarts 5, and one failure more ends the job." in used_up


def test_a_job_that_has_failed_is_over_whatever_the_rule_would_say() -> None:
    said = sentences(running().put(9, jobset(Failed="True/ReachedMaxRestarts")).ends(20))

    assert "The job has come to its end; nothing brings it back." in said
    assert "If the market" not in said


def test_of_a_rayjob_it_is_said_that_nothing_in_it_counts() -> None:
    tale = (
        ray()
        .mark(9, "reclaim", "NodeClaim/c0")
        .put(10, pod("w", of="tune-x/gpu", node="n0", phase="Running", **EVICTED))
    )

    assert "RayJob tune shows nothing of it: its count of failures is 0" in sentences(tale.ends(12))


def test_evicted_pods_that_ended_with_zero_leave_a_gang_that_hangs() -> None:
    tale = running().mark(9, "reclaim", "NodeClaim/c0").put(9, node("n0", cordoned=True))
    tale.put(10, pod("a", node="n0", phase="Succeeded", code=0, **EVICTED))

    assert "counted as done and never run again, and the rest hangs" in sentences(tale.ends(12))


def test_without_a_policy_the_evictions_are_what_ends_the_job() -> None:
    failed = running().put(9, jobset(restarts=5, counted=5, Failed="True/ReachedMaxRestarts")).ends(20)
    said = verdict(account(failed), None)

    assert "5 of these count towards maxRestarts 5, and one failure more has ended the job." in " ".join(said)
    assert said[-1] == "The job names no fallback policy, so every eviction counts as a failure of its own."
