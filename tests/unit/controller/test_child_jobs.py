"""When the child Jobs of a JobSet are made anew from its templates."""

from typing import Any

import pytest

from spotproof.controller.jobs.jobset import JobSetKind
from spotproof.controller.kinds import Object
from spotproof.fallback.record import Move

KIND = JobSetKind()
NEW, OLD = {"pool": "on-demand"}, {"pool": "spot"}
MOVE = Move(id="m", from_="a", to="b", reason="r", message="m", step="Rebuilding", since=0, jobs=("old",))


def jobset(depends: str = "") -> Object:
    """Of two roles, of which the second has two Jobs, and may depend on the first."""
    template = {"spec": {"template": {"spec": {"nodeSelector": NEW}}}}
    first: Object = {"name": "a", "replicas": 1, "template": template}
    second: Object = {"name": "b", "replicas": 2, "template": template}
    if depends:
        second["dependsOn"] = [{"name": "a", "status": depends}]
    return {"metadata": {"name": "train"}, "spec": {"replicatedJobs": [first, second]}}


def child(name: str, uid: str = "new", *, selector: Any = NEW, suspend: bool = True, **more: Any) -> Object:
    """A child Job."""
    leaving = {"deletionTimestamp": "2026-11-01T00:00:00Z"} if more.get("leaving") else {}
    conditions = [{"type": more["is_"], "status": "True"}] if "is_" in more else []
    return {
        "metadata": {"name": f"train-{name}", "uid": uid, **leaving},
        "spec": {"suspend": suspend, "nodeSelector": selector},
        "status": {"conditions": conditions},
    }


ALL = (child("a-0"), child("b-0"), child("b-1"))


def rebuilt(*children: Object, depends: str = "") -> bool:
    return KIND.is_rebuilt(jobset(depends), children, MOVE)


def test_a_jobset_is_rebuilt_with_every_child_job_made_anew() -> None:
    assert rebuilt(*ALL)
    assert not rebuilt(*ALL[:2])


@pytest.mark.parametrize("status", ["Ready", "Complete"])
def test_a_role_that_depends_on_another_is_made_after_the_resume_unless_that_is_complete(status: str) -> None:
    assert rebuilt(child("a-0"), depends=status)
    assert not rebuilt(child("a-0", is_="Complete"), depends=status)
    assert rebuilt(child("a-0", is_="Complete", selector=OLD), *ALL[1:], depends=status)


@pytest.mark.parametrize("name", ["a-0", "b-1"])
def test_a_jobset_is_not_rebuilt_as_long_as_a_job_of_before_is_there_or_one_is_on_its_way_out(name: str) -> None:
    others = [each for each in ALL if each["metadata"]["name"] != f"train-{name}"]
    for depends in ("", "Ready"):
        assert not rebuilt(child(name, "old"), *others, depends=depends)
        assert not rebuilt(child(name, leaving=True), *others, depends=depends)


def test_a_child_job_that_is_not_suspended_yet_is_none_that_was_made_anew() -> None:
    assert not rebuilt(child("a-0", suspend=False), *ALL[1:])


def test_a_child_job_of_the_templates_as_they_were_is_to_go() -> None:
    stale, further = child("a-0", selector=OLD), child("a-0", selector={**NEW, "zone": "1"})
    assert not rebuilt(stale, *ALL[1:])
    assert KIND.is_outdated(jobset(), stale)
    assert not KIND.is_outdated(jobset(), ALL[0])
    assert not KIND.is_outdated(jobset(), further), "what a webhook has added stays"
    assert not KIND.is_outdated(jobset(), child("a-0", selector=OLD, is_="Complete")), "what is done is done"
    assert not KIND.is_outdated(jobset(), child("gone-0", selector=OLD)), "a role that nobody knows"
