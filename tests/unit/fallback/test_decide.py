"""What holds of every decision, whatever the policy, the job and the market: asked of random ones."""

import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from spotproof.economics.simulator import Simulation
from spotproof.fallback import (
    Action,
    Code,
    Decision,
    Failure,
    Observation,
    Phase,
    Policy,
    RunState,
    Sight,
    decide,
    sentence,
)
from spotproof.fallback.history import HOUR, moved
from spotproof.fallback.policy import NEVER_MOVES, are_equal, is_cheaper
from tests.unit.fallback.samples import at, evicted, job, policy, running, waiting
from tests.unit.fallback.worlds import Step, World, policies, run, worlds

DEADLINES: Final = ("guard", "pace")
SLOW: Final = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
few = settings(max_examples=60, suppress_health_check=SLOW)
more = settings(max_examples=150, suppress_health_check=SLOW)


def feasible(world: World, late: int = 0) -> bool:
    """Whether on-demand, taken at once, would end before the deadline less the margin."""
    left = (world.job.deadline - world.policy.margin) // world.tick * world.tick
    return world.job.changeover + world.job.work + late <= left


def in_time(simulation: Simulation, margin: int) -> bool:
    outcome = simulation.run()
    return outcome.finish is not None and outcome.finish <= simulation.job.deadline - margin


@more
@given(world=worlds(modes=DEADLINES, on_demand=True))
def test_a_job_that_can_be_in_time_is(world: World) -> None:
    """One and several tiers, seen and asked, in ticks and by the second, with and without work lost to evictions."""
    assume(feasible(world))

    assert in_time(world.simulation(), world.policy.margin)


@few
@given(world=worlds(modes=DEADLINES, on_demand=True), factor=st.integers(1, 3))
def test_a_job_whose_restarts_are_slower_than_the_setting_is_in_time_once_it_has_seen_them(
    world: World, factor: int
) -> None:
    slow = world.job._replace(changeover=world.policy.restart * factor + factor)
    world = world._replace(job=slow)
    assume(feasible(world))
    simulation = world.simulation()
    simulation.state = simulation.state._replace(restart_seen=slow.changeover)

    assert in_time(simulation, world.policy.margin)


class Reporting(Simulation):
    """A job whose trainer writes down what its newest checkpoint holds."""

    __slots__ = ()

    def _seen(self) -> Observation:
        seen = super()._seen()
        if self.phase is not Phase.RUNNING:
            return seen._replace(progress=self.done)
        trained = max(self.now - self.since - self.job.changeover, 0)
        every = self.job.checkpoint_every
        return seen._replace(progress=self.done + (trained - trained % every if every else trained))


@more
@given(world=worlds(modes=DEADLINES, on_demand=True))
def test_a_job_that_reports_its_progress_is_in_time(world: World) -> None:
    assume(feasible(world))

    assert in_time(Reporting(world.policy, world.job, world.market, tick=world.tick), world.policy.margin)


class Delayed(Simulation):
    """A market where every on-demand node comes late."""

    __slots__ = ("delay",)
    delay: int

    def _placed(self) -> bool:
        return super()._placed() if self.tier.spot else self.now - self.since >= self.delay


@few
@given(world=worlds(modes=DEADLINES, on_demand=True, patient=True), ticks=st.integers(0, 10))
def test_a_margin_protects_against_on_demand_that_starts_late_by_up_to_it(world: World, ticks: int) -> None:
    assume(feasible(world))
    simulation = Delayed(world.policy, world.job, world.market, tick=world.tick, skips=False)
    # a launch that takes longer than this is a dry market, and everything that answers is taken
    longest = min(world.policy.margin, 800)
    simulation.delay = min(ticks * world.tick, longest // world.tick * world.tick)

    assert in_time(simulation, 0)


@few
@given(world=worlds(modes=("off",)))
def test_a_tier_is_not_left_before_its_count_or_its_timeout_says_so(world: World) -> None:
    for step in run(world.simulation())[1]:
        if step.decision.action is Action.MOVE:
            assert ALLOWED[step.decision.reason.code](step), step


def used_up(step: Step) -> bool:
    window = step.policy.failure_window
    young = [each for each in step.state.failures if window is None or each.at > step.now - window]
    return (
        step.tier.max_failures != NEVER_MOVES
        and len([each for each in young if each.pool == step.tier.pool]) > step.tier.max_failures
    )


ALLOWED: Final[Mapping[Code, Callable[[Step], bool]]] = {
    Code.FAILURES: used_up,
    Code.TIMEOUT: lambda step: not step.runs and step.now - step.seen.since >= step.tier.pending_timeout,
    Code.EQUAL: lambda step: not step.runs and are_equal(step.tier, step.goal) and step.sees(step.goal),
    Code.OTHER: lambda step: not step.runs and step.sees(step.goal),
    Code.RETURN: lambda step: (
        step.runs
        and is_cheaper(step.goal, step.tier)
        and step.sees(step.goal)
        and step.now - step.state.arrived >= (step.policy.min_stay or 0)
    ),
}
"""What must be so for a move without a deadline."""


@more
@given(world=worlds())
def test_skipping_to_the_next_instant_gives_what_deciding_at_every_tick_gives(world: World) -> None:
    assert world.simulation().run() == world.simulation(skips=False).run()


@few
@given(world=worlds())
def test_every_step_has_a_reason_that_renders_and_a_next_instant_to_come(world: World) -> None:
    for step in run(world.simulation(skips=world.tick == 1))[1]:
        assert sentence(step.decision.reason)
        assert step.decision.next_at > step.now
        assert decide(*step[:4]) == step.decision


@few
@given(world=worlds())
def test_a_running_spot_tier_is_left_for_an_equal_one_only_when_it_is_used_up(world: World) -> None:
    for step in run(world.simulation())[1]:
        leaves = step.decision.action is Action.MOVE and step.runs and step.tier.spot
        if leaves and are_equal(step.tier, step.goal):
            assert step.decision.reason.code is Code.FAILURES


@few
@given(world=worlds())
def test_a_job_moves_no_more_often_than_allowed_except_for_its_deadline(world: World) -> None:
    steps = run(world.simulation())[1]
    limit = world.policy.max_moves_per_hour
    assume(limit)
    moves: list[int] = []
    for step in steps:
        if step.decision.action is Action.MOVE:
            if step.decision.reason.code not in {Code.GUARD, Code.LATE}:
                assert sum(at > step.now - HOUR for at in moves) < limit
            moves.append(step.now)


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def read_state(written: Sequence[Any]) -> RunState:
    state = RunState(*written)
    return state._replace(
        failures=tuple(Failure(*each) for each in state.failures), waited=tuple(state.waited), moves=tuple(state.moves)
    )


def read_seen(written: Sequence[Any], phase: str) -> Observation:
    seen = Observation(*written)
    sights = {pool: Sight(*sight) for pool, sight in seen.sights.items()}
    return seen._replace(phase=Phase(phase), sights=sights)


def as_a_new_process(policy: Policy, state: RunState, seen: Observation, now: int) -> Decision:
    """Decide on what a status holds, as text, and a policy that was read anew."""
    written = read_seen(through_json(seen._replace(phase=None)), seen.phase.value)  # pyright: ignore[reportArgumentType]
    assert written == seen
    return decide(pickle.loads(pickle.dumps(policy)), read_state(through_json(state)), written, now)  # noqa: S301 - ours


@few
@given(world=worlds())
def test_a_process_that_is_restarted_before_every_decision_decides_the_same(world: World) -> None:
    assert run(world.simulation(), as_a_new_process)[0] == world.simulation().run()


SPAN: Final = 20_000
INSTANT: Final = st.integers(0, SPAN)
SIGHTS: Final = st.builds(Sight, st.booleans(), st.none() | INSTANT, st.none() | INSTANT, st.none() | INSTANT)


@st.composite
def moments(draw: st.DrawFn) -> tuple[Policy, RunState, Observation, int]:
    """Anything the rule may be asked, whether or not a job could come there."""
    rule = draw(policies(SPAN, modes=("off", *DEADLINES)))
    pools = st.sampled_from([tier.pool for tier in rule.tiers])
    now = draw(INSTANT)
    past = st.integers(0, now)
    kinds = st.sampled_from(("eviction", "error"))
    state = RunState(
        created=0,
        arrived=draw(past),
        failures=tuple(draw(st.lists(st.builds(Failure, past, pools, kinds), max_size=6))),
        waited=tuple(draw(st.sets(pools))),
        moves=tuple(sorted(draw(st.lists(past, max_size=6)))),
        done=draw(past),
        work=draw(st.none() | INSTANT),
        deadline=draw(st.none() | st.integers(0, 2 * SPAN)),
        restart_seen=draw(st.integers(0, 2_000)),
    )
    sights = draw(st.dictionaries(pools, SIGHTS))
    # what was asked in this second is common, and random instants would never hit it
    fresh = {pool: sight._replace(asked=now) for pool, sight in sights.items() if draw(st.booleans())}
    seen = Observation(
        tier=draw(pools),
        phase=draw(st.sampled_from(Phase)),
        since=draw(past),
        sights={**sights, **fresh},
        nodes_held=draw(st.integers(0, 4)),
        progress=draw(st.none() | INSTANT),
        tick=draw(st.sampled_from((1, 195, 600))),
    )
    return rule, state, seen, now


@settings(max_examples=300, suppress_health_check=SLOW)
@given(moment=moments())
def test_whatever_is_asked_has_an_answer_that_can_be_carried_out_and_said(
    moment: tuple[Policy, RunState, Observation, int],
) -> None:
    rule, _, seen, now = moment
    decision = decide(*moment)

    assert sentence(decision.reason)
    assert decision.next_at > now
    assert decision.tier in rule.by_pool
    match decision.action:
        case Action.STAY | Action.WAIT:
            assert decision.tier == seen.tier
            assert decision.action is (Action.STAY if seen.phase is Phase.RUNNING else Action.WAIT)
        case Action.MOVE:
            assert decision.tier != seen.tier
        case Action.ASK:
            assert rule.probe_every
            assert decision.tier != seen.tier
    assert decide(*moment) == decision


@settings(max_examples=100, suppress_health_check=SLOW)
@given(moment=moments())
def test_nothing_changes_before_the_next_instant_unless_something_is_seen(
    moment: tuple[Policy, RunState, Observation, int],
) -> None:
    rule, state, seen, now = moment
    first = decide(*moment)
    assume(first.action in {Action.STAY, Action.WAIT})
    for instant in range(now + seen.tick, min(first.next_at, now + 3_000 * seen.tick, 3 * SPAN), seen.tick):
        decision = decide(rule, state, seen, instant)
        assert (decision.action, decision.tier) == (first.action, first.tier), instant


def test_a_job_whose_tier_vanished_from_the_policy_stays_until_its_next_attempt_on_the_first_tier() -> None:
    for mode in ("off", *DEADLINES):
        rule, state = policy(mode=mode), job(work=HOUR, deadline=0, failures=evicted(*range(9), pool="gone"))

        assert at(rule, state, running("gone"), 0) == ("stay", "gone", Code.GONE)
        assert at(rule, state, waiting("gone"), 0) == ("move", "spot", Code.GONE)
        assert moved(rule, state, before="gone", after="spot", now=5).failures == ()
    said = sentence(decide(policy(), job(), running("gone"), 0).reason)
    assert said == "gone is no tier of the policy any more: the next attempt is on spot"
