"""What the owner of a managed job is told beside where it is: its conditions, and how its deadline looks."""

from collections.abc import Mapping

import pytest

from spotproof.controller.kinds import RUN, Object
from spotproof.vocabulary import CHECKPOINT_URI_ENV, DEADLINE_ANNOTATION, PROGRESS_ANNOTATION, WORK_ANNOTATION
from tests.world.jobs import JOBS, Tier, jobset
from tests.world.managed import Managed

TIERS = (Tier("spot-a", max_failures=3), Tier("on-demand", -1, capacity="on-demand", usd=30.0))
WITHIN = {DEADLINE_ANNOTATION: "36h", WORK_ANNOTATION: "20"}


def running(kind: str, notes: Mapping[str, str], mode: str = "guard") -> Managed:
    """A whole gang on spot, of that kind, under a policy with that deadline mode."""
    world = Managed(TIERS, deadline={"mode": mode})
    world.submit(JOBS[kind]("train", "standard", "spot-a", annotations=notes))
    world.until_whole("train", "spot-a")
    return world


def reason(world: Managed, kind: str) -> tuple[str, str] | None:
    """Status and reason of a condition; None for one that was never brought up."""
    found = world.conditions("train").get(kind)
    return None if found is None else (found.status, found.reason)


@pytest.mark.parametrize("kind", JOBS)
def test_a_deadline_of_which_half_is_missing_is_told_until_it_is_whole(kind: str) -> None:
    world = running(kind, {DEADLINE_ANNOTATION: "36h"})
    missing = world.conditions("train")["DeadlineIncomplete"]
    assert (missing.status, missing.reason) == ("True", "AnnotationMissing")
    assert WORK_ANNOTATION in missing.message
    assert world.status("train").deadline is None

    world.annotate(world.job("train"), {WORK_ANNOTATION: "20"})
    world.run(5)
    assert reason(world, "DeadlineIncomplete") == ("False", "Complete")
    assert world.status("train").deadline is not None


@pytest.mark.parametrize("kind", JOBS)
def test_how_far_the_job_is_is_assumed_until_its_trainer_says_it_in_numbers(kind: str) -> None:
    world = running(kind, WITHIN)
    assert reason(world, "ProgressAssumed") == ("True", "NotReported")

    for text, expected in (("half", ("True", "Unreadable")), ("3600", ("False", "Reported"))):
        run = world.get(RUN, "train")
        assert run is not None
        world.annotate(run, {PROGRESS_ANNOTATION: text})
        world.run(5)
        assert reason(world, "ProgressAssumed") == expected


@pytest.mark.parametrize("kind", JOBS)
def test_the_outlook_is_the_deadline_the_work_and_what_is_over_if_nothing_breaks(kind: str) -> None:
    world = running(kind, WITHIN)
    run = world.get(RUN, "train")
    assert run is not None
    world.annotate(run, {PROGRESS_ANNOTATION: str(2 * 3600)})
    world.run(5)

    outlook = world.status("train").deadline
    assert outlook is not None
    assert (outlook.work_seconds, outlook.done_seconds, outlook.progress) == (20 * 3600, 2 * 3600, "reported")
    # 36 h less 18 h of work, and less what the policy keeps back
    assert 0 < 18 * 3600 - outlook.spare_seconds < 3600


def test_without_a_deadline_mode_nothing_is_assumed_and_no_outlook_given() -> None:
    world = running("JobSet", WITHIN, mode="off")

    assert world.status("train").deadline is None
    assert reason(world, "ProgressAssumed") is None


def without_target(job: Object) -> Object:
    """The JobSet, none of whose containers is told where to save."""
    for role in job["spec"]["replicatedJobs"]:
        for container in role["template"]["spec"]["template"]["spec"]["containers"]:
            container["env"] = [each for each in container.get("env", []) if each["name"] != CHECKPOINT_URI_ENV]
    return job


def test_a_job_that_is_told_no_place_to_save_is_managed_and_its_owner_told() -> None:
    world = Managed(TIERS)
    world.submit(without_target(jobset("train", "standard", "spot-a")))
    world.until_whole("train", "spot-a")

    assert reason(world, "CheckpointUnknown") == ("True", "NoCheckpointUri")


def test_of_one_that_is_told_nothing_is_said() -> None:
    world = running("JobSet", {})

    assert reason(world, "CheckpointUnknown") is None
