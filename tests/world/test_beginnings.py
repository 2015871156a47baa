"""A job that is first looked at: beside another on its checkpoint, or with a life behind it that is not recorded."""

from typing import Any

import pytest

from spotproof.controller.kinds import JOBSET, NAMESPACE, RUN, Object
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, QUEUE_LABEL, RUN_LABEL, WORKSPACE_LABEL
from tests.world.jobs import Tier, jobset
from tests.world.managed import Managed
from tests.world.test_lifecycle import TIERS, managed

# two jobs on one checkpoint


def elsewhere(world: Managed, **more: Any) -> Object:
    """A later job of another namespace."""
    meta = {"name": "other", "labels": {WORKSPACE_LABEL: "other"}}
    world.server.create({"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": meta})
    job = jobset("second", "standard", "spot-a", **more)
    return {**job, "metadata": {**job["metadata"], "namespace": "other"}}


def test_a_job_of_another_namespace_that_saves_to_the_same_place_is_refused_until_the_first_has_ended() -> None:
    world = managed("JobSet")
    world.submit(elsewhere(world))
    world.run(5)

    def second() -> Object:
        return (world.get(RUN, "second", "other") or {}).get("status", {})

    assert (second()["phase"], second()["reason"]) == ("Refused", "SameCheckpoint")
    assert "JobSet research/train saves too" in second()["message"]

    world.server.delete(*JOBSET, "train", world.namespace)
    world.run(90)
    assert second()["phase"] != "Refused"


def unlabelled(name: str) -> Object:
    job = jobset(name, "standard", "spot-a")
    return {**job, "metadata": {**job["metadata"], "labels": {RUN_LABEL: name}}}


def phases(world: Managed) -> dict[str, str]:
    return {each["metadata"]["name"]: (each.get("status") or {}).get("phase", "") for each in world.all(RUN)}


def older_and_newer() -> Managed:
    """Two jobs on one checkpoint, of which the newer one was managed first."""
    world = Managed(TIERS)
    world.submit(unlabelled("older"))
    world.run(60)
    world.submit(jobset("newer", "standard", "spot-a"))
    world.run_until(lambda: world.is_whole("newer", "spot-a"))
    world.run(60)
    world.label(world.job("older"), FALLBACK_POLICY_LABEL, "standard")
    world.run(10)
    return world


@pytest.mark.parametrize("restarts", [0, 1])
def test_an_older_job_that_comes_under_a_policy_later_does_not_take_the_place_of_one_that_is_managed(
    restarts: int,
) -> None:
    world = older_and_newer()
    for _ in range(restarts):
        world.process.kill()
        world.run(30)
        world.process.start()
        world.run(120)

    assert phases(world) == {"older": "Refused", "newer": "Running"}
    assert world.status("older").reason == "SameCheckpoint"
    assert "JobSet newer saves too" in world.status("older").message


def first_and_second() -> Managed:
    """Two jobs on one checkpoint, of which the second one is refused for the first."""
    world = Managed(TIERS)
    world.submit(jobset("first", "standard", "spot-a"))
    world.run(60)
    world.submit(jobset("second", "standard", "spot-a"))
    world.run(75)
    assert phases(world) == {"first": "Running", "second": "Refused"}
    return world


@pytest.mark.parametrize("how", ["ends", "is let go", "is deleted", "is refused itself"])
def test_who_was_refused_for_another_job_is_managed_as_soon_as_that_one_is_out_of_the_way(how: str) -> None:
    world = first_and_second()
    if how == "ends":
        world.finish_roles("first")
    elif how == "is let go":
        world.label(world.job("first"), FALLBACK_POLICY_LABEL, None)
    elif how == "is deleted":
        world.server.delete(*JOBSET, "first", world.namespace)
    else:
        world = older_and_newer()
        world.label(world.job("newer"), QUEUE_LABEL, "gpus")

    waiting = "older" if how == "is refused itself" else "second"
    assert world.phase(waiting) == "Refused"
    world.run_until(lambda: world.phase(waiting) != "Refused", within=10)


def test_nobody_looks_at_a_job_that_is_refused_for_another_until_that_one_changes() -> None:
    world = first_and_second()
    world.run(600)
    before = world.process.looks
    world.run(3600)

    assert world.process.looks == before


# a job that was there before


def test_restarts_from_before_a_job_was_managed_are_charged_to_nobody() -> None:
    world = Managed(TIERS)
    job = jobset("train", "standard", "spot-a")
    job["metadata"]["labels"] = {
        key: each for key, each in job["metadata"]["labels"].items() if key != FALLBACK_POLICY_LABEL
    }
    world.submit(job)
    world.run_until(lambda: world.is_whole("train", "spot-a"))
    for _ in range(3):
        world.reclaim(world.nodes("train")[0])
        world.run(20)
        world.run_until(lambda: world.is_whole("train", "spot-a"))
    assert world.job("train")["status"]["restarts"] == 3

    world.label(world.job("train"), FALLBACK_POLICY_LABEL, "standard")
    world.run(60)

    assert (world.status("train").evictions, world.status("train").tier) == (0, "spot-a")
    assert world.is_whole("train", "spot-a")


def test_a_record_that_is_deleted_begins_afresh_and_moves_nothing() -> None:
    world = managed("JobSet", (Tier("spot-a", max_failures=3), TIERS[1]))
    for _ in range(3):
        world.run(60)
        world.lose("train", "reclaim")
        world.run(20)
        world.until_whole("train", "spot-a")
    world.server.delete(*RUN, "train", world.namespace)
    world.run(60)

    assert (world.status("train").evictions, world.status("train").tier) == (0, "spot-a")

    world.lose("train", "reclaim")
    world.run(20)
    world.until_whole("train", "spot-a")
    assert world.status("train").evictions == 1


def test_an_eviction_in_the_seconds_before_a_new_job_is_first_looked_at_is_counted() -> None:
    world = Managed(TIERS)
    world.process.kill()
    world.submit(jobset("train", "standard", "spot-a"))
    world.run_until(lambda: world.is_whole("train", "spot-a"))
    world.reclaim(world.nodes("train")[0])
    world.run_until(lambda: world.job("train")["status"].get("restarts") == 1)
    world.process.start()
    world.run(60)

    assert world.status("train").evictions == 1
