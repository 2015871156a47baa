"""Interruptions as pods and operators tell them, in recordings of the real control plane and what is made by hand."""

from dataclasses import replace
from typing import Any, Final

import pytest

from spotproof.rehearsal.recording import Recording, Version, load
from tests.conftest import ROOT
from tests.e2e.controller.interruptions import charged, errors_of_operator, interruptions, unseen_by_operator

Object = dict[str, Any]

RECORDINGS: Final = ROOT / "tests" / "recordings"
MARKS: Final = {"jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/replicatedjob-name": "worker"}
SPOT: Final = "spot-pool"
ON_DEMAND: Final = "on-demand-pool"
DISRUPTED: Final = {"type": "DisruptionTarget", "status": "True"}


def recorded(name: str) -> Recording:
    return load(RECORDINGS / f"{name}.json")


def told(*things: Object | Version) -> Recording:
    """Versions a second apart."""
    each = (thing if isinstance(thing, Version) else Version(0.0, "modified", thing) for thing in things)
    return Recording(tuple(replace(version, at=float(at)) for at, version in enumerate(each)))


def gone(thing: Object) -> Version:
    return Version(0.0, "deleted", thing)


def node(pool: str, capacity: str) -> Object:
    marks = {"spotproof.dev/pool": pool, "spotproof.dev/capacity": capacity}
    return {"kind": "Node", "metadata": {"name": f"on-{pool}", "uid": f"node-{pool}", "labels": marks}}


def jobset(*, suspend: bool = False, **status: object) -> Object:
    workers = {"name": "worker", "replicas": 1, "template": {"spec": {"parallelism": 1}}}
    spec = {"suspend": suspend, "replicatedJobs": [workers]}
    return {"kind": "JobSet", "metadata": {"name": "train", "uid": "jobset-1"}, "spec": spec, "status": status}


def pod(name: str, pool: str = SPOT, *, code: int | None = None, disrupted: bool = False) -> Object:
    """A pod that is ready, or that ended with an exit code."""
    ended = [] if code is None else [{"state": {"terminated": {"exitCode": code}}}]
    said = [DISRUPTED] if disrupted else []
    phase = "Running" if code is None else "Failed" if code else "Succeeded"
    ready = {"type": "Ready", "status": "True" if code is None else "False"}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "uid": name, "labels": MARKS},
        "spec": {"nodeName": f"on-{pool}"},
        "status": {"phase": phase, "conditions": [ready, *said], "containerStatuses": ended},
    }


NODES: Final = (node(SPOT, "spot"), node(ON_DEMAND, "on-demand"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("jobset-reclaim", "lost"),
        ("jobset-node-vanished", "lost"),
        ("jobset-move", "lost"),
        ("jobset-error", "failed"),
        ("rayjob-reclaim", "lost"),
        ("rayjob-move", "lost"),
        ("rayjob-retry", "failed"),
    ],
)
def test_a_recorded_story_of_one_interruption_has_one(name: str, why: str) -> None:
    assert [(each.spot, each.why) for each in interruptions(recorded(name))] == [(True, why)]
    assert unseen_by_operator(recorded(name)) == []


def test_a_move_belongs_to_the_interruption_that_it_follows() -> None:
    (found,) = interruptions(recorded("jobset-move"))
    assert found.moved
    assert found.until is not None


def test_a_gang_that_is_suspended_while_it_is_whole_was_not_interrupted() -> None:
    ended = pod("a", code=143)
    assert interruptions(told(*NODES, jobset(), pod("a"), jobset(suspend=True), ended, pod("b"))) == ()


def test_a_gang_that_has_done_its_work_was_not_interrupted() -> None:
    done = jobset(terminalState="Completed")
    assert interruptions(told(*NODES, jobset(), pod("a"), pod("a", code=0), done)) == ()


def test_a_gang_whose_job_is_deleted_was_not_interrupted() -> None:
    assert interruptions(told(*NODES, jobset(), pod("a"), gone(jobset()), gone(pod("a")))) == ()


def test_a_gang_that_never_came_back_was_interrupted() -> None:
    (found,) = interruptions(told(*NODES, jobset(), pod("a"), pod("a", code=143, disrupted=True)))
    assert (found.why, found.until) == ("lost", None)


def test_what_is_lost_before_the_gang_is_whole_again_is_the_same_interruption() -> None:
    again = pod("b") | {"status": {"phase": "Pending"}}
    things = pod("a"), pod("a", code=143, disrupted=True), again, gone(again), pod("c")
    assert len(interruptions(told(*NODES, jobset(), *things))) == 1


def test_each_time_that_a_gang_was_whole_and_then_was_not_counts() -> None:
    lost = [pod(name, code=143, disrupted=True) for name in "abc"]
    there = [pod(name) for name in "abc"]
    things = [each for pair in zip(there, lost, strict=True) for each in pair]
    assert len(interruptions(told(*NODES, jobset(), *things, pod("d")))) == 3


@pytest.mark.parametrize(
    ("lost", "count"), [(pod("a", ON_DEMAND, code=143, disrupted=True), 0), (pod("a", ON_DEMAND, code=1), 1)]
)
def test_on_on_demand_only_the_programs_own_fault_is_charged(lost: Object, count: int) -> None:
    recording = told(*NODES, jobset(), pod("a", ON_DEMAND), lost, pod("b", ON_DEMAND))
    assert len(interruptions(recording)) == 1
    assert len(charged(recording)) == count


@pytest.mark.parametrize(("restarts", "doubts"), [(0, 1), (1, 0)])
def test_a_gang_that_came_back_without_a_move_was_restarted_by_its_operator(restarts: int, doubts: int) -> None:
    lost = pod("a", code=143, disrupted=True)
    recording = told(*NODES, jobset(), pod("a"), lost, jobset(restarts=restarts), pod("b"))
    assert len(unseen_by_operator(recording)) == doubts


@pytest.mark.parametrize(("name", "errors"), [("jobset-error", 1), ("jobset-reclaim", 0), ("rayjob-retry", 0)])
def test_what_jobset_holds_against_the_program_is_read_from_its_own_counter(name: str, errors: int) -> None:
    assert errors_of_operator(recorded(name)) == errors


def test_a_pod_whose_node_is_gone_makes_no_gang_whole_however_ready_it_looks() -> None:
    """Of two workers on one node the first had a successor before the second was ended: one loss."""
    pair = jobset()
    pair["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 2
    first, second = node(SPOT, "spot"), node(SPOT, "spot")
    second["metadata"] = {**second["metadata"], "name": "on-second", "uid": "node-second"}
    lost = [pod("a"), pod("b")]
    again = [pod("c", "second"), pod("d", "second")]
    told_of = [first, second, pair, *lost, gone(first), gone(lost[0]), again[0], gone(lost[1]), again[1]]

    assert len(interruptions(told(*told_of))) == 1


def test_a_gang_that_was_whole_before_its_node_went_was_so_however_late_the_news_of_it_came() -> None:
    """A recorder gives what was written first no later second than what was written after it, and the same one."""
    written = told(*NODES, jobset(), pod("a"), gone(NODES[0]), gone(pod("a")))
    late = [replace(each, at=max(each.at, 4.0)) for each in written.versions]

    assert [each.pool for each in charged(Recording(tuple(late)))] == [SPOT]
