"""A job that is first looked at: beside another on its checkpoint, or with a life behind it that is not recorded."""

from typing import Any

from spotproof.controller.kinds import JOBSET, NAMESPACE, RUN, Object
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, WORKSPACE_LABEL
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
