"""When what happened to a job: read from recordings of the real control plane, and from probes made by hand."""

from typing import Final
from unittest.mock import Mock

import pytest

from spotproof.kube.client import Kube
from spotproof.rehearsal.history import waits
from spotproof.rehearsal.recording import Recording, Version
from tests.e2e.controller import timeline
from tests.e2e.own import Own
from tests.unit.e2e.test_interruptions import recorded

POOL: Final = "a100-spot-a"


def probe(of: str = "run-1", *, node: str = "", at: float = 1.0) -> Version:
    meta = {
        "name": "probe",
        "namespace": "spotproof-system",
        "uid": "probe",
        "labels": {"spotproof.dev/probe": POOL},
        "annotations": {"spotproof.dev/probe-of": f"JobSet/{of}/train"},
    }
    return Version(at, "modified", {"kind": "Pod", "metadata": meta, "spec": {"nodeName": node} if node else {}})


def claim(at: float, *, launched: bool) -> Version:
    made = {"type": "Launched", "status": str(launched)}
    meta = {"name": "claim", "uid": "claim", "labels": {"karpenter.sh/nodepool": POOL}}
    return Version(at, "modified", {"kind": "NodeClaim", "metadata": meta, "status": {"conditions": [made]}})


def gone(version: Version, at: float) -> Version:
    return Version(at, "deleted", version.object)


@pytest.mark.parametrize("name", ["jobset-move", "rayjob-move"])
def test_a_move_is_one_suspension_that_ended_before_the_gang_was_whole_again(name: str) -> None:
    (found,) = timeline.suspensions(recorded(name))
    assert found.until is not None
    assert timeline.made_at(recorded(name)) < found.since < found.until


def test_a_gang_waits_from_the_first_of_its_pods_on_that_finds_no_node() -> None:
    market = recorded("jobset-dry-market")
    first = min(each.at for each in market.versions if each.kind == "Pod" and waits(each.object))
    assert timeline.unplaced_at(market) == int(first), "as it is written: in whole seconds"


def test_pods_that_a_vanished_node_took_with_it_ended_by_a_disruption() -> None:
    pods = {each.uid for each in recorded("jobset-node-vanished").versions if each.kind == "Pod"}
    found = timeline.ended_at(recorded("jobset-node-vanished"), pods)
    assert found.keys() == pods
    assert any(at is not None for at in found.values())
    assert None in found.values()


def test_a_probe_is_answered_by_a_node() -> None:
    told = probe(), probe(node="n", at=2.0), gone(probe(node="n"), 3.0)
    assert timeline.probes(Recording(told), POOL) == [timeline.Probe(POOL, 1.0, 2.0, 3.0)]
    assert timeline.probes(Recording(told), "another") == []


def test_a_probe_is_answered_by_a_node_claim_that_was_made_for_its_pool_since_and_is_launched() -> None:
    old, new = claim(0.5, launched=True), claim(1.5, launched=False)
    assert timeline.probes(Recording((old, probe())), POOL)[0].answered is None
    assert timeline.probes(Recording((probe(), new)), POOL)[0].answered is None
    assert timeline.probes(Recording((probe(), new, claim(2.5, launched=True))), POOL)[0].answered == 2.5


@pytest.mark.parametrize(("namespace", "is_own"), [("run-1", True), ("run-2", False)])
def test_a_probe_is_of_the_test_whose_job_asks(namespace: str, *, is_own: bool) -> None:
    assert Own(Mock(Kube), namespace).has(probe("run-1").object) is is_own


def told(reason: str, *, uid: str, by: str = timeline.CONTROLLER, kind: str = "JobSet") -> Version:
    about = {"kind": kind, "name": "gang", "namespace": "run-1", "uid": uid}
    meta = {"name": reason, "namespace": "run-1", "uid": f"{reason} {uid} {by} {kind}"}
    event = {"kind": "Event", "metadata": meta, "involvedObject": about, "reason": reason, "reportingComponent": by}
    return Version(2.0, "added", event)


def test_events_of_a_job_are_the_controllers_on_it_in_order_and_no_namesakes() -> None:
    meta = {"name": "gang", "namespace": "run-1", "uid": "new"}
    job = Version(1.0, "added", {"kind": "JobSet", "metadata": meta, "spec": {}})
    others = told("Moved", uid="old"), told("Moved", uid="new", by="jobset"), told("Moved", uid="new", kind="Job")
    own = told("Evicted", uid="new"), told("Moving", uid="new"), told("Moved", uid="new")
    assert timeline.events(Recording((job, *others))) == []
    assert timeline.events(Recording((job, own[0], *others, *own[1:])), "gang") == ["Evicted", "Moving", "Moved"]
