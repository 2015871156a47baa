"""The judge of random worlds is held to something itself: controllers with one fault each, which it has to find."""

import importlib
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

import pytest

from spotproof.controller import concluding, moving, visit
from spotproof.controller.interruptions import Facts, account
from spotproof.controller.jobs.jobset import JobSetKind
from spotproof.controller.jobs.rayjob import RayJobKind
from spotproof.controller.kinds import POD, Object
from spotproof.controller.moving import Moving, Progress
from spotproof.fallback.policy import NEVER_MOVES, Policy
from spotproof.fallback.policy import Tier as RuledTier
from spotproof.fallback.record import RunFailure, TrainingRunStatus
from spotproof.fallback.run import Action, Decision
from spotproof.fallback.view import View
from spotproof.vocabulary import POOL_LABEL
from tests.world.jobs import JOBS, Tier, jobset, rayjob
from tests.world.judge import BrokenRuleError
from tests.world.kubelet import STOP_DELAY
from tests.world.managed import Managed
from tests.world.verdict import judge, left_of_ours

TIERS: Final = (Tier("spot-a", max_failures=1), Tier("on-demand", -1, capacity="on-demand", usd=30.0))
RULE: Final = importlib.import_module("spotproof.fallback.decide")
"""The module: the package has a function of its name."""
QUIET_SECONDS: Final = 60.0


@pytest.fixture(params=JOBS)
def kind(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """How a job of either kind is made."""
    return JOBS[request.param]


def begun(kind: Callable[..., Any], *tiers: Tier, **rule: Any) -> Managed:
    """A whole gang on spot, named train, in a world whose moves are judged."""
    world = Managed(tiers or TIERS, judged=True, **rule)
    world.submit(kind("train", "standard", "spot-a"))
    world.until_whole("train", "spot-a")
    world.run(5)
    return world


def loses(world: Managed, times: int = 1) -> None:
    """A node is reclaimed, and the gang is whole again each time."""
    for _ in range(times):
        world.lose("train", "reclaim")
        world.run(5)
        world.until_whole("train")
        world.ledger("train").settle()
        world.run(5)


def _nothing(*_: object) -> Any:
    """In place of what a controller does, or finds."""
    return None


def _none(*_: object) -> tuple[()]:
    return ()


def waits(world: Managed, seconds: float = QUIET_SECONDS) -> None:
    """Time passes, and what was due is looked for."""
    world.run(seconds)
    assert world.moves is not None
    world.moves.overdue("train")


def story(world: Managed) -> None:
    """All that the faults below make wrong: two evictions, an error, a dry market, a return, and the end."""
    loses(world, 2)
    waits(world)
    world.fail("train", 1)
    world.run(30)
    world.until_whole("train")
    judge(world, "train")


def test_a_controller_without_a_fault_is_not_found_fault_with(kind: Callable[..., Any]) -> None:
    world = begun(kind, **{"return": {"minStay": "15m"}})
    story(world)
    assert world.moves is not None
    assert world.moves.causes == ["failures", "return"]


def test_one_that_never_moves_is_caught_where_the_job_failed_too_often(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _never_moves(monkeypatch)
    with pytest.raises(BrokenRuleError, match=r"still runs on spot-a after Bounds\(least=2"):
        story(begun(kind))


def test_one_that_never_moves_is_caught_where_the_job_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    _never_moves(monkeypatch)
    world = begun(jobset)
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim", 2)
    waits(world, 14 * 60)
    with pytest.raises(BrokenRuleError, match="still waits for spot-a"):
        waits(world, 120)


def _never_moves(monkeypatch: pytest.MonkeyPatch) -> None:

    def never(policy: Policy, *args: Any) -> Any:
        tiers = tuple(each._replace(max_failures=NEVER_MOVES, pending_timeout=1 << 30) for each in policy.tiers)
        found = RULE.decide(Policy(tiers), *args)
        return found._replace(action=Action.STAY) if found.action is Action.MOVE else found

    monkeypatch.setattr(visit, "decide", never)


def test_one_that_moves_at_the_first_eviction_is_caught(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spent(view: View, tier: RuledTier) -> bool:
        return view.failures(tier) > 0

    monkeypatch.setattr(View, "spent", spent)
    with pytest.raises(BrokenRuleError, match="moved from spot-a to on-demand without a cause"):
        story(begun(kind))


def test_one_that_moves_before_the_timeout_is_caught(kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:

    def soon(policy: Policy, *args: Any) -> Any:
        tiers = tuple(each._replace(pending_timeout=each.pending_timeout // 2) for each in policy.tiers)
        return RULE.decide(Policy(tiers), *args)

    monkeypatch.setattr(visit, "decide", soon)
    world = begun(kind)
    world.pools["spot-a"].dry = True
    world.lose("train", "reclaim", 2)
    with pytest.raises(BrokenRuleError, match="moved from spot-a to on-demand without a cause"):
        waits(world, 1000)


def test_one_that_returns_without_an_answer_is_caught(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fresh(_: View, tiers: Iterable[RuledTier]) -> list[RuledTier]:
        return list(tiers)

    monkeypatch.setattr(View, "fresh", fresh)
    with pytest.raises(BrokenRuleError, match="moved from on-demand to spot-a without a cause"):
        story(begun(kind, **{"return": {"minStay": "15m"}}))


def test_one_that_returns_before_its_stay_is_over_is_caught(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def early(policy: Policy, *args: Any) -> Any:
        return RULE.decide(Policy(policy.tiers, min_stay=60), *args)

    monkeypatch.setattr(visit, "decide", early)
    with pytest.raises(BrokenRuleError, match="moved from on-demand to spot-a without a cause"):
        story(begun(kind, **{"return": {"minStay": "15m"}}))


def test_one_that_fails_the_job_at_its_first_error_is_caught(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def limit(_: Object) -> int:
        return 0

    monkeypatch.setattr(concluding, "backoff_limit_of", limit)
    with pytest.raises(BrokenRuleError, match=r"failed after Bounds\(least=1, most=1\) errors, of 2"):
        story(begun(kind))


def test_one_that_never_fails_a_job_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concluding, "backoff_limit_of", _nothing)
    world = begun(jobset)
    for _ in range(3):
        world.fail("train", 1)
        world.run(20)
        world.until_whole("train")
        world.ledger("train").settle()
    with pytest.raises(BrokenRuleError, match=r"not failed after Bounds\(least=3, most=3\) errors, of 2"):
        waits(world)


@pytest.mark.parametrize("late", [60, 900], ids=["a minute", "a quarter of an hour"])
def test_one_that_counts_an_eviction_again_later_is_caught(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    first = list[int]()

    def again(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
        after = account(status, facts)
        if after.evictions > status.evictions and not first:
            first.append(facts.now)
        if len(first) != 1 or facts.now < first[0] + late:
            return after
        first.append(facts.now)
        failures = (*after.failures, RunFailure(at=facts.now, pool=facts.pool, kind="eviction"))
        return after.model_copy(update={"evictions": after.evictions + 1, "failures": failures})

    monkeypatch.setattr(visit, "account", again)
    world = begun(kind)
    loses(world)
    world.clock.after(late + 30.0, lambda: world.label(world.job("train"), "looked", "at"))
    with pytest.raises(BrokenRuleError, match=r"2 evictions are counted, of Bounds\(least=1, most=1\)"):
        judge(world, "train")


def test_one_that_does_not_count_is_caught(kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def none(status: TrainingRunStatus, facts: Facts) -> TrainingRunStatus:
        return account(status, facts).model_copy(update={"evictions": 0})

    monkeypatch.setattr(visit, "account", none)
    world = begun(kind)
    loses(world)
    with pytest.raises(AssertionError, match="Bounds"):
        judge(world, "train")


def test_one_that_resumes_before_the_old_pods_are_gone_is_caught(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _resumes_early(monkeypatch)
    with pytest.raises(BrokenRuleError, match="resumed with pods left"):
        story(begun(kind))


def test_pods_of_two_attempts_that_run_at_once_are_seen_from_the_pods_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _resumes_early(monkeypatch)
    monkeypatch.setattr("tests.world.judge.Judge._job", _nothing)
    world = begun(rayjob)
    loses(world)
    for pod in world.gang("train"):
        world.annotate(pod, {STOP_DELAY: "60"})
    world.lose("train", "reclaim")
    with pytest.raises(BrokenRuleError, match="of another attempt still runs"):
        world.run(60)


def _on(pool: str, **labels: str) -> Callable[[Object], Object]:
    """A pod that selects a pool, with other labels by their last part."""

    def changed(pod: Object) -> Object:
        meta = pod["metadata"]
        other = {key: labels.get(key.rpartition("/")[2].replace("-", "_"), old) for key, old in meta["labels"].items()}
        spec = {**pod["spec"], "nodeSelector": {**pod["spec"]["nodeSelector"], POOL_LABEL: pool}}
        return {**pod, "metadata": {**meta, "name": "twin", "labels": other}, "spec": spec}

    return changed


def _of_another_job(pod: Object) -> Object:
    meta = pod["metadata"]
    owners = [{**each, "uid": "job-made-anew"} for each in meta["ownerReferences"]]
    return {**pod, "metadata": {**meta, "name": "twin", "ownerReferences": owners}}


@pytest.mark.parametrize(
    "twin",
    [_on("on-demand"), _on("spot-a", restart_attempt="1"), _of_another_job],
    ids=["on another tier", "of another restart", "of a child Job that was made anew"],
)
def test_a_pod_of_another_attempt_of_a_jobset_is_seen_beside_its_gang(twin: Callable[[Object], Object]) -> None:
    world = begun(jobset)
    with pytest.raises(BrokenRuleError, match="of another attempt still runs"):
        world.store.add(twin(world.gang("train")[0]))


@pytest.mark.parametrize("twin", [_on("spot-a"), _on("spot-a", jobset_uid="another", restart_attempt="1")])
def test_a_pod_of_the_same_attempt_or_of_another_job_is_no_second_writer(twin: Callable[[Object], Object]) -> None:
    world = begun(jobset)
    added = world.store.add(twin(world.gang("train")[0]))
    assert added in world.all(POD)


def _resumes_early(monkeypatch: pytest.MonkeyPatch) -> None:
    def drain(here: Moving) -> Progress:
        if here.case.kind.is_quiet(here.job, ()):
            return Progress(update={"step": "Rebuilding"})
        return Progress(look_at=here.case.now + 1)

    monkeypatch.setitem(cast("dict[str, Any]", moving.STEPS), "Draining", drain)
    for each in (JobSetKind, RayJobKind):
        monkeypatch.setattr(each, "leftovers", _none)


def test_one_that_ignores_the_brake_is_caught(kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def brake(_: View, decision: Decision) -> Decision:
        return decision

    monkeypatch.setattr(RULE, "brake", brake)
    world = begun(kind, *TIERS, **{"maxMovesPerHour": 1, "return": {"minStay": "15m"}})
    with pytest.raises(BrokenRuleError, match="moved 2 times within the hour, of 1"):
        story(world)


def test_one_that_leaves_a_probe_behind_is_caught_where_the_job_is_over(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for way in ("withdraw_all", "withdraw_closed"):
        monkeypatch.setattr(f"spotproof.controller.asking.{way}", _nothing)
    world = begun(kind, **{"return": {"minStay": "15m"}})
    loses(world, 2)
    world.pools["spot-a"].dry = True
    world.run_until(lambda: left_of_ours(world, "train"), within=3600)
    if kind is rayjob:
        world.finish("train", "SUCCEEDED")
    else:
        world.finish_roles("train")
    with pytest.raises(AssertionError, match="probe-spot-a"):
        judge(world, "train")
