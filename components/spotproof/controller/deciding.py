"""Between a TrainingRun and the rule: what the rule is told, and what its answer makes of the record."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spotproof.controller.annotations import deadline_of, progress_of, work_of
from spotproof.controller.gang import Gang
from spotproof.controller.kinds import Object
from spotproof.fallback import history
from spotproof.fallback.budget import budget
from spotproof.fallback.policy import Policy
from spotproof.fallback.record import Move, Outlook, RunFailure, RunTier, TrainingRunStatus, parse_instant
from spotproof.fallback.run import Failure, Instant, Observation, Phase, RunState, Sight

MOST_TIERS: Final = 32
"""What a TrainingRun holds; those of policies that were edited are among them."""
NOT_WAITING: Final[Mapping[str, object]] = MappingProxyType(
    {"waiting_since": None, "waiting_paused": None, "waiting_for": None, "nodes_held": 0}
)
"""Of a record whose job has no place that it could wait for: it is over, on its way, or in other hands."""
NEAR: Final = 90
"""Of a hundred restarts, how many took no longer than what is reckoned with."""


def state_of(status: TrainingRunStatus, job: Object) -> RunState:
    """The job's past, as the rule reads it. Without both annotations there is no deadline to keep."""
    created = parse_instant(job["metadata"]["creationTimestamp"])
    deadline, work = deadline_of(job), work_of(job)
    both = deadline is not None and work is not None
    return RunState(
        created=created,
        arrived=status.arrived or created,
        failures=tuple(Failure(each.at, each.pool, each.kind) for each in status.failures),
        waited=status.waited,
        moves=status.moves,
        done=status.done_seconds,
        work=work if both else None,
        deadline=deadline if both else None,
        restart_seen=_percentile(status.restart_seconds),
        nodes=max(status.nodes, 1),
    )


def _percentile(seconds: tuple[int, ...]) -> int:
    """By nearest rank; with fewer than ten the longest."""
    if not seconds:
        return 0
    ranked = sorted(seconds)
    return ranked[max(-(-len(ranked) * NEAR // 100) - 1, 0)]


def tier_of(status: TrainingRunStatus, pool: str) -> RunTier:
    """What is known of a tier; nothing, where it was never looked at."""
    return next((each for each in status.tiers if each.pool == pool), RunTier(pool=pool))


def with_tier(status: TrainingRunStatus, tier: RunTier) -> TrainingRunStatus:
    """The status with what is known of one tier."""
    kept = {each.pool: each for each in status.tiers}
    return status.model_copy(update={"tiers": tuple({**kept, tier.pool: tier}.values())[-MOST_TIERS:]})


def sight_of(tier: RunTier) -> Sight:
    """A tier as the rule reads it.

    While a probe is out it counts as just asked, so that it is not asked twice, and what was known before is no answer:
    a gang that was taken from spot before one of its pods had waited there went back to it without any.
    """
    asking = tier.asking_since is not None
    return Sight(tier.there, tier.up, tier.down, tier.asking_since if asking else tier.asked, asking)


def with_sight(status: TrainingRunStatus, pool: str, sight: Sight) -> TrainingRunStatus:
    """The status with a new answer of a tier."""
    update = {"there": sight.there, "up": sight.up, "down": sight.down, "asked": sight.asked}
    return with_tier(status, tier_of(status, pool).model_copy(update=update))


def placed(status: TrainingRunStatus, gang: Gang, now: Instant, *, unwatched: bool = False) -> TrainingRunStatus:
    """Where the gang is now: running, being placed, or waiting, and since when.

    `unwatched`: nobody may have looked for a while, as before a process began.
    """
    if (tier := status.tier) is None:
        return status
    held = len(gang.nodes)
    status = status.model_copy(update={"nodes_held": held, "nodes": max(status.nodes, held)})
    own = tier_of(status, tier)
    sight = Sight(own.there, own.up, own.down, own.asked)
    if gang.is_placed:
        return _running(with_sight(status, tier, history.seen_up(sight, now)) if not own.there else status, now)
    if gang.waiting:
        since = _waiting_since(status, gang, now)
        if unwatched and gang.waiting_since is not None:
            # it may have run for hours meanwhile: its pods wait since it last lost one, at the earliest
            since = min(max(since, gang.waiting_since), now)
        if own.there or own.down is None:
            status = with_sight(status, tier, history.seen_down(sight, now))
        return status.model_copy(update={"waiting_since": since, "since": since, "waiting_paused": None})
    if status.waiting_since is not None and status.waiting_paused is None:
        # one that had a place is lost, and none is without: its wait may have been over for hours
        since = now if unwatched and gang.lost else status.waiting_since
        return status.model_copy(update={"waiting_since": since, "waiting_paused": now})
    return status


def _waiting_since(status: TrainingRunStatus, gang: Gang, now: Instant) -> Instant:
    """Since when, less the time in which the clock stood still.

    Not before the job came to the tier, or was resumed on it: pods have the API server's clock, and by ours, which was
    ahead of it, a job that had just been moved had waited out that tier too, and went to and fro; one that had been
    parked gave its nodes back as soon as it had them.
    """
    if status.waiting_since is None:
        return min(max(gang.waiting_since or now, status.arrived or 0, status.since or 0), now)
    paused = status.waiting_paused
    return status.waiting_since if paused is None else min(status.waiting_since + max(now - paused, 0), now)


def waits_since(status: TrainingRunStatus) -> Instant | None:
    """Since when the clock of its tier runs, as it does while some pod finds no node; None while it does not.

    It stands still where those pods that are there have one, and the others are held back by a quota of the namespace.
    """
    return status.waiting_since if status.waiting_paused is None else None


def _running(status: TrainingRunStatus, now: Instant) -> TrainingRunStatus:
    if status.waiting_since is None and status.phase == "Running" and status.since is not None:
        return status
    since = (
        now if status.waiting_since is not None or status.since is None or status.phase != "Running" else status.since
    )
    update = {"waiting_since": None, "waiting_paused": None, "since": since, "waited": ()}
    return status.model_copy(update=update)


def observation(
    status: TrainingRunStatus, gang: Gang, run: Object | None, now: Instant, *, launching: bool = False
) -> Observation:
    """The job and its tiers now.

    `launching`: pods find no node because theirs are still being made, so the tier is not known to be dry.

    A gang that is neither placed nor refused a place (its pods are not made yet, are gated, or were not looked at)
    waits as of now, on a tier that has room as far as is known: no clock runs that could move it.
    """
    assert status.tier is not None  # noqa: S101 - for the type checker
    sights: dict[str, Sight] = {each.pool: sight_of(each) for each in status.tiers}
    own = sights.get(status.tier, Sight())
    waiting = waits_since(status) is not None
    if gang.is_placed and not waiting:
        phase, since = Phase.RUNNING, status.since or now
        sights[status.tier] = own._replace(there=True, up=now)
    elif waiting:
        phase, since = Phase.WAITING, status.waiting_since or now
        sights[status.tier] = own._replace(there=launching, down=own.down if launching else now)
    else:
        phase, since = Phase.WAITING, now
        sights[status.tier] = own._replace(there=True)
    progress = None if run is None else progress_of(run)
    return Observation(status.tier, phase, since, sights, status.nodes_held if waiting else 0, progress)


def moved(status: TrainingRunStatus, policy: Policy, job: Object, move: Move, now: Instant) -> TrainingRunStatus:
    """The record after a change of tier; counts start afresh where the price is another."""
    after = move.to
    state = history.moved(policy, state_of(status, job), before=move.from_, after=after, now=now)
    return status.model_copy(
        update={
            "tier": after,
            "arrived": state.arrived,
            "failures": tuple(RunFailure(at=each.at, pool=each.pool, kind=each.kind) for each in state.failures),
            "waited": state.waited[-MOST_TIERS:],
            "moves": state.moves[-64:],
        }
    )


def saved(status: TrainingRunStatus, policy: Policy, job: Object, seen: Observation, now: Instant) -> TrainingRunStatus:
    """The record after a running attempt has ended: what it is taken to have saved."""
    if seen.phase is not Phase.RUNNING:
        return status
    state = history.interrupted(policy, state_of(status, job), seen, now, None)
    return status.model_copy(update={"done_seconds": state.done})


def outlook(policy: Policy, state: RunState, seen: Observation, now: Instant) -> Outlook | None:
    """How the deadline looks; None for a job that has none, or a policy that keeps none."""
    found = None if policy.mode == "off" else budget(policy, state, seen, now)
    if found is None or state.deadline is None or state.work is None:
        return None
    return Outlook(
        at=state.deadline,
        work_seconds=state.work,
        done_seconds=max(state.work - found.work, 0),
        spare_seconds=found.left - found.work - found.debt,
        progress="assumed" if seen.progress is None else "reported",
    )
