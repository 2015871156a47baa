"""Random policies, jobs and markets, and a simulation that is listened to."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import patch

from hypothesis import strategies as st

from spotproof.economics import simulator
from spotproof.economics.market import Market, Tape
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.simulator import Simulation
from spotproof.fallback import Decision, Observation, Order, Phase, Policy, RunState, Sight, Tier, decide

SPOT_USD = (1.0, 1.05, 1.3, 2.0, None)
ON_DEMAND_USD = (3.0, 3.2, None)


class World(NamedTuple):
    """One run to be: everything that a simulation takes."""

    policy: Policy
    job: Job
    market: Market
    tick: int

    def simulation(self, *, skips: bool = True) -> Simulation:
        return Simulation(self.policy, self.job, self.market, tick=self.tick, skips=skips)


class Step(NamedTuple):
    """One call of the rule and its answer."""

    policy: Policy
    state: RunState
    seen: Observation
    now: int
    decision: Decision

    @property
    def goal(self) -> Tier:
        return self.policy.by_pool[self.decision.tier]

    def sees(self, tier: Tier) -> bool:
        return self.seen.sights.get(tier.pool, Sight()).there

    @property
    def runs(self) -> bool:
        return self.seen.phase is Phase.RUNNING

    @property
    def tier(self) -> Tier:
        return self.policy.by_pool[self.seen.tier]


def run(simulation: Simulation, rule: Callable[..., Decision] = decide) -> tuple[Outcome, list[Step]]:
    """Run a simulation with a rule, and write down every step."""
    steps: list[Step] = []

    def noted(policy: Policy, state: RunState, seen: Observation, now: int) -> Decision:
        frozen = seen._replace(sights=dict(seen.sights))
        decision = rule(policy, state, frozen, now)
        steps.append(Step(policy, state, frozen, now, decision))
        return decision

    with patch.object(simulator, "decide", noted):
        outcome = simulation.run()
    return outcome, steps


@st.composite
def tiers(draw: st.DrawFn, span: int, *, on_demand: bool) -> tuple[Tier, ...]:
    """Up to four spot tiers and up to two of on-demand, mostly in that order."""
    timeout, failures = st.integers(1, max(span // 4, 1)), st.integers(-1, 3)
    spot = [
        Tier(
            f"spot-{index}",
            spot=True,
            usd=draw(st.sampled_from(SPOT_USD)),
            max_failures=draw(failures),
            pending_timeout=draw(timeout),
        )
        for index in range(draw(st.integers(1, 4)))
    ]
    kept = [
        Tier(
            f"on-demand-{index}",
            spot=False,
            usd=draw(st.sampled_from(ON_DEMAND_USD)),
            max_failures=draw(failures),
            pending_timeout=draw(timeout),
        )
        for index in range(draw(st.integers(int(on_demand), 2)))
    ]
    listed = [*sorted(spot, key=lambda tier: tier.usd or 0), *kept]
    return tuple(draw(st.permutations(listed)) if draw(st.integers(0, 5)) == 0 else listed)


@st.composite
def policies(draw: st.DrawFn, span: int, *, modes: tuple[str, ...], on_demand: bool = False) -> Policy:
    """Any policy whose times are of the order of a run of so many seconds."""
    return Policy(
        tiers=draw(tiers(span, on_demand=on_demand)),
        failure_window=draw(st.none() | st.integers(1, span)),
        min_stay=draw(st.none() | st.integers(0, span // 4)),
        probe_every=draw(st.just(0) | st.integers(1, span // 4)),
        mode=draw(st.sampled_from(modes)),  # pyright: ignore[reportArgumentType]
        restart=draw(st.integers(0, span // 10)),
        checkpoint_every=draw(st.just(0) | st.integers(0, span // 6)),
        margin=draw(st.just(0) | st.integers(0, span // 10)),
        max_moves_per_hour=draw(st.integers(0, 4)),
        order=draw(st.sampled_from(Order)),
    )


@st.composite
def tapes(draw: st.DrawFn, tick: int, span: int) -> Tape:
    """Spells of whole ticks, some short and some long."""
    longest = max(span // tick // 3, 1)
    spells = draw(st.lists(st.integers(1, 4) | st.integers(1, longest), max_size=24))
    changes, at = [], 0
    for spell in spells:
        at += spell * tick
        changes.append(at)
    return Tape(draw(st.booleans()), tuple(changes))


@st.composite
def worlds(
    draw: st.DrawFn,
    *,
    modes: tuple[str, ...] = ("off", "guard", "pace"),
    ticks: tuple[int, ...] = (1, 195, 600),
    on_demand: bool = False,
    patient: bool = False,
) -> World:
    """A policy, a job and a market for it.

    With `on_demand` there is such a tier, and a job that it could end in time in most cases; with `patient` no tier
    is given up within a quarter of an hour, as the settings ask for.
    """
    tick = draw(st.sampled_from(ticks))
    span = draw(st.integers(600, 6_000)) if tick == 1 else tick * draw(st.integers(8, 150))
    policy = draw(policies(span, modes=modes, on_demand=on_demand))
    if patient:
        longer = (tier._replace(pending_timeout=max(tier.pending_timeout, 900)) for tier in policy.tiers)
        policy = replace(policy, tiers=tuple(longer))
    ticks_left = (span - policy.margin) // tick * tick
    most = max(ticks_left - policy.restart, 1)
    work = draw(st.integers(max(most // 3, 1), most) | st.integers(1, most if on_demand else span))
    every = draw(st.sampled_from((0, policy.checkpoint_every)) | st.integers(0, policy.checkpoint_every))
    job = Job(
        work=work,
        deadline=span,
        changeover=policy.restart,
        on_demand_usd=3.0,
        spot_usd=tuple(tier.usd or 1.0 for tier in policy.spot),
        nodes=draw(st.integers(1, 3)),
        checkpoint_every=every,
        probe=draw(st.sampled_from((0, 600))),
    )
    market = Market(tuple(draw(tapes(tick, span)) for _ in policy.spot), (span // tick + 2) * tick)
    return World(policy, job, market, tick)
