"""The tick model where spot is seen from on-demand only by a probe that is paid for."""

from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.ticks import HOUR, IDLE, ON_DEMAND, SPOT, Policy, Seen


def simulate_probed(policy: Policy, job: Job, gap: int, capacity: str, probe_every: int) -> Outcome:
    """One run in one market, as `ticks.simulate`, with sight from on-demand by probes only.

    A job that waits has a request pending, and one on spot sees its node, so both see the market. From on-demand
    it is probed when the last sight is `probe_every` seconds old, in whole ticks rounded down, and only where
    the policy would act on a success; `job.probe` seconds of a spot node are paid for it, whatever it finds. Ages of
    the market are not kept, so it is for policies that ask for none.

    Args:
        policy: asked once a tick, and once more whether a probe is worth it.
        job: with one spot price.
        gap: seconds of a tick.
        capacity: one digit per tick.
        probe_every: seconds between sights.
    """
    step, now = policy(job, gap), Seen(job.work)
    every = max(probe_every // gap, 1)
    sighted = starts = probes = spot = on_demand = 0
    finish: int | None = None
    for tick, digit in enumerate(capacity):
        up = digit == "1"
        if now.held == SPOT and not up:
            now.held, now.held_ticks, now.debt = IDLE, 0, 0
            now.evictions += 1
        now.tick, now.there = tick, True
        if now.held != ON_DEMAND:
            sighted, now.there = tick, up
        elif tick - sighted >= every and step(now) == SPOT:
            sighted, now.there = tick, up
            probes += 1
        else:
            now.there = False
        answer = step(now)
        if answer != now.held:
            now.held, now.held_ticks = answer, 0
            now.debt = job.changeover if answer else 0
            starts += answer != IDLE
        now.held_ticks += 1
        spot, on_demand = spot + (answer == SPOT), on_demand + (answer == ON_DEMAND)
        paid = min(now.debt, gap)
        now.debt -= paid
        now.left -= (gap - paid) if answer else 0
        if now.left <= 0:
            finish = (tick + 1) * gap
            break
    usd = (on_demand * job.on_demand_usd + spot * job.spot_usd[0]) * job.nodes * gap / HOUR
    usd += probes * job.probe * job.spot_usd[0] / HOUR
    return Outcome(usd, finish, now.evictions, starts, spot=spot * gap, on_demand=on_demand * gap)
