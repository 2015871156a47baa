"""What the fallback rule would do after a rehearsal without the controller: the `decide` it runs, on what was seen.

The rule is asked as if the market stayed as the rehearsal left it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from spotproof.fallback import (
    NEVER,
    Action,
    Observation,
    Phase,
    Policy,
    Sight,
    decide,
    policy_of,
    sentence,
)
from spotproof.fallback.history import created, interrupted, moved, seen_down, seen_up
from spotproof.fallback.policy import NEVER_MOVES
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.settings.base import render_duration

HORIZON_SECONDS: Final = 7 * 24 * 3600
MOST_STEPS: Final = 1000


class Seen(NamedTuple):
    """What a rehearsal showed of a job: seconds at which it was interrupted, and since when it waits (None: it runs).

    `dry` says whether spot is to be had no more, `nodes` are those of the gang, `held` those it holds while it waits.
    """

    interruptions: Sequence[int]
    waiting_since: int | None
    now: int
    dry: bool
    nodes: int = 1
    held: int = 0


class Step(NamedTuple):
    """A move that the rule would make: how long after the wait began, where to, and the rule's own words.

    `asked` are the tiers that were asked in vain before it.
    """

    after_seconds: int
    to: str
    reason: str
    asked: tuple[str, ...] = ()


def forecast(resolved: ResolvedPolicy, seen: Seen) -> list[Step]:
    """Every move the rule would make from here on, until the job has a place; none where it would stay as it is."""
    policy = policy_of(resolved)
    return list(_steps(policy, seen))


def tolerance(resolved: ResolvedPolicy, interruptions: int) -> str:
    """What the first tier tolerates, and what of it is used up."""
    tier = resolved.tiers[0]
    used = f"{interruptions} {'has' if interruptions == 1 else 'have'} been counted"
    if tier.max_failures == NEVER_MOVES:
        return f"maxFailures of {tier.pool} is -1: no number of interruptions moves the job; {used}"
    return (
        f"maxFailures of {tier.pool} is {tier.max_failures}: {used}, and interruption {tier.max_failures + 1} would "
        f"move the job; so would a wait of {render_duration(tier.pending_timeout)}"
    )


def _steps(policy: Policy, seen: Seen) -> Iterator[Step]:
    here = policy.tiers[0].pool
    state = created(0, nodes=seen.nodes)
    for at in seen.interruptions:
        running = Observation(here, Phase.RUNNING, 0, {})
        state = interrupted(policy, state, running, at)
    now = seen.now
    waits = seen.waiting_since is not None
    since = now if seen.waiting_since is None else seen.waiting_since
    began = since
    sights: dict[str, Sight] = {}
    asked: list[str] = []
    if waits:
        sights[here] = seen_down(Sight(), since)
    for _ in range(MOST_STEPS):
        phase = Phase.WAITING if waits else Phase.RUNNING
        held = seen.held if waits else seen.nodes
        answer = decide(policy, state, Observation(here, phase, since, sights, nodes_held=held), now)
        match answer.action:
            case Action.ASK:
                sights[answer.tier] = _asked(policy, sights, answer.tier, now, dry=seen.dry)
                asked.append(answer.tier)
            case Action.MOVE:
                yield Step(now - began, answer.tier, sentence(answer.reason), tuple(dict.fromkeys(asked)))
                state = moved(policy, state, before=here, after=answer.tier, now=now)
                here, since, waits = answer.tier, now, True
                if not policy.by_pool[here].spot or not seen.dry:
                    return
                sights[here] = seen_down(sights.get(here, Sight()), now)
            case Action.STAY | Action.WAIT:
                if not waits or answer.next_at >= min(NEVER, began + HORIZON_SECONDS):
                    return
                now = max(answer.next_at, now + 1)


def _asked(policy: Policy, sights: Mapping[str, Sight], tier: str, now: int, *, dry: bool) -> Sight:
    before = sights.get(tier, Sight())
    there = not (dry and policy.by_pool[tier].spot)
    return seen_up(before, now, asked=True) if there else seen_down(before, now, asked=True)


def after(step: Step) -> str:
    """How long after the wait began, as settings write it."""
    return render_duration(timedelta(seconds=step.after_seconds))
