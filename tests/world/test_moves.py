"""Stories of moves that meet what not every job has: roles that depend on others, names that others have."""

from collections.abc import Callable

import pytest

from spotproof.controller.kinds import JOB, JOBSET, Object
from spotproof.controller.watched import WATCHED
from tests.world.jobs import Tier, jobset, rayjob
from tests.world.jobset import ATTEMPT
from tests.world.managed import Managed
from tests.world.things import status

TIERS = (Tier("spot-a", max_failures=0), Tier("on-demand", -1, capacity="on-demand", usd=30.0))


def depending(job: Object, reached: str) -> Object:
    """The job with its second role begun only once the first is ready, or complete."""
    first, second = job["spec"]["replicatedJobs"]
    roles = [first, {**second, "dependsOn": [{"name": first["name"], "status": reached}]}]
    return {**job, "spec": {**job["spec"], "replicatedJobs": roles}}


def moves(world: Managed) -> list[str]:
    """Why the job was moved, one after the other."""
    return [each.reason for each in world.status("train").history if each.what == "Moved"]


def test_roles_that_depend_on_a_ready_one_move_with_it_and_are_made_once_it_is_ready_again() -> None:
    world = Managed(TIERS)
    world.submit(depending(jobset("train", "standard", "spot-a", roles=2), "Ready"))
    world.until_whole("train", "spot-a")
    world.run(5)

    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand")

    assert (moves(world), world.status("train").evictions) == (["TooManyFailures"], 1)


def test_a_role_that_depends_on_a_complete_one_moves_before_that_is_complete() -> None:
    world = Managed((Tier("spot-a", max_failures=0, pending_timeout="1m"), TIERS[1]))
    world.pools["spot-a"].dry = True
    world.submit(depending(jobset("train", "standard", "spot-a", roles=2), "Complete"))

    world.run_until(lambda: len(world.gang("train")) == 2 and world.tier("train") == "on-demand", within=600)
    world.run_until(lambda: not world.suspended_by_us("train"))
    world.run(30)
    first = world.all(JOB)
    assert [each["status"].get("ready") for each in first] == [2]
    world.finish_roles("train")

    world.until_whole("train", "on-demand")
    assert moves(world) == ["PendingTimeout"]


def test_a_role_that_depends_on_a_complete_one_is_moved_alone_once_that_is() -> None:
    world = Managed(TIERS)
    world.submit(depending(jobset("train", "standard", "spot-a", roles=2), "Complete"))
    world.run_until(lambda: world.all(JOB) and world.all(JOB)[0].get("status", {}).get("ready") == 2)
    world.finish_roles("train")
    world.until_whole("train", "spot-a")
    world.run(5)

    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand")

    assert moves(world) == ["TooManyFailures"]


def test_a_ray_group_that_asks_for_more_workers_than_it_may_have_is_whole_with_those() -> None:
    world = Managed(TIERS)
    job = rayjob("train", "standard", "spot-a")
    (group,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    group |= {"replicas": 8, "minReplicas": 1, "maxReplicas": 2}
    world.submit(job)

    world.run_until(lambda: world.status("train").phase == "Running")
    world.run(5)
    assert len(world.gang("train")) == 2
    assert world.status("train").counted.whole_since is not None


def test_child_jobs_that_jobset_makes_of_what_it_had_read_before_the_move_are_made_anew() -> None:
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(5)
    (job,) = world.all(JOB)
    world.lose("train", "reclaim")
    # the Job is gone, and JobSet, which has not heard of the suspension yet, makes it again as it was
    world.run_until(lambda: not world.all(JOB) and world.suspended_by_us("train"))
    template = {**job["spec"], "suspend": False}
    about = {key: job["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
    about["labels"] = {**about["labels"], ATTEMPT: str(world.job("train")["status"]["restarts"])}
    world.server.create({**job, "metadata": about, "spec": template})

    world.until_whole("train", "on-demand")

    assert world.tier("train") == "on-demand"


def test_a_restart_that_the_watch_tells_of_late_is_counted_once_though_a_move_began_meanwhile() -> None:
    world = Managed((*TIERS[:1], Tier("spot-b", -1, pending_timeout="1h")))
    world.submit(jobset("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(5)
    jobsets = next(place for place, each in enumerate(WATCHED) if each.kind == JOBSET)

    world.lose("train", "reclaim")
    world.run_until(lambda: world.suspended_by_us("train"))
    world.process.hold(jobsets)
    # JobSet restarts the job although it is suspended, as it does where a Job has failed by then
    world.server.update(
        JOBSET,
        (world.namespace, "train"),
        lambda it: status(it, restarts=it["status"].get("restarts", 0) + 1),
    )
    world.run_until(lambda: not world.suspended_by_us("train"))
    world.run_until(lambda: world.is_whole("train", "spot-b"))
    world.process.release()
    world.run(60)

    assert (world.status("train").evictions, world.status("train").errors) == (1, 0)


@pytest.mark.parametrize("job", [jobset, rayjob])
def test_a_machine_that_dies_while_its_pods_are_told_to_go_for_a_move_holds_up_the_move_no_more_than_a_restart(
    job: Callable[..., Object],
) -> None:
    world = Managed(TIERS)
    world.submit(job("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(5)

    left = world.nodes("train")[-1]
    world.lose("train", "reclaim")
    world.run_until(lambda: world.suspended_by_us("train"))
    world.vanish(left)

    assert world.until_whole("train", "on-demand") < 20
