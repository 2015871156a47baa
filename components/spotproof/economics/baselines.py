"""Policies that ours is compared with, as published or as plainly as they can be said.

Sources: Wu et al., Can't Be Late (NSDI 2024), for greedy, time-sliced and Uniform Progress with their safety net, which
compares whole ticks; the other policies of this file are variants of these and of the rule that falls back once.
"""

from collections.abc import Mapping
from typing import Final

from spotproof.economics.outcome import Job
from spotproof.economics.ticks import HOUR, IDLE, ON_DEMAND, SPOT, Policy, Seen, Step


def on_demand(_job: Job, _gap: int) -> Step:
    """On-demand from the first tick."""
    return lambda _now: ON_DEMAND


def spot_only(_job: Job, _gap: int) -> Step:
    """Spot when it is there, else wait, whatever the deadline."""
    return lambda now: SPOT if now.there else IDLE


def with_safety_net(base: Policy, changeovers: int = 2) -> Policy:
    """A policy that is overruled where a deadline comes near, as the published ones are.

    Rounded up to whole ticks, work and `changeovers` changeovers against the whole ticks left: where they do not fit
    with one to spare, a job without a spot node takes on-demand. With one changeover, it keeps a spot node only if that
    one's changeover is paid.
    """

    def policy(job: Job, gap: int) -> Step:
        ask, ticks = base(job, gap), job.deadline // gap
        early, late = changeovers * job.changeover, job.changeover

        def step(now: Seen) -> int:
            room = (ticks - now.tick - 1) * gap
            if now.left + late > room:
                return SPOT if now.held == SPOT and not now.debt else ON_DEMAND
            if now.left + early > room and now.held != SPOT:
                return ON_DEMAND
            return ask(now)

        return step

    return policy


def with_exact_guard(base: Policy) -> Policy:
    """A policy whose answer is on-demand unless on-demand can still finish in time after the tick it wants to spend.

    By itself it is worth 0.03 points to Uniform Progress over the rounded safety net.
    """

    def policy(job: Job, gap: int) -> Step:
        ask, ticks, changeover = base(job, gap), job.deadline // gap, job.changeover

        def step(now: Seen) -> int:
            answer = ask(now)
            if answer == ON_DEMAND:
                return answer
            left = now.left
            if answer == SPOT:
                left -= max(gap - (now.debt if now.held == SPOT else changeover), 0)
                if left <= 0:
                    return answer
            return answer if left + changeover <= (ticks - now.tick - 1) * gap else ON_DEMAND

        return step

    return policy


def sticky(max_failures: int = 5, pending_timeout: int | None = 2 * HOUR, *, guard: bool = True) -> Policy:
    """Spot when it is there, else wait; on-demand to the end once too much has happened.

    Args:
        max_failures: evictions that are tolerated; one more falls back, -1 never does.
        pending_timeout: seconds of an outage after which it falls back; None waits for ever.
        guard: whether the safety net falls back too.
    """

    def policy(_job: Job, gap: int) -> Step:
        def step(now: Seen) -> int:
            if now.held == ON_DEMAND or now.evictions > max_failures >= 0:
                return ON_DEMAND
            if now.there:
                return SPOT
            waited = pending_timeout is not None and now.down_ticks * gap >= pending_timeout
            return ON_DEMAND if waited else IDLE

        return step

    return with_safety_net(policy) if guard else policy


def reversible(
    pending_timeout: int = HOUR, min_stay: int = 2 * HOUR, stable: int = HOUR // 2, *, guard: bool = True
) -> Policy:
    """As sticky without a count, but it returns: after `min_stay` on on-demand, when spot has been up for `stable`.

    Published by its effect only; under the exact guard it comes within 0.3 points of the published savings.
    """

    def policy(_job: Job, gap: int) -> Step:
        def step(now: Seen) -> int:
            if now.held == ON_DEMAND:
                back = now.there and now.held_ticks * gap >= min_stay and now.up_ticks * gap >= stable
                return SPOT if back else ON_DEMAND
            if now.there:
                return SPOT
            return ON_DEMAND if now.down_ticks * gap >= pending_timeout else IDLE

        return step

    return with_exact_guard(policy) if guard else policy


def _uniform_progress(job: Job, gap: int) -> Step:
    work, deadline, ahead = job.work, job.deadline, 2 * job.changeover

    def step(now: Seen) -> int:
        if now.held == ON_DEMAND:
            due = (now.tick * gap + ahead) * work
            return SPOT if now.there and (work - now.left) * deadline > due else ON_DEMAND
        if now.there:
            return SPOT
        return ON_DEMAND if (work - now.left) * deadline < now.tick * gap * work else IDLE

    return step


def _up_plus(job: Job, gap: int) -> Step:
    """Uniform Progress with two changes: it waits longer, and leaves on-demand by what it has seen of spot."""
    twice, slack_at_start = 2 * job.changeover, job.deadline - job.work

    def step(now: Seen) -> int:
        time = job.deadline - now.tick * gap
        slack = time - now.left
        if now.held == ON_DEMAND:
            return SPOT if now.there and now.up_ticks * gap >= twice and slack >= twice else ON_DEMAND
        if now.there:
            return SPOT
        return IDLE if 4 * slack * job.deadline >= 3 * slack_at_start * time else ON_DEMAND

    return step


def time_sliced(slices: int) -> Policy:
    """Greedy in each of so many equal parts of the time, each with an equal part of the work to be done by its end."""

    def policy(job: Job, gap: int) -> Step:
        def step(now: Seen) -> int:
            time = now.tick * gap
            number = min(time * slices // job.deadline + 1, slices)
            due = -(-job.work * number // slices) - (job.work - now.left)
            room = number * job.deadline // slices // gap * gap - time - gap
            if due + job.changeover > room and due > 0:
                return SPOT if now.held == SPOT and not now.debt else ON_DEMAND
            if due + 2 * job.changeover > room and now.held != SPOT and due > 0:
                return ON_DEMAND
            return SPOT if now.there else IDLE

        return step

    return with_safety_net(policy)


greedy: Final = with_safety_net(spot_only)
uniform_progress: Final = with_safety_net(_uniform_progress)
up_plus: Final = with_exact_guard(_up_plus)

BASELINES: Final[Mapping[str, Policy]] = {
    "on-demand": on_demand,
    "spot-only": spot_only,
    "greedy": greedy,
    "sticky": sticky(),
    "reversible": reversible(),
    "time-sliced": time_sliced(4),
    "uniform-progress": uniform_progress,
    "up-plus": up_plus,
}
"""Policies by the names that `spotproof simulate --policy` takes; those without foresight and not ours."""
