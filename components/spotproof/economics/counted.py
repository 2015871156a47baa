"""One job with a given number of evictions, and what that means for a deadline: no chance in it."""

from math import floor, inf

from spotproof.economics.model import FOR_EVER, Conditions


def usd_with_evictions(conditions: Conditions, evictions: int, useful_share: float) -> float:
    """Cost of a job that did a share of its work on spot and was evicted so often; overhead is charged where it falls.

    With M tolerated, M restarts are paid at the price of spot; eviction M+1 moves the job, and its restart is paid at
    the price of on-demand. What every eviction lost is on average half a cycle.

    Args:
        conditions: The job; its rate is not read.
        evictions: How many there were, at most one more than tolerated.
        useful_share: alpha, the share of the useful work that was done on spot.

    Raises:
        ValueError: more evictions than a stay on spot can have, or work left for on-demand without the one that moves.
    """
    tolerated = conditions.max_failures
    falls = tolerated != FOR_EVER and evictions > tolerated
    if falls and evictions > tolerated + 1:
        raise ValueError(f"{evictions} evictions with max_failures {tolerated}: number {tolerated + 1} ends the stay")
    if not falls and useful_share < 1:
        raise ValueError(f"{evictions} evictions do not move a job with max_failures {tolerated} off spot")
    lost, alone = conditions.cycle.lost, conditions.on_demand_seconds
    on_spot = useful_share * alone + (evictions - falls) * lost
    on_demand = (1 - useful_share) * alone + falls * lost
    hourly = conditions.on_demand_usd * conditions.nodes / 3600
    return hourly * (conditions.spot_share * on_spot + on_demand)


def on_demand_seconds_from_zero(conditions: Conditions) -> float:
    """The least a deadline has to be: the work on on-demand, with its writes and one start."""
    return conditions.on_demand_seconds + conditions.cycle.restart


def seconds_of_an_eviction(conditions: Conditions) -> float:
    """What one eviction delays the job on average: restart, lost work, and the wait, which the timeout ends."""
    return conditions.cycle.lost + min(conditions.outage_seconds, conditions.pending_timeout_seconds)


def max_failures_within(conditions: Conditions) -> int | None:
    """The largest max_failures with which the job is ready in time if evictions and outages are as long as on average.

    None where not even the first eviction fits: such a job belongs on on-demand, or under a guard. It is the best that
    counting can do; a guard looks at the time that is left instead, and lets no deadline be missed by an unlucky hour.

    Raises:
        ValueError: there is no deadline.
    """
    if conditions.deadline_seconds is None:
        raise ValueError("max_failures follows from a deadline, and these conditions have none")
    spare = conditions.deadline_seconds - on_demand_seconds_from_zero(conditions)
    each = seconds_of_an_eviction(conditions)
    if spare < each:
        return None
    return floor(spare / each) - 1


def worst_seconds(conditions: Conditions) -> float:
    """The longest the policy's numbers let the job take without a guard: every eviction just before a save is complete.

    Infinite with max_failures -1, or without a pending timeout.
    """
    cycle, tolerated = conditions.cycle, conditions.max_failures
    if tolerated == FOR_EVER:
        return inf
    stays = (tolerated + 1) * (cycle.restart + cycle.every + cycle.write)
    waits = tolerated * conditions.pending_timeout_seconds if tolerated else 0.0
    return conditions.on_demand_seconds + stays + waits + cycle.restart


def guard_seconds(conditions: Conditions) -> float:
    """Time to keep beside the work that is left, for a guard that knows no more: 2 (r + tau / 2 + w)."""
    cycle = conditions.cycle
    return 2 * (cycle.restart + cycle.every / 2 + cycle.write)
