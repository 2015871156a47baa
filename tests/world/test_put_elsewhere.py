"""Stories of jobs whose templates somebody else changes: a manifest that is applied again puts a job back on its tier.

JobSet takes that while a job is suspended, KubeRay at any time, for the next cluster. What counts is where pods are.
"""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from spotproof.controller import standing
from spotproof.controller.cache import Key
from spotproof.controller.case import Case
from spotproof.controller.gang import tiers_selected
from spotproof.controller.jobs import JOBS as KINDS
from spotproof.controller.kinds import NODE, POD, RUN, Object
from spotproof.controller.memory import Memory
from spotproof.controller.metrics import Unobserved
from spotproof.controller.policies import Policies
from spotproof.controller.writing import read_status
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.vocabulary import MANUAL_LABEL, POOL_LABEL, PROBE_IMAGE
from tests.world.jobs import JOBS, Tier
from tests.world.managed import Managed
from tests.world.raycluster import HEAD, NODE_TYPE
from tests.world.test_lifecycle import managed
from tests.world.things import labels, node_of, uid

TIERS = (
    Tier("spot-a", max_failures=1, pending_timeout="2m"),
    Tier("on-demand", -1, capacity="on-demand", usd=30.0),
)


def put_on(world: Managed, tier: str) -> None:
    """Somebody applies the job's manifest with another tier in its templates, and knows nothing of anything else."""
    job = world.job("train")
    spec = job["spec"]
    if job["kind"] == "RayJob":
        (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
        changed = {"rayClusterSpec": {"workerGroupSpecs": [_on(group, tier)]}}
    else:
        changed = {"replicatedJobs": [_jobs_on(each, tier) for each in spec["replicatedJobs"]]}
    world.server.patch(job["apiVersion"], job["kind"], "train", {"spec": changed}, world.namespace)


def _on(holder: Object, tier: str) -> Object:
    template = holder["template"]
    return {**holder, "template": {**template, "spec": {**template["spec"], "nodeSelector": {POOL_LABEL: tier}}}}


def _jobs_on(role: Object, tier: str) -> Object:
    return {**role, "template": {**role["template"], "spec": _on(role["template"]["spec"], tier)}}


def moved_down(world: Managed) -> None:
    for _ in range(2):
        world.run(5)
        world.lose("train", "reclaim")
        world.run_until(lambda: not world.is_whole("train"))
        world.until_whole("train", within=600)
    assert world.status("train").tier == "on-demand"
    for node in world.all(NODE):
        # a node that is there takes a pod at once, and KubeRay waits for none of the cluster that goes
        if labels(node)[POOL_LABEL] == "spot-a":
            world.reclaim(node["metadata"]["name"])


def causes(world: Managed) -> list[tuple[str | None, str | None, str]]:
    return [(each.from_, each.to, each.reason) for each in world.status("train").history if each.what == "Moved"]


def test_a_ray_job_whose_next_cluster_is_on_another_tier_is_counted_and_waits_there() -> None:
    world = managed("RayJob", TIERS)
    moved_down(world)
    put_on(world, "spot-a")
    world.run(60)
    assert world.status("train").tier == "on-demand", "its cluster is where it was"

    world.finish("train", "FAILED")
    world.run_until(lambda: world.status("train").tier == "spot-a", within=600)
    world.until_whole("train", "spot-a", within=600)
    assert causes(world)[-1] == ("on-demand", "spot-a", "PutElsewhere")
    assert [note for note in world.told("Moved") if note.startswith("moved to spot-a: somebody else")]

    world.pools["spot-a"].dry = True
    world.run(5)
    world.lose("train", "reclaim")
    world.until_whole("train", "on-demand", within=900)
    assert causes(world)[-1][2] == "PendingTimeout"
    assert world.status("train").evictions == 3


def test_a_ray_job_whose_next_cluster_finds_no_place_on_its_other_tier_leaves_it_after_the_timeout() -> None:
    world = managed("RayJob", TIERS)
    moved_down(world)
    world.pools["spot-a"].dry = True
    put_on(world, "spot-a")
    world.finish("train", "FAILED")
    world.run_until(lambda: world.status("train").phase == "Waiting", within=600)
    assert world.status("train").tier == "spot-a"
    world.until_whole("train", "on-demand", within=900)
    assert causes(world)[-1] == ("spot-a", "on-demand", "PendingTimeout")


def test_a_ray_job_that_runs_on_spot_while_its_templates_say_otherwise_is_really_moved() -> None:
    world = managed("RayJob", TIERS)
    put_on(world, "on-demand")
    for _ in range(2):
        world.run(5)
        assert world.is_whole("train", "spot-a")
        for node in world.nodes("train")[:1]:
            world.reclaim(node)
        world.run_until(lambda: not world.is_whole("train"))
        world.until_whole("train", within=600)

    assert world.is_whole("train", "on-demand")
    assert causes(world) == [("spot-a", "on-demand", "TooManyFailures")]


@pytest.mark.parametrize("kind", JOBS)
def test_a_job_that_is_put_back_on_its_tier_while_it_is_moved_is_counted_where_its_pods_are(kind: str) -> None:
    world = managed(kind, TIERS)
    world.lose("train", "reclaim")
    world.run_until(lambda: not world.is_whole("train"))
    world.until_whole("train", "spot-a")
    world.run(5)
    world.lose("train", "reclaim")
    world.run_until(lambda: world.suspended_by_us("train"), within=600)
    put_on(world, "spot-a")

    world.until_whole("train", "spot-a", within=600)
    world.run(5)
    assert world.status("train").tier == "spot-a"
    assert causes(world)[-1] == ("on-demand", "spot-a", "PutElsewhere")
    world.lose("train", "reclaim")
    world.run_until(lambda: not world.is_whole("train"))
    world.until_whole("train", "spot-a", within=600)
    assert world.status("train").evictions == 3


def put_back_on_spot() -> Managed:
    """A RayJob on spot, by its manifest that somebody applied again after the controller had taken it to on-demand."""
    world = managed("RayJob", TIERS)
    moved_down(world)
    put_on(world, "spot-a")
    world.finish("train", "FAILED")
    world.run_until(lambda: world.status("train").tier == "spot-a", within=600)
    world.until_whole("train", "spot-a", within=600)
    world.run(5)
    return world


def put_back_in_mid_move() -> Managed:
    """A JobSet on spot, by its manifest that somebody applied again while the controller took it to on-demand."""
    world = managed("JobSet", TIERS)
    for _ in range(2):
        world.run(5)
        world.lose("train", "reclaim")
        world.run_until(lambda: not world.is_whole("train") or bool(world.suspended_by_us("train")))
        world.run_until(lambda: world.is_whole("train") or bool(world.suspended_by_us("train")), within=600)
    put_on(world, "spot-a")
    world.until_whole("train", "spot-a", within=600)
    world.run(5)
    assert world.status("train").tier == "spot-a"
    return world


def test_a_head_that_is_drained_after_that_is_charged_to_nobody() -> None:
    world = put_back_on_spot()
    before = world.status("train")
    (head,) = (pod for pod in world.all(POD) if labels(pod).get(NODE_TYPE) == HEAD)

    world.drain(node_of(head))
    world.run(600)

    after = world.status("train")
    assert (after.evictions, after.errors) == (before.evictions, before.errors)
    assert after.history[-1].what == "Disrupted"


@pytest.mark.parametrize(("how", "counted"), [("vanish", 1), ("drain", 0)])
@pytest.mark.parametrize("put_back", [put_back_on_spot, put_back_in_mid_move])
def test_a_loss_after_that_is_told_by_its_evidence_though_the_controller_dies(
    put_back: Callable[[], Managed], how: str, counted: int
) -> None:
    def lost(seconds: float) -> int:
        world = put_back()
        before = world.status("train").evictions
        world.lose("train", how)
        world.run(seconds)
        world.process.kill()
        world.process.start()
        world.run(300)
        assert world.is_whole("train")
        return world.status("train").evictions - before

    found = {seconds: lost(seconds) for seconds in (0, 0.5, 1, 1.5, 2)}

    assert {seconds: each for seconds, each in found.items() if each != counted} == {}


def test_a_pause_does_not_move_a_job_whose_templates_say_otherwise() -> None:
    world = managed("RayJob", TIERS)
    moved_down(world)
    put_on(world, "spot-a")
    before = causes(world)
    world.label(world.job("train"), MANUAL_LABEL, "true")
    world.run(60)
    world.label(world.job("train"), MANUAL_LABEL, None)
    world.run(60)

    assert (world.status("train").tier, causes(world)) == ("on-demand", before)


@pytest.mark.parametrize("kind", JOBS)
def test_pods_that_only_a_watch_that_lags_still_shows_put_a_job_nowhere(kind: str) -> None:
    world = Managed(TIERS)
    world.pools["spot-a"].dry = True
    world.submit(JOBS[kind]("train", "standard", "spot-a"))
    key = Key(kind, world.namespace, "train")
    world.run_until(lambda: len(world.process.cache.pods(key)) >= world.size("train"))
    job, pods = world.process.cache.job(key), world.process.cache.pods(key)
    world.until_whole("train", "on-demand", within=900)

    run, cache = world.get(RUN, "train"), world.process.cache
    assert job is not None
    assert run is not None
    status, memory = read_status(run), Memory(uid(job), Policies())
    as_it_was = SimpleNamespace(pods={key: pods}.get, policy=cache.policy)
    case = Case(
        world.process.line,
        as_it_was,  # pyright: ignore[reportArgumentType]
        key,
        KINDS[kind],
        job,
        run,
        status,
        memory,
        world.now,
        0.5,
        Unobserved(),
        PROBE_IMAGE,
    )
    policy = standing.policy_of_job(case)
    assert isinstance(policy, ResolvedPolicy)
    assert [tier.pool for tier in tiers_selected(case.kind, job, pods, policy.tiers)] == ["spot-a"]
    assert standing.put_elsewhere(case, status, policy) is None
