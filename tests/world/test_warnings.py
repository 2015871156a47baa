"""What does not keep a job from being managed is told to its owner: once as an event, and in its record as long."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from spotproof.controller.kinds import JOBSET, Object
from spotproof.controller.preflight import CHECKS
from spotproof.controller.standing import CONDITION_OF
from spotproof.vocabulary import DEADLINE_ANNOTATION, KARPENTER_CAPACITY_LABEL, SPOT, WORK_ANNOTATION
from tests.world.jobs import jobset, rayjob
from tests.world.managed import Managed
from tests.world.test_lifecycle import TIERS

GUARD: Final[Mapping[str, Any]] = {"deadline": {"mode": "guard"}}


def noted(**notes: str) -> Object:
    keys = {"deadline": DEADLINE_ANNOTATION, "work": WORK_ANNOTATION}
    return jobset("train", "standard", "spot-a", annotations={keys[key]: note for key, note in notes.items()})


def pods(job: Object, role: int = 0) -> Object:
    return job["spec"]["replicatedJobs"][role]["template"]["spec"]["template"]["spec"]


def quiet() -> Object:
    """A job that tells no program where to save."""
    job = jobset("train", "standard", "spot-a")
    (container,) = pods(job)["containers"]
    container["env"] = []
    return job


def beside() -> Object:
    """A job with a second role on spot, by a label that is no tier's."""
    job = jobset("train", "standard", "spot-a")
    first = job["spec"]["replicatedJobs"][0]
    inner = first["template"]["spec"]
    spec = {**inner["template"]["spec"], "nodeSelector": {KARPENTER_CAPACITY_LABEL: SPOT}}
    template = {**inner["template"], "spec": spec}
    second = {**first, "name": "other", "template": {**first["template"], "spec": {**inner, "template": template}}}
    return {**job, "spec": {**job["spec"], "replicatedJobs": [first, second]}}


def limited() -> Object:
    job = rayjob("train", "standard", "spot-a")
    return {**job, "spec": {**job["spec"], "activeDeadlineSeconds": 86_400}}


def hurried() -> Object:
    job = jobset("train", "standard", "spot-a")
    (first, *others) = job["spec"]["replicatedJobs"]
    spec = {**first["template"]["spec"], "activeDeadlineSeconds": 86_400}
    first = {**first, "template": {**first["template"], "spec": spec}}
    return {**job, "spec": {**job["spec"], "replicatedJobs": [first, *others]}}


def ended_by_evictions() -> Object:
    job = rayjob("train", "standard", "spot-a")
    return {**job, "spec": {**job["spec"], "backoffLimit": 20}}


TOLD: Final[Mapping[str, tuple[Callable[[], Object], Mapping[str, Any]]]] = {
    "SpotBesideTiers": (beside, {}),
    "ActiveDeadline": (limited, {}),
    "JobDeadline": (hurried, {}),
    "EvictionsRunOut": (ended_by_evictions, {"return": {"minStay": "10m"}}),
    "NoCheckpoint": (quiet, {}),
    "DeadlineIncomplete": (lambda: noted(deadline="36h"), GUARD),
    "DeadlineUnused": (lambda: noted(deadline="36h"), {}),
    "DeadlinePassed": (lambda: noted(deadline="2020-01-01T00:00:00Z", work="1"), GUARD),
}
"""By finding: a job that has it, and what its policy must be like."""


def test_every_finding_that_does_not_refuse_is_among_those_that_are_told() -> None:
    assert set(TOLD) == {code for code, check in CHECKS.items() if not check.refuses}


@pytest.mark.parametrize("code", TOLD)
def test_it_is_told_by_one_event_whichever_process_looks_and_stays_in_the_record(code: str) -> None:
    job, rule = TOLD[code]
    world = Managed(TIERS, **rule)
    world.submit(job())
    world.run(60)
    world.process.kill()
    world.process.start()
    world.run(60)

    assert world.conditions("train")["Accepted"].status == "True"
    (note,) = world.told("Warned")
    assert note.startswith("managed, and yet ")
    said, _, remedy = note.removeprefix("managed, and yet ").partition(". ")
    assert CHECKS[code].consequence.partition("{")[0] in said
    condition = world.conditions("train")[CONDITION_OF.get(code, "Warned")]
    assert condition.status == "True"
    if code not in CONDITION_OF:
        assert condition.message == f"{said}. {remedy}"


def test_what_is_mended_is_told_no_more() -> None:
    world = Managed(TIERS)
    world.submit(noted(deadline="36h"))
    world.run(60)
    assert world.conditions("train")["Warned"].status == "True"

    without = {"metadata": {"annotations": {DEADLINE_ANNOTATION: None}}}
    world.server.patch(*JOBSET, "train", without, world.namespace)
    world.run(60)

    warned = world.conditions("train")["Warned"]
    assert (warned.status, warned.message) == ("False", "there is nothing else to tell")
    assert len(world.told("Warned")) == 1


def test_a_job_of_which_nothing_is_to_be_told_has_no_such_condition() -> None:
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a"))
    world.run(60)

    assert "Warned" not in world.conditions("train")
    assert world.told("Warned") == []
