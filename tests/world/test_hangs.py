"""Stories of pods that are told to go and leave with 0: their work counts as done, and the others wait for it.

Without the controller for ever: Kubernetes sets no condition, and restarts nothing.
"""

import pytest

from spotproof.controller.kinds import JOB, POD
from spotproof.controller.watched import WATCHED
from spotproof.vocabulary import MANUAL_LABEL
from tests.world.jobs import Tier, jobset
from tests.world.kubelet import ON_TERM
from tests.world.managed import Managed
from tests.world.things import is_true, node_of, ready

TIERS = (Tier("spot-a", max_failures=1), Tier("on-demand", -1, capacity="on-demand", usd=30.0))


def two_roles() -> Managed:
    """A whole JobSet of two roles of one pod, which leaves with 0 when it is evicted."""
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a", pods=1, roles=2, knobs={ON_TERM: "0"}))
    world.until_whole("train", "spot-a")
    world.run(5)
    return world


def restarted_for_a_silent_hang(world: Managed, before: set[str]) -> bool:
    """Whether the job was restarted once, for a role that was complete by an eviction, and nothing else was counted."""
    status = world.status("train")
    after = {pod["metadata"]["uid"] for pod in world.gang("train")}
    again = [each.reason for each in status.history if each.what == "Restarted"]
    return (
        world.is_whole("train", "spot-a")
        and (len(after), before & after) == (2, set())
        and (status.evictions, status.errors, again) == (1, 0, ["SilentHang"])
    )


@pytest.mark.parametrize("again", [False, True], ids=["", "and again after its first write"])
@pytest.mark.parametrize("back", [0.4, 2.8, 20, 600])
@pytest.mark.parametrize("dies", [0, 0.8, 1.6, 2.4, 4, 20])
def test_a_role_whose_only_pod_is_evicted_and_leaves_with_zero_is_not_done_whenever_the_controller_dies(
    dies: float,
    back: float,
    again: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    world = two_roles()
    before = {pod["metadata"]["uid"] for pod in world.gang("train")}

    world.lose("train", "reclaim")
    world.run(dies)
    world.process.kill()
    world.run(back)
    if again:
        world.process.line.troubles[0] = "killed after"
    world.process.start()
    world.run(20)
    if not world.process.up:
        world.process.start()
    world.run(100)

    assert restarted_for_a_silent_hang(world, before)


@pytest.mark.parametrize("dies", [False, True])
def test_a_role_whose_only_pod_is_evicted_and_leaves_with_zero_is_not_done_and_the_job_is_restarted(
    dies: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    world = two_roles()
    before = {pod["metadata"]["uid"] for pod in world.gang("train")}

    world.lose("train", "reclaim")
    if dies:
        world.run_until(lambda: any(is_true(each, "Complete") for each in world.store.all(JOB)))
        assert world.status("train").interruption is not None
        world.process.kill()
        world.run(10)
        world.process.start()
    world.run(60)

    assert restarted_for_a_silent_hang(world, before)


def test_a_role_whose_only_pod_is_evicted_and_leaves_with_zero_is_not_done_though_nobody_heard_of_its_end() -> None:
    world = two_roles()
    before = {pod["metadata"]["uid"] for pod in world.gang("train")}
    pods = next(place for place, each in enumerate(WATCHED) if each.kind == POD)

    world.process.hold(pods)
    world.lose("train", "reclaim")
    world.run(10)
    world.process.expire(pods)
    world.run(100)

    assert restarted_for_a_silent_hang(world, before)


@pytest.mark.parametrize("saw", [False, True], ids=["while no controller looked", "while one looked"])
def test_a_role_that_has_done_its_work_is_done_for_every_controller_to_come(
    saw: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    world = two_roles()
    done = world.gang("train")[0]
    if not saw:
        world.process.kill()
    world.exit(done, 0)
    world.run(20)
    if not saw:
        world.process.start()
        world.run(5)

    world.vanish(node_of(done))
    world.run(200)
    assert world.get(POD, done["metadata"]["name"]) is None
    world.process.kill()
    world.process.start()
    world.run(200)

    status = world.status("train")
    assert (status.evictions, status.errors, status.attempt, status.move) == (0, 0, 1, None)
    assert "Restarted" not in {each.what for each in status.history}


def test_a_role_that_is_done_while_somebody_suspends_the_job_is_no_eviction() -> None:
    world = two_roles()

    world.finish_role("train")
    world.suspend("train")
    world.run(60)
    world.resume("train")
    world.run(60)

    assert world.is_whole("train", "spot-a")
    assert (world.status("train").evictions, world.status("train").errors, world.status("train").history) == (0, 0, ())


@pytest.mark.parametrize("seconds", [0.3, 2, 8])
@pytest.mark.parametrize(("pods", "roles"), [(1, 1), (1, 2), (2, 1)])
def test_an_eviction_that_ends_with_zero_counts_once_though_somebody_suspends_the_job_after_it(
    seconds: float, pods: int, roles: int
) -> None:
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a", pods=pods, roles=roles, knobs={ON_TERM: "0"}))
    world.until_whole("train", "spot-a")
    world.run(5)

    world.lose("train", "reclaim")
    world.run(seconds)
    world.suspend("train")
    world.run(60)
    world.resume("train")
    world.run(60)

    assert world.is_over("train") or world.is_whole("train", "spot-a")
    assert (world.status("train").evictions, world.status("train").errors) == (1, 0)


@pytest.mark.parametrize("back", [1, 30, 600])
def test_a_pod_that_is_evicted_before_any_record_says_that_its_gang_is_whole_is_an_eviction(back: float) -> None:
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a", pods=4, roles=2, knobs={ON_TERM: "0"}))
    world.run_until(lambda: world.status("train").phase == "Running")
    assert world.status("train").counted.whole_since is None
    before = {pod["metadata"]["uid"] for pod in world.gang("train")}

    world.process.kill()
    world.run_until(lambda: world.is_whole("train", "spot-a"))
    world.lose("train", "reclaim")
    world.run(back)
    world.process.start()
    world.run(60)

    status = world.status("train")
    assert world.is_whole("train", "spot-a")
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in world.gang("train"))
    assert (status.evictions, status.errors) == (1, 0)
    assert [each.reason for each in status.history if each.what == "Restarted"] == ["SilentHang"]


@pytest.mark.parametrize("back", [1, 30, 600], ids=["it still ends", "gone", "long gone"])
def test_a_role_that_is_evicted_while_the_other_starts_and_nobody_looks_is_not_done(back: float) -> None:
    world = Managed(TIERS)
    world.submit(jobset("train", "standard", "spot-a", pods=1, roles=2, knobs={ON_TERM: "0"}))
    world.run_until(lambda: any(map(ready, world.gang("train"))))
    assert not world.is_whole("train")
    first = next(pod for pod in world.gang("train") if ready(pod))

    world.process.kill()
    world.reclaim(node_of(first))
    world.run(back)
    world.process.start()
    world.run(60)

    assert world.is_whole("train", "spot-a")
    assert "SilentHang" in {each.reason for each in world.status("train").history}
    assert world.status("train").evictions == 1


@pytest.mark.parametrize("how", ["manual", "dead"])
def test_a_hang_after_a_loss_that_nobody_counted_is_seen(how: str) -> None:
    world = Managed((Tier("spot-a", max_failures=5), TIERS[1]))
    world.submit(jobset("train", "standard", "spot-a", pods=1, roles=2))
    world.until_whole("train", "spot-a")
    if how == "dead":
        world.process.kill()
    else:
        world.label(world.job("train"), MANUAL_LABEL, "true")
    world.delete_pod("train")
    world.run(2)
    world.run_until(lambda: world.is_whole("train"))
    assert world.job("train")["status"]["restarts"] == 1

    for pod in world.gang("train"):
        world.annotate(pod, {ON_TERM: "0"})
    world.lose("train", "reclaim")
    if how == "dead":
        world.process.start()
    else:
        world.label(world.job("train"), MANUAL_LABEL, None)
    world.run(60)

    assert world.is_whole("train", "spot-a")
    assert "SilentHang" in {each.reason for each in world.status("train").history}
