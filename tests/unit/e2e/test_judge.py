"""The independent judge on recordings of the real control plane, and on what must never be seen there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from spotproof.rehearsal.recording import Change, Recording, Version, load
from tests.conftest import ROOT
from tests.e2e.controller.judge import Said, miscounts, overlaps, said, stretches, tiers

RECORDINGS: Final = ROOT / "tests" / "recordings"
JOBSET: Final = {"jobset.sigs.k8s.io/jobset-name": "train"}
RESTART: Final = "jobset.sigs.k8s.io/restart-attempt"


def recorded(name: str) -> Recording:
    return load(RECORDINGS / f"{name}.json")


def version(at: float, thing: Mapping[str, Any], change: Change = "modified") -> Version:
    return Version(at, change, dict(thing))


def jobset(*, suspend: bool) -> dict[str, Any]:
    return {"kind": "JobSet", "metadata": {"name": "train", "uid": "jobset-1"}, "spec": {"suspend": suspend}}


def pod(name: str, phase: str, *, restart: int = 0, job: str = "job-1", **more: str) -> dict[str, Any]:
    owner = {"kind": "Job", "name": "train-worker-0", "uid": job}
    meta = {"name": name, "uid": name, "labels": {**JOBSET, RESTART: str(restart)}, "ownerReferences": [owner], **more}
    return {"kind": "Pod", "metadata": meta, "status": {"phase": phase}}


def ray_pod(name: str, cluster: str, phase: str) -> dict[str, Any]:
    marks = {"ray.io/cluster": cluster, "ray.io/node-type": "worker"}
    return {"kind": "Pod", "metadata": {"name": name, "uid": name, "labels": marks}, "status": {"phase": phase}}


def rayjob(failed: int = 0) -> dict[str, Any]:
    return {"kind": "RayJob", "metadata": {"name": "ray", "uid": "r"}, "spec": {}, "status": {"failed": failed}}


def cluster(name: str) -> dict[str, Any]:
    return {"kind": "RayCluster", "metadata": {"name": name, "uid": name, "ownerReferences": [{"uid": "r"}]}}


def run(evictions: int, **more: object) -> dict[str, Any]:
    status = {"phase": "Running", "tier": "spot", "attempt": 1, "evictions": evictions, **more}
    return {"kind": "TrainingRun", "metadata": {"name": "train", "uid": "run-1"}, "status": status}


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDINGS.glob("*.json")))
def test_no_two_attempts_ran_at_once_in_anything_that_was_recorded(name: str) -> None:
    assert overlaps(recorded(name)) == ()


def test_a_pod_of_a_restart_beside_one_of_the_attempt_before_is_an_overlap() -> None:
    found = overlaps(
        Recording((version(1, pod("a", "Running")), version(2, pod("b", "Running", restart=1, job="job-2"))))
    )
    assert [(each.at, each.one, each.other) for each in found] == [(2, "a", "b")]


def test_a_pod_that_is_told_to_go_still_runs() -> None:
    leaving = pod("a", "Running", deletionTimestamp="+1s")
    assert overlaps(Recording((version(1, leaving), version(2, pod("b", "Running", restart=1)))))


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_has_ended_overlaps_with_none(phase: str) -> None:
    versions = version(1, pod("a", "Running")), version(2, pod("a", phase)), version(3, pod("b", "Running", restart=1))
    assert overlaps(Recording(versions)) == ()


def test_a_pod_after_a_resume_beside_one_before_it_is_an_overlap_unless_a_person_resumed_between_the_two() -> None:
    versions = (
        version(0, jobset(suspend=False)),
        version(1, pod("a", "Running")),
        version(2, jobset(suspend=True)),
        version(3, jobset(suspend=False)),
        version(4, pod("b", "Running")),
    )
    assert [each.at for each in overlaps(Recording(versions))] == [4]
    assert overlaps(Recording(versions), by_hand=2.5) == ()
    assert overlaps(Recording(versions), by_hand=0.5)
    assert overlaps(Recording(versions), by_hand=4.5)


def test_pods_of_two_jobs_of_one_name_are_an_overlap() -> None:
    assert overlaps(Recording((version(1, pod("a", "Running")), version(2, pod("b", "Running", job="job-2")))))


def test_a_new_ray_cluster_beside_the_old_one_is_an_overlap_unless_kuberay_has_tried_again() -> None:
    def beside(failed: int) -> Recording:
        things = (
            rayjob(),
            cluster("one"),
            ray_pod("a", "one", "Running"),
            rayjob(failed),
            cluster("two"),
            ray_pod("b", "two", "Running"),
        )
        return Recording(tuple(version(at, thing) for at, thing in enumerate(things)))

    assert [(each.one, each.other) for each in overlaps(beside(0))] == [("a", "b")]
    assert overlaps(beside(1)) == ()
    # resumed by a person between the two, before either, after both
    assert overlaps(beside(0), by_hand=3.5) == ()
    assert overlaps(beside(0), by_hand=1.5)
    assert overlaps(beside(0), by_hand=5.5)


@pytest.mark.parametrize("name", ["jobset-move", "rayjob-move"])
def test_a_move_takes_the_whole_gang_from_one_tier_to_the_other(name: str) -> None:
    assert tiers(recorded(name)) == ["a100-spot-a", "a100"]
    first, *_, last = stretches(recorded(name))
    assert first.until is not None
    assert first.until < last.since
    assert last.until is None


def test_every_interruption_ends_a_stretch() -> None:
    assert [(each.pool, each.until is None) for each in stretches(recorded("jobset-reclaim"))] == [
        ("a100-spot-a", False),
        ("a100-spot-a", True),
    ]


def test_what_a_training_run_said_is_told_once_for_each_change() -> None:
    versions = version(1, run(0)), version(2, run(0, message="else")), version(3, run(1))
    assert said(Recording(versions)) == [Said(1, "Running", "spot", 1, 0, 0), Said(3, "Running", "spot", 1, 1, 0)]


@pytest.mark.parametrize(("before", "after", "wrong"), [(0, 1, False), (0, 2, True), (1, 0, True)])
def test_a_counter_goes_on_by_one(before: int, after: int, *, wrong: bool) -> None:
    recording = Recording((version(1, run(before)), version(2, run(after))))
    assert bool(miscounts(recording)) is wrong
    assert miscounts(replace(recording, versions=recording.versions[:1])) == []
