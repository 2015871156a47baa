"""What the controller did, as it is told from TrainingRuns."""

from typing import Any

from spotproof.rehearsal.story import story
from tests.unit.rehearsal.tale import Tale

MOVE = {"id": "1", "from": "spot-a", "to": "paid", "message": "no place on spot-a for 20s"}


def run(phase: str, **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "spotproof.dev/v1alpha1",
        "kind": "TrainingRun",
        "metadata": {"name": "train", "namespace": "research"},
        "spec": {"job": {"kind": "JobSet", "name": "train"}, "policy": "standard"},
        "status": {"phase": phase, "tier": "spot-a", **status},
    }


def told(*runs: dict[str, Any]) -> list[tuple[str, str, str]]:
    tale = Tale()
    for at, each in enumerate(runs, 1):
        tale.put(at, each)
    return [(each.kind, each.text, each.quote) for each in story(tale.ends(10))]


def test_an_eviction_is_counted_with_what_was_seen_of_it() -> None:
    evidence = {"evidence": "node a is being deleted"}
    assert told(run("Running"), run("Restarting", evictions=1, interruption=evidence)) == [
        (
            "counted",
            "the controller counts an eviction of JobSet train on spot-a, 1 so far",
            "node a is being deleted",
        )
    ]


def test_a_move_is_decided_once_and_a_restart_is_one_to_the_same_tier() -> None:
    same = {**MOVE, "id": "2", "to": "spot-a", "message": "the gang hangs"}
    moves = [run("Moving", move={**MOVE, "step": step}) for step in ("Suspending", "Draining")]
    assert told(run("Waiting"), *moves, run("Pending"), run("Moving", move=same)) == [
        (
            "decided",
            "the controller has decided about JobSet train: it takes it from spot-a to paid",
            "no place on spot-a for 20s",
        ),
        ("decided", "the controller has decided about JobSet train: it restarts it on spot-a", "the gang hangs"),
    ]


def test_a_job_that_is_left_alone_is_told_with_the_reason() -> None:
    assert told(run("Running"), run("HandedBack", message="resumed by somebody else")) == [
        ("left alone", "the controller hands back JobSet train", "resumed by somebody else")
    ]
