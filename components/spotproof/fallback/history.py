"""What becomes of a run's history when something happens: the one place that writes `RunState` and `Sight`."""

from typing import Final, Literal

from spotproof.fallback.policy import Policy, are_equal
from spotproof.fallback.run import EVICTION, Failure, Instant, Observation, RunState, Sight

HOUR: Final = 3600
TAKEN_AGAIN: Final = 2
"""How often an equal tier that answers is taken until the job has a place: an answer may be of one node, and a whole
gang need more."""


def created(now: Instant, *, work: int | None = None, deadline: Instant | None = None, nodes: int = 1) -> RunState:
    """A job that has just been made, waiting for its first place."""
    return RunState(created=now, arrived=now, work=work, deadline=deadline, nodes=nodes)


def started(state: RunState) -> RunState:
    """The gang has a place: what was waited for in vain before no longer counts."""
    return state._replace(waited=()) if state.waited else state


def interrupted(
    policy: Policy,
    state: RunState,
    seen: Observation,
    now: Instant,
    kind: Literal["eviction", "error"] | None = EVICTION,
) -> RunState:
    """The attempt that `seen` shows running has ended; `kind` None for an end that nobody is charged for."""
    saved = max(now - seen.since - max(policy.restart, state.restart_seen) - policy.checkpoint_every, 0)
    failures = (*state.failures, Failure(now, seen.tier, kind)) if kind else state.failures
    return state._replace(done=state.done + saved, failures=failures)


def moved(policy: Policy, state: RunState, *, before: str, after: str, now: Instant) -> RunState:
    """The job is taken from one tier to another; counts start afresh where the price is another.

    Among equal tiers they stay, or a job that alternates between two would never use either up.
    """
    if before == after:
        return state
    left = policy.by_pool.get(before)
    afresh = left is None or not are_equal(left, policy.by_pool[after])
    return state._replace(
        arrived=now,
        failures=() if afresh else state.failures,
        waited=() if afresh else _left(state.waited, before),
        moves=(*(at for at in state.moves if at > now - HOUR), now),
    )


def _left(waited: tuple[str, ...], pool: str) -> tuple[str, ...]:
    """The pools that were left, with one more: of each no more than the rules count, however long the market is dry."""
    first = waited.index(pool) if waited.count(pool) >= TAKEN_AGAIN else -1
    return (*(each for place, each in enumerate(waited) if place != first), pool)


def seen_up(sight: Sight, now: Instant, *, asked: bool = False) -> Sight:
    """The tier has capacity.

    Where it was asked it may have come back at any moment since the last no: the middle is the best guess. Without it
    a market that is asked every hour looks younger than it is, which cost 0.4 points of saving.
    """
    if sight.there:
        return sight._replace(up=now, asked=now if asked else sight.asked)
    down = (sight.down + now) // 2 if asked and sight.down is not None else now
    return Sight(there=True, up=now, down=down, asked=now if asked else sight.asked)


def seen_down(sight: Sight, now: Instant, *, asked: bool = False) -> Sight:
    """The tier has none. One that was watched had capacity until this moment, one that was asked is not known to."""
    up = now if sight.there and not asked else sight.up
    return Sight(there=False, up=up, down=now, asked=now if asked else sight.asked)
