"""The tick model that published figures use: one answer for a whole tick, billed as a whole.

In this order: the market of the tick is seen, a spot node without capacity in it is lost, the policy is asked, and its
answer is billed. A start sets a debt of one changeover, which the tick pays off before the rest of it is progress.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from spotproof.economics.outcome import Job, Outcome

IDLE: Final = 0
SPOT: Final = 1
ON_DEMAND: Final = 2
HOUR: Final = 3600

Order: TypeAlias = Literal["list", "longest-up"]
"""Which of several spot tiers is started: the first that is up, or the longest up, ties by the list."""


@dataclass(slots=True)
class Seen:
    """What a policy sees in one tick. One of these lives through a run: an object a tick would cost more than the rest.

    `left` and `debt` are seconds of work and of changeover still owed. `held` is what is still held, for `held_ticks`
    ticks. `there` says whether SPOT may be answered. `up_ticks` is for how many ticks before this one the tier that
    would be started has been up, `down_ticks` for how many all tiers have been down; both count from the run's start.
    """

    left: int
    tick: int = 0
    debt: int = 0
    held: int = IDLE
    held_ticks: int = 0
    there: bool = False
    up_ticks: int = 0
    down_ticks: int = 0
    evictions: int = 0


Step: TypeAlias = Callable[[Seen], int]
"""What a policy answers in one tick: IDLE, ON_DEMAND, or SPOT, which it may say only where spot is there."""

Policy: TypeAlias = Callable[[Job, int], Step]
"""A policy, given a job and the seconds of a tick: what depends on these alone is worked out once a run."""


def simulate(policy: Policy, job: Job, gap: int, capacities: Sequence[str], order: Order = "list") -> Outcome:
    """One run from the first tick of a market, to its end or to the end of the record.

    Args:
        policy: asked once a tick; every spot tier looks the same to it.
        job: with one spot price a tier.
        gap: seconds of a tick.
        capacities: one digit per tick and tier; a job stays in its tier until it is lost there.
        order: which of several tiers is started.
    """
    step, now = policy(job, gap), Seen(job.work)
    tier = -1
    starts = 0
    ticks = [0] * len(job.spot_usd)
    on_demand = 0
    finish: int | None = None
    for tick, (best, up, down) in enumerate(_markets(capacities, order)):
        if tier >= 0 and capacities[tier][tick] == "0":
            tier, now.held, now.held_ticks, now.debt = -1, IDLE, 0, 0
            now.evictions += 1
        now.tick, now.up_ticks, now.down_ticks, now.there = tick, up, down, tier >= 0 or best >= 0
        answer = step(now)
        if answer != now.held:
            now.held, now.held_ticks = answer, 0
            now.debt = job.changeover if answer else 0
            tier = best if answer == SPOT else -1
            starts += answer != IDLE
        now.held_ticks += 1
        if answer == IDLE:
            continue
        if answer == SPOT:
            ticks[tier] += 1
        else:
            on_demand += 1
        if now.debt >= gap:
            now.debt -= gap
            continue
        now.left -= gap - now.debt
        now.debt = 0
        if now.left <= 0:
            finish = (tick + 1) * gap
            break
    usd = on_demand * job.on_demand_usd + sum(n * price for n, price in zip(ticks, job.spot_usd, strict=True))
    usd *= job.nodes * gap / HOUR
    return Outcome(usd, finish, now.evictions, starts, spot=sum(ticks) * gap, on_demand=on_demand * gap)


def _markets(capacities: Sequence[str], order: Order) -> Iterator[tuple[int, int, int]]:
    """Per tick: the tier to start or -1, for how many ticks before it has been up, and for how many all were down."""
    return _one(capacities[0]) if len(capacities) == 1 else _several(capacities, longest=order == "longest-up")


def _one(capacity: str) -> Iterator[tuple[int, int, int]]:
    up = down = 0
    for digit in capacity:
        if digit == "1":
            yield 0, up, 0
            up, down = up + 1, 0
        else:
            yield -1, 0, down
            up, down = 0, down + 1


def _several(capacities: Sequence[str], *, longest: bool) -> Iterator[tuple[int, int, int]]:
    ages, down = [0] * len(capacities), 0
    for column in zip(*capacities, strict=False):  # windows of one time may differ in length
        best = -1
        for tier, digit in enumerate(column):
            if digit == "1" and (best < 0 or (longest and ages[tier] > ages[best])):
                best = tier
        yield best, ages[best] if best >= 0 else 0, down
        down = down + 1 if best < 0 else 0
        for tier, digit in enumerate(column):
            ages[tier] = ages[tier] + 1 if digit == "1" else 0
