"""What is wrong with a job, its policy or the numbers given, before anything is bought: one sentence each.

The checks of the policy pack that need a job, in the order in which they are told. Each is silent where another has
said the same already.
"""

from collections.abc import Callable, Iterator
from math import isinf
from typing import Final, TypeAlias

import numpy as np

from spotproof.economics.break_even import chance_to_save
from spotproof.economics.counted import guard_seconds, on_demand_seconds_from_zero, worst_seconds
from spotproof.economics.facts import Facts
from spotproof.economics.neighbours import SHORTEST_TIMEOUT
from spotproof.economics.plan import HOUR, Plan
from spotproof.economics.recommend import ACCEPTED
from spotproof.economics.text import percent, time
from spotproof.settings.near import one_of

LARGE_WRITE: Final = 0.2
HALF: Final = 0.5
MODEST: Final = 0.4
"""A discount under 40 % is unusual for GPUs, and little is left of it after evictions."""
HARDLY: Final = 0.1
"""Prices within 10 % are one price to the rule."""
OLD_DISCOUNT: Final = 0.88
"""What was once promised: 90 %. GPU spot was at 15 to 35 % of on-demand on AWS, at 18 to 71 % on GCP (A3)."""
BANDS: Final = (0.05, 0.1, 0.15, 0.2)
"""Edges of the AWS Spot Advisor's bands, which are of a month, and of Azure's, which are of an hour."""
FEW: Final = 10
"""Independent stretches of a record below which an interval says little."""

Check: TypeAlias = Callable[[Plan, Facts], Iterator[str]]


def warnings(plan: Plan, facts: Facts) -> tuple[str, ...]:
    """Every warning, in the order of CHECKS."""
    return tuple(text for check in CHECKS for text in check(plan, facts))


def infeasible(plan: Plan, facts: Facts) -> Iterator[str]:
    """The deadline cannot be met at all."""
    task = plan.request.task
    needed = on_demand_seconds_from_zero(facts.conditions)
    if task.deadline is not None and needed > task.deadline:
        yield (
            f"The deadline of {time(task.deadline)} cannot be met: on-demand alone needs {time(needed)} with a start "
            "and the checkpoint writes. Take a later deadline, less work or more nodes."
        )


def misses(plan: Plan, facts: Facts) -> Iterator[str]:
    """The policy as written is late too often, in the simulation."""
    del facts
    written = plan.written
    if written.late is not None and written.late > ACCEPTED and not _impossible(plan):
        yield (
            f"As written the policy misses the deadline in {percent(written.late)} of runs; at most "
            f"{percent(ACCEPTED, 0)} is accepted here."
        )


def worst_case(plan: Plan, facts: Facts) -> Iterator[str]:
    """Without a guard, counts and timeouts alone let the job be late."""
    request, policy = plan.request, plan.request.policy
    deadline = request.task.deadline
    if deadline is None or policy.mode != "off" or not policy.spot or _impossible(plan):
        return
    worst = worst_seconds(facts.conditions)
    if worst > deadline:
        tier = policy.spot[0]
        after = "has no end" if isinf(worst) else f"ends after {time(worst)}"
        yield (
            f"Without a guard maxFailures {tier.max_failures} and pendingTimeout {time(tier.pending_timeout)} allow a "
            f"run that {after}, and the deadline is {time(deadline)}. Write `deadline: guard` or `pace`."
        )


def short_guard(plan: Plan, facts: Facts) -> Iterator[str]:
    """So little time is spare that the guard never lets the job be on spot for long."""
    request = plan.request
    deadline = request.task.deadline
    if deadline is None or request.policy.mode == "off" or not request.policy.spot or _impossible(plan):
        return
    spare = deadline - on_demand_seconds_from_zero(facts.conditions)
    needed = guard_seconds(facts.conditions)
    if spare < needed:
        yield (
            f"The deadline leaves {time(spare)} beside the work on on-demand, and to be evicted and restarted twice "
            f"takes {time(needed)}: the guard will keep the job on on-demand nearly all the time."
        )


def loses(plan: Plan, facts: Facts) -> Iterator[str]:
    """Spot costs more than it saves."""
    if plan.request.policy.spot and facts.cost_of_work >= 1:
        yield (
            f"Spot loses money: at {facts.evictions_per_hour:.2g} evictions an hour an hour of work takes "
            f"{facts.cycle.slowdown(facts.evictions_per_hour):.2f} h there at {percent(facts.spot_share, 0)} of the "
            f"on-demand price, where on-demand needs {facts.cycle.overhead:.2f} h. It pays from "
            f"{time(facts.break_even_hours * HOUR)} between two evictions on."
        )


def no_progress(plan: Plan, facts: Facts) -> Iterator[str]:
    """Most attempts save nothing, or most of the time goes to restarts."""
    cycle, hourly = facts.cycle, facts.evictions_per_hour
    to_the_first, lost = cycle.restart + cycle.every + cycle.write, hourly * cycle.lost / HOUR
    if not plan.request.policy.spot or not hourly:
        return
    if hourly * to_the_first > HOUR:
        yield (
            f"Only {percent(chance_to_save(hourly, cycle), 0)} of the attempts on spot save anything: a restart and "
            f"the time to a checkpoint take {time(to_the_first)}, and an eviction comes every {time(HOUR / hourly)}. "
            "Write checkpoints more often."
        )
    elif lost > HALF:
        yield (
            f"{percent(lost, 0)} of the time on spot goes to restarts and lost work: an eviction costs "
            f"{time(cycle.lost)} and comes every {time(HOUR / hourly)}. Write checkpoints more often."
        )


def large_write(plan: Plan, facts: Facts) -> Iterator[str]:
    """Checkpoints take more than a fifth of the time between them."""
    del plan
    cycle = facts.cycle
    if cycle.write > LARGE_WRITE * cycle.every:
        yield (
            f"A checkpoint takes {time(cycle.write)} and is written every {time(cycle.every)}, so every tier pays "
            f"{percent(cycle.overhead - 1, 0)} more for an hour of work. Save in the background, or less often."
        )


def other_restart(plan: Plan, facts: Facts) -> Iterator[str]:
    """The policy counts on a shorter restart, or less lost work, than the job has."""
    del facts
    policy, task = plan.request.policy, plan.request.task
    every = task.checkpoint_every
    pairs = (
        ("restart", policy.restart, task.restart),
        ("checkpointEvery", policy.checkpoint_every, every),
    )
    for name, written, mine in pairs:
        if written < mine:
            yield (
                f"The policy's deadline.{name} is {time(written)} and the job's {time(mine)}: the guard would act "
                f"too late. Write `{name}: {time(mine)}`."
            )


def for_ever(plan: Plan, facts: Facts) -> Iterator[str]:
    """No tier is on-demand."""
    del facts
    if plan.request.policy.on_demand is None:
        yield "No tier of the policy is on-demand: a job waits for ever where spot runs dry, and no deadline is kept."


def short_timeout(plan: Plan, facts: Facts) -> Iterator[str]:
    """A pendingTimeout that fires on a healthy launch."""
    del facts
    for tier in plan.request.policy.spot:
        if tier.pending_timeout < SHORTEST_TIMEOUT:
            yield (
                f"pendingTimeout of {tier.pool} is {time(tier.pending_timeout)}, and a healthy launch may take "
                f"{time(SHORTEST_TIMEOUT)}: jobs would leave spot that has room for them."
            )


def gang_and_limits(plan: Plan, facts: Facts) -> Iterator[str]:
    """More nodes than a pool may have."""
    del facts
    request, nodes = plan.request, plan.request.task.nodes
    small = [tier.pool for tier in request.policy.tiers if request.limits.get(tier.pool, nodes) < nodes]
    if small:
        yield (
            f"The job has {nodes} nodes, more than maxNodes of {_and(small)}: it would wait there for ever, holding "
            "what it got. Raise maxNodes, or plan fewer nodes."
        )


def never_there(plan: Plan, facts: Facts) -> Iterator[str]:
    """A market without spot."""
    del facts
    if plan.request.policy.spot and not any(plan.request.source.availability):
        yield "Spot is never there in this market, so every policy is compared by how soon it gives up waiting."


def prices(plan: Plan, facts: Facts) -> Iterator[str]:
    """Prices that nobody has seen, and discounts that are hard to believe or hardly there."""
    request = plan.request
    guessed = [tier.pool for tier in (*request.policy.spot, request.on_demand) if tier.pool in request.assumed]
    if guessed:
        yield (
            f"The price of {_and(guessed)} is assumed, so every saving here is too. Look it up and write it into the "
            "prices file."
        )
    for tier, usd in zip(request.policy.spot, request.spot_usd, strict=True):
        discount = 1 - usd / request.on_demand_usd
        cheaper = f"{tier.pool} is {percent(discount, 0)} cheaper than on-demand"
        if discount < HARDLY:
            yield f"{cheaper}: evictions are paid for, and nothing is saved."
        elif discount < MODEST:
            yield f"{cheaper}, which is little for spot, and evictions take a part of it. Check its price."
        elif discount >= OLD_DISCOUNT:
            yield f"{cheaper}, where GPU spot is usually 60 to 80 % cheaper. Check its price."
    del facts


def units(plan: Plan, facts: Facts) -> Iterator[str]:
    """An hourly rate that is the edge of a band of the clouds' tables."""
    del plan
    hourly = facts.evictions_per_hour
    if facts.is_given and any(abs(hourly - edge) < 1e-9 for edge in BANDS):  # noqa: PLR2004 - of a float
        yield (
            f"{hourly:g}/h looks like the edge of a band in a cloud's table. Bands of the AWS Spot Advisor are of a "
            f"whole month ({percent(hourly, 0)} a month is {hourly / 720:.1g}/h), those of Azure of an hour; single "
            "GPU nodes on AWS were evicted 0.3 to 0.6 times an hour."
        )


def few_records(plan: Plan, facts: Facts) -> Iterator[str]:
    """So little was recorded that other weeks may look different."""
    count = len(np.unique(plan.written.measured.units))
    if not facts.is_given and count < FEW:
        yield (
            f"The traces hold {'one stretch' if count == 1 else f'{count} stretches'} that do not overlap, so the "
            "intervals say little about other weeks."
        )


def _impossible(plan: Plan) -> bool:
    task = plan.request.task
    return task.deadline is not None and task.restart + task.running > task.deadline


def _and(names: list[str]) -> str:
    return one_of(dict.fromkeys(names)).replace(" or ", " and ")


CHECKS: Final[tuple[Check, ...]] = (
    infeasible, misses, worst_case, short_guard, loses, no_progress, large_write, other_restart, for_ever,
    short_timeout, gang_and_limits, never_there, prices, units, few_records,
)  # fmt: skip
"""A check that is not here does not exist."""
