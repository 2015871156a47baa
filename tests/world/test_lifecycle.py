"""Whose a job is: labels and policies that come and go at the worst moment, and who takes the job up after that."""

from typing import Any

import pytest

from spotproof.controller.kinds import JOBSET, NAMESPACE, POD, POLICY, RUN, Object
from spotproof.controller.watched import WATCHED
from spotproof.vocabulary import (
    BACKOFF_LIMIT_ANNOTATION,
    FALLBACK_POLICY_LABEL,
    MANUAL_LABEL,
    PAUSED_LABEL,
    POOL_LABEL,
    PROBE_LABEL,
    SYSTEM_NAMESPACE,
)
from tests.world.jobs import JOBS, Tier, jobset, policy
from tests.world.managed import Managed
from tests.world.things import labels, leaves

TIERS = (Tier("spot-a", max_failures=1, pending_timeout="1m"), Tier("on-demand", -1, capacity="on-demand", usd=30.0))
"""With a short timeout, since each minute of a dry market is work here."""


def managed(kind: str, tiers: tuple[Tier, ...] = TIERS, **rule: Any) -> Managed:
    made = Managed(tiers, **rule)
    made.submit(JOBS[kind]("train", "standard", "spot-a"))
    made.until_whole("train", "spot-a")
    return made


@pytest.fixture(params=JOBS)
def world(request: pytest.FixtureRequest) -> Managed:
    """A whole gang on spot, of either kind, named train."""
    return managed(request.param)


def in_a_move(world: Managed) -> None:
    """The job is suspended on its way to on-demand, and pods of it are still there."""
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.run_until(lambda: world.suspended_by_us("train"), within=1000)
    assert world.gang("train")


def unlabel(world: Managed) -> None:
    world.label(world.job("train"), FALLBACK_POLICY_LABEL, None)


def pause(world: Managed, value: str | None = "true") -> None:
    home = world.get(NAMESPACE, SYSTEM_NAMESPACE, "")
    assert home is not None
    world.label(home, PAUSED_LABEL, value)


# the policy label goes


def test_a_job_that_is_let_go_in_mid_move_is_resumed_once_its_last_pod_is_gone(world: Managed) -> None:
    in_a_move(world)
    unlabel(world)
    world.run(600)  # the judge says so where pods are left

    assert world.is_whole("train", "on-demand")
    assert not world.suspended_by_us("train")
    assert world.get(RUN, "train") is None


def test_nothing_is_remembered_of_a_job_that_was_let_go_in_mid_move(world: Managed) -> None:
    in_a_move(world)
    unlabel(world)
    world.run(600)

    assert world.process.cache.keys() == []
    world.server.delete(world.job("train")["apiVersion"], world.job("train")["kind"], "train", world.namespace)
    world.run(60)
    assert world.get(RUN, "train") is None


def test_a_job_whose_label_and_record_go_in_mid_move_is_resumed_all_the_same(world: Managed) -> None:
    in_a_move(world)
    unlabel(world)
    world.server.delete(*RUN, "train", world.namespace)
    world.run(600)

    assert world.is_whole("train")
    assert not world.suspended_by_us("train")


def test_a_job_that_is_let_go_while_no_controller_looks_is_resumed_when_one_is_back(world: Managed) -> None:
    in_a_move(world)
    world.process.kill()
    unlabel(world)
    world.run(300)
    world.process.start()
    world.run(600)

    assert world.is_whole("train", "on-demand")
    assert world.get(RUN, "train") is None


def test_a_frozen_job_that_is_let_go_in_mid_move_is_resumed_once_it_is_released(world: Managed) -> None:
    in_a_move(world)
    world.label(world.job("train"), MANUAL_LABEL, "true")
    unlabel(world)
    world.run(600)
    assert world.suspended_by_us("train")

    world.label(world.job("train"), MANUAL_LABEL, None)
    world.run(600)

    assert world.is_whole("train", "on-demand")


@pytest.mark.parametrize("kind", JOBS)
def test_a_job_that_was_suspended_for_good_and_is_let_go_stays_suspended(kind: str) -> None:
    world = Managed(TIERS)
    world.submit(JOBS[kind]("train", "standard", "spot-a", annotations={BACKOFF_LIMIT_ANNOTATION: "0"}))
    world.until_whole("train", "spot-a")
    world.fail("train")
    world.run_until(lambda: world.status("train").phase == "Failed" and world.suspended_by_us("train"), within=600)
    unlabel(world)
    world.run(600)

    assert world.job("train")["spec"]["suspend"]
    assert not world.gang("train")
    assert not world.suspended_by_us("train")
    assert world.get(RUN, "train") is None


def test_a_parked_job_that_is_let_go_does_not_wait_for_its_hour() -> None:
    world = managed("JobSet", (TIERS[0],))
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.run_until(lambda: world.status("train").phase == "Parked", within=7200)
    resume_at = getattr(world.status("train").move, "resume_at", None)
    assert resume_at is not None
    unlabel(world)

    assert world.run_until(lambda: not world.suspended_by_us("train"), within=resume_at - world.now) < 30


@pytest.mark.parametrize("kind", JOBS)
def test_probes_of_a_job_that_is_deleted_while_no_controller_looks_go_when_one_is_back(kind: str) -> None:
    rule: dict[str, Any] = {"probe": {"every": "30m"}, "return": {"minStay": "10m"}}
    world = managed(kind, TIERS, **rule)
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand", within=2000)
    world.run_until(lambda: any(PROBE_LABEL in labels(pod) for pod in world.all(POD)), within=7200)
    world.process.kill()
    job = world.job("train")
    world.server.delete(job["apiVersion"], job["kind"], "train", world.namespace)
    world.run(30)
    assert world.get(RUN, "train") is None
    assert any(PROBE_LABEL in labels(pod) for pod in world.all(POD))

    world.process.start()
    for place in range(len(WATCHED)):
        world.process.hold(place)  # a market that goes dry anew would have it looked at too
    world.run(2)

    assert all(leaves(pod) for pod in world.all(POD) if PROBE_LABEL in labels(pod))


# a job that has failed for good


@pytest.fixture
def failed(world: Managed) -> Managed:
    """One whose program failed more often than its limit allows: the controller has suspended it for good."""
    limit = {"metadata": {"annotations": {"spotproof.dev/backoff-limit": "0"}}}
    job = world.job("train")
    world.server.patch(job["apiVersion"], job["kind"], "train", limit, world.namespace)
    world.run(5)
    if job["kind"] == "JobSet":
        world.fail("train", 1)
    else:
        world.finish("train", "FAILED")
    world.run_until(lambda: world.status("train").phase == "Failed", within=600)
    world.run(60)
    assert world.suspended_by_us("train") == "failed"
    return world


def test_a_pause_and_its_release_leave_a_failed_job_as_it_is(failed: Managed) -> None:
    pause(failed)
    failed.run(60)
    pause(failed, None)
    failed.run(300)

    assert failed.status("train").phase == "Failed"
    assert failed.suspended_by_us("train") == "failed"


def test_a_failed_job_whose_record_is_deleted_stays_failed(failed: Managed) -> None:
    failed.server.delete(*RUN, "train", failed.namespace)
    failed.run(300)

    assert failed.status("train").phase == "Failed"
    assert failed.suspended_by_us("train") == "failed"


@pytest.mark.parametrize("forgotten", [False, True], ids=["", "its record was deleted"])
def test_a_failed_job_that_somebody_resumes_is_managed_again(
    failed: Managed,
    forgotten: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    if forgotten:
        failed.server.delete(*RUN, "train", failed.namespace)
        failed.run(60)
    failed.resume("train")

    failed.until_whole("train", "spot-a", within=300)
    assert not failed.suspended_by_us("train")


# the policy goes


def test_a_move_is_carried_to_its_end_though_its_policy_is_gone(world: Managed) -> None:
    in_a_move(world)
    world.server.delete(*POLICY, "standard")
    world.run(600)

    assert world.is_whole("train", "on-demand")
    assert world.status("train").phase == "Refused"
    assert world.status("train").move is None
    invalid = world.conditions("train")["PolicyInvalid"]
    assert (invalid.status, invalid.reason) == ("True", "Gone")


def test_a_move_is_carried_to_its_end_though_its_job_names_no_policy_that_is_there(world: Managed) -> None:
    in_a_move(world)
    world.label(world.job("train"), FALLBACK_POLICY_LABEL, "standrad")
    world.run(600)

    assert world.is_whole("train", "on-demand")
    assert world.status("train").phase == "Refused"


def test_a_job_of_a_lost_record_and_a_lost_policy_is_resumed_where_it_is(world: Managed) -> None:
    in_a_move(world)
    world.process.kill()
    world.server.delete(*RUN, "train", world.namespace)
    world.server.delete(*POLICY, "standard")
    world.process.start()
    world.run(600)

    assert world.is_whole("train")
    assert not world.suspended_by_us("train")


def test_a_policy_that_is_mended_is_valid_and_its_job_is_managed_again(world: Managed) -> None:
    world.server.delete(*POLICY, "standard")
    world.run(5)
    assert world.conditions("train")["PolicyInvalid"].status == "True"

    world.server.create(policy("standard", TIERS))
    world.until_whole("train", "spot-a")

    valid = world.conditions("train")["PolicyInvalid"]
    assert (valid.status, valid.reason) == ("False", "Valid")


# what the controller says of policies


def said_of(world: Managed, name: str) -> list[Object]:
    found = world.get(POLICY, name, "") or {}
    return found.get("status", {}).get("conditions", [])


def test_a_policy_says_whether_it_can_be_carried_out_and_no_job_is_looked_at_for_that(world: Managed) -> None:
    (said,) = said_of(world, "standard")
    assert (said["type"], said["status"], said["observedGeneration"]) == ("Valid", "True", 1)

    world.run(30)
    writes = [each for each in world.process.line.calls if each.what == "FallbackPolicy/standard/status"]
    assert len(writes) == 1


def test_a_policy_that_no_job_names_is_judged_too_and_again_when_it_is_edited() -> None:
    world = Managed(TIERS)
    broken = policy("broken", TIERS, maxMovesPerHour="many")
    world.server.create(broken)
    world.run(5)
    (said,) = said_of(world, "broken")
    assert (said["status"], said["reason"]) == ("False", "Unreadable")
    assert said["message"].startswith("spec.maxMovesPerHour: ")

    world.server.patch(*POLICY, "broken", {"spec": {"maxMovesPerHour": 3}})
    world.run(5)

    (said,) = said_of(world, "broken")
    assert (said["status"], said["reason"], said["observedGeneration"]) == ("True", "Valid", 2)


@pytest.mark.parametrize("how", ["refused", "suspended", "frozen", "managed"])
def test_a_record_says_which_generation_was_acted_on_in_every_phase(how: str) -> None:
    world = Managed(TIERS)
    world.server.create(policy("other", TIERS))
    job = jobset("train", "nosuch" if how == "refused" else "standard", "spot-a")
    if how == "suspended":
        job["spec"] = {**job["spec"], "suspend": True}
    if how == "frozen":
        job["metadata"]["labels"] = {**job["metadata"]["labels"], MANUAL_LABEL: "true"}
    world.submit(job)
    world.run(5)
    assert world.status("train").observed_generation == 1

    world.label(world.job("train"), FALLBACK_POLICY_LABEL, "nosuch-either" if how == "refused" else "other")
    world.run(5)
    assert world.status("train").observed_generation == 2


# hands


def test_a_job_that_its_owner_has_put_on_another_tier_under_the_manual_label_is_taken_up_there() -> None:
    world = managed("JobSet")
    world.lose("train", "reclaim")
    world.run(20)
    world.until_whole("train", "spot-a")
    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand", within=300)
    world.label(world.job("train"), MANUAL_LABEL, "true")
    world.suspend("train")
    world.run(60)
    for child in world.roles("train"):
        world.server.delete("batch/v1", "Job", child["metadata"]["name"], world.namespace)
    path = "/spec/replicatedJobs/0/template/spec/template/spec/nodeSelector"
    change = [{"op": "add", "path": path, "value": {POOL_LABEL: "spot-a"}}]
    world.server.patch(*JOBSET, "train", change, world.namespace)
    world.run(30)
    world.pools["spot-a"].dry = True
    world.resume("train")
    world.run(5)
    world.label(world.job("train"), MANUAL_LABEL, None)
    world.run(5)
    assert world.status("train").tier == "spot-a"

    world.until_whole("train", "on-demand", within=3600)
    assert [each.reason for each in world.status("train").history if each.what == "Moved"][-1] == "PendingTimeout"


@pytest.fixture
def handed_back(world: Managed) -> Managed:
    """A job that somebody else has resumed in the middle of a move."""
    in_a_move(world)
    world.resume("train")
    world.run_until(lambda: world.status("train").phase == "HandedBack")
    return world


def test_a_job_that_was_handed_back_is_left_alone_after_a_pause_of_the_whole_cluster(handed_back: Managed) -> None:
    pause(handed_back)
    handed_back.run(60)
    assert handed_back.status("train").phase == "Manual"
    pause(handed_back, None)
    handed_back.run(60)

    assert handed_back.status("train").phase == "HandedBack"
    assert handed_back.conditions("train")["HandedBack"].status == "True"
    assert handed_back.conditions("train")["Paused"].status == "False"


def test_a_job_that_was_handed_back_is_left_alone_though_its_policy_goes_and_comes(handed_back: Managed) -> None:
    handed_back.server.delete(*POLICY, "standard")
    handed_back.run(60)
    handed_back.server.create(policy("standard", TIERS))
    handed_back.run(60)

    assert handed_back.status("train").phase == "HandedBack"
    assert handed_back.conditions("train")["HandedBack"].status == "True"


@pytest.mark.parametrize("paused", [False, True], ids=["", "in the middle of a pause"])
def test_a_job_that_was_handed_back_is_given_back_by_its_own_label_alone(
    handed_back: Managed,
    paused: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    if paused:
        pause(handed_back)
        handed_back.run(5)
    handed_back.label(handed_back.job("train"), MANUAL_LABEL, "true")
    handed_back.run(5)
    handed_back.label(handed_back.job("train"), MANUAL_LABEL, None)
    handed_back.run(5)
    if paused:
        pause(handed_back, None)
        handed_back.run(5)

    assert handed_back.conditions("train")["HandedBack"].status == "False"
    assert handed_back.status("train").phase not in {"HandedBack", "Manual"}
