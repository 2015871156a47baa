"""Policies, jobs and sights in few words. The tests' clock starts at 0, when the job is made."""

from typing import Any

from spotproof.fallback import (
    NEVER,
    Code,
    Decision,
    Failure,
    Observation,
    Phase,
    Policy,
    RunState,
    Sight,
    Tier,
    decide,
)
from spotproof.fallback.history import created

MINUTE, HOUR = 60, 3600
SPOT = Tier("spot", spot=True, usd=1.0, max_failures=2, pending_timeout=HOUR)
TWIN = Tier("twin", spot=True, usd=1.05, max_failures=2, pending_timeout=2 * HOUR)
DEAR = Tier("dear", spot=True, usd=1.6, max_failures=2, pending_timeout=HOUR)
ON_DEMAND = Tier("on-demand", spot=False, usd=3.0)

Answer = tuple[str, str, Code]


def policy(*tiers: Tier, **rest: Any) -> Policy:
    """Without a brake, a margin or lost work unless asked for; every tier is seen."""
    plain: dict[str, Any] = {
        "max_moves_per_hour": 0,
        "probe_every": 0,
        "margin": 0,
        "checkpoint_every": 0,
        "restart": 720,
    }
    return Policy(tiers=tiers or (SPOT, ON_DEMAND), **{**plain, **rest})


def job(**rest: Any) -> RunState:
    """A job that was made at 0."""
    return created(0)._replace(**rest)


def evicted(*instants: int, pool: str = "spot") -> tuple[Failure, ...]:
    """Evictions on one pool."""
    return tuple(Failure(at, pool) for at in instants)


def failed(*instants: int, pool: str = "spot") -> tuple[Failure, ...]:
    """Software errors on one pool."""
    return tuple(Failure(at, pool, "error") for at in instants)


def up(since: int = 0, *, asked: int | None = None, asking: bool = False) -> Sight:
    """A tier that has had capacity since then."""
    return Sight(there=True, up=since, down=since, asked=asked, asking=asking)


def down(since: int = 0, *, asked: int | None = None) -> Sight:
    """A tier that has had none since then."""
    return Sight(there=False, up=since, down=since, asked=asked)


def waiting(pool: str = "spot", since: int = 0, held: int = 0, **sights: Sight) -> Observation:
    """A job without a place; a pool's sight by its name, `_` for `-`."""
    return _observed(pool, Phase.WAITING, since, sights)._replace(nodes_held=held)


def running(pool: str = "spot", since: int = 0, progress: int | None = None, **sights: Sight) -> Observation:
    """A job with a place."""
    return _observed(pool, Phase.RUNNING, since, sights)._replace(progress=progress)


def _observed(pool: str, phase: Phase, since: int, sights: dict[str, Sight]) -> Observation:
    return Observation(pool, phase, since, {name.replace("_", "-"): sight for name, sight in sights.items()})


def answer(decision: Decision) -> Answer:
    """The part of a decision that the tables state."""
    return decision.action.value, decision.tier, decision.reason.code


def at(policy: Policy, state: RunState, seen: Observation, now: int) -> Answer:
    """What the rule says at one moment."""
    return answer(decide(policy, state, seen, now))


def first_change(policy: Policy, state: RunState, seen: Observation, now: int, until: int) -> int:
    """The first second after `now` with another action or tier, tried one by one; NEVER if there is none."""
    first = decide(policy, state, seen, now)
    for instant in range(now + 1, until):
        other = decide(policy, state, seen, instant)
        if (other.action, other.tier) != (first.action, first.tier):
            return instant
    return NEVER
