"""One job under its policy on one market: the loop the controller runs in a cluster, with time that is only counted.

The same `decide`, the same history: what is measured here is what runs there. Between two decisions the simulator skips
to the first instant at which the answer could change: `next_at`, or a change of the market that the job can see.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from spotproof.economics.market import Market
from spotproof.economics.outcome import Attempt, Job, Outcome
from spotproof.fallback.decide import decide
from spotproof.fallback.history import created, interrupted, moved, seen_down, seen_up, started
from spotproof.fallback.policy import Policy, Tier
from spotproof.fallback.run import EVICTION, Action, Decision, Instant, Observation, Phase, Sight

WAITING: Final = Phase.WAITING
RUNNING: Final = Phase.RUNNING
LOST: Final = 1 << 60


class Simulation:
    """One run. `tick` is how long an answer binds and what is billed whole, in seconds: 1 is continuous time."""

    __slots__ = (
        "_places", "_spells", "asked", "attempts", "decisions", "done", "evictions", "held", "holds", "job", "market",
        "now", "phase", "policy", "sights", "since", "skips", "state", "tick", "tier",
    )  # fmt: skip

    def __init__(self, policy: Policy, job: Job, market: Market, *, tick: int, skips: bool = True) -> None:
        """Set out with a job that has just been made and waits for the first tier of its policy."""
        if (policy.probe_seconds, policy.probe_all) != (job.probe, False):
            # the rule knows what its probes cost
            policy = replace(policy, probe_seconds=job.probe, probe_all=False)
        self.policy, self.job, self.market, self.tick, self.skips = policy, job, market, tick, skips
        self.now: Instant = 0
        self.tier: Tier = policy.tiers[0]
        self.phase, self.since = WAITING, 0
        self.state = created(0, work=job.work, deadline=job.deadline, nodes=job.nodes)
        # recorded markets have on-demand all the time
        self.sights = {tier.pool: Sight(there=True, up=0) for tier in policy.tiers if not tier.spot}
        self._places = {tier.pool: index for index, tier in enumerate(policy.spot)}
        self._spells = [0] * len(policy.spot)
        self.done, self.evictions, self.decisions = 0, 0, 0
        self.attempts: list[Attempt] = []
        self.held: list[Attempt] = []
        self.asked: list[Attempt] = []
        self.holds = False

    def run(self) -> Outcome:
        """Go to the end of the job or of the market's record."""
        while self.now < self.market.end:
            self._look()
            decision = self._decide()
            if self._pass(self._next(decision)):
                return self._outcome(self.now)
        return self._outcome(None)

    def _outcome(self, finish: Instant | None) -> Outcome:
        self._note()
        return outcome(self, finish)

    def _note(self) -> None:
        """Write down the attempt, or the nodes that were held for one, that ends now."""
        if self.phase is RUNNING:
            self.attempts.append(Attempt(self.tier.pool, self.since, self.now))
        elif self.holds:
            self.held.append(Attempt(self.tier.pool, self.since, self.now))
            self.holds = False

    def _look(self) -> None:
        """See the market as the job can: all of it, or without a probe only the tier that the job is on."""
        for tier in self.policy.spot if not self.policy.probe_every else (self.tier,):
            if tier.spot:
                self._see(tier)
        if self.phase is RUNNING and self.tier.spot and not self.sights[self.tier.pool].there:
            self._evict()

    def _see(self, tier: Tier, *, asked: bool = False) -> bool:
        """Note whether a tier has capacity in this tick."""
        pool, now = tier.pool, self.now
        if not tier.spot:
            self.sights[pool] = seen_up(self.sights[pool], now, asked=asked)
            return True
        place = self._places[pool]
        tape, spell = self.market.tapes[place], self._spells[place]
        while spell < len(tape.changes) and tape.changes[spell] <= now:
            spell += 1
        self._spells[place] = spell
        there = tape.first ^ bool(spell % 2)
        before = self.sights.get(pool, Sight())
        if self.policy.probe_every:
            self.sights[pool] = seen_up(before, now, asked=asked) if there else seen_down(before, now, asked=asked)
        else:
            since = self._grid(tape.changes[spell - 1]) if spell else 0
            self.sights[pool] = Sight(there, now, since) if there else Sight(there, since, now)
        return there

    def _grid(self, at: Instant) -> Instant:
        """The first instant from this one on at which something can be seen or done."""
        return -(-at // self.tick) * self.tick

    def _evict(self) -> None:
        self.evictions += 1
        self._end_attempt(charged=True)
        self.phase, self.since, self.holds = WAITING, self.now, self.job.held > 0

    def _end_attempt(self, *, charged: bool) -> None:
        self._note()
        trained = max(self.now - self.since - self.job.changeover, 0)
        cycle = self.job.checkpoint_every
        self.done += trained - trained % cycle if cycle else trained
        kind = EVICTION if charged else None
        self.state = interrupted(self.policy, self.state, self._seen(), self.now, kind)

    def _decide(self) -> Decision:
        while True:
            decision = decide(self.policy, self.state, self._seen(), self.now)
            self.decisions += 1
            if decision.action is not Action.ASK:
                break
            if self.phase is RUNNING:
                self.asked.append(Attempt(decision.tier, self.now, self.now + self.job.probe))
            self._see(self.policy.by_pool[decision.tier], asked=True)
        if decision.action is Action.MOVE and decision.tier != self.tier.pool:
            self._move(self.policy.by_pool[decision.tier])
        if self.phase is WAITING and self._placed():
            self._note()
            self.phase, self.since = RUNNING, self.now
            self.state = started(self.state)
        return decision

    def _placed(self) -> bool:
        return not self.tier.spot or self.sights[self.tier.pool].there

    def _seen(self) -> Observation:
        held = self.job.held if self.holds else 0
        return Observation(self.tier.pool, self.phase, self.since, self.sights, held, tick=self.tick)

    def _move(self, tier: Tier) -> None:
        if self.phase is RUNNING:
            self._end_attempt(charged=False)
        else:
            self._note()
        self.state = moved(self.policy, self.state, before=self.tier.pool, after=tier.pool, now=self.now)
        self.tier, self.phase, self.since = tier, WAITING, self.now
        if tier.spot and self.policy.probe_every:
            self._see(tier)

    def _next(self, decision: Decision) -> Instant:
        """The next instant at which the job must be looked at again."""
        soonest = self.now + self.tick
        if not self.skips or self.since == self.now:
            return soonest
        change = min(self._change(tier) for tier in self._watched()) if self.policy.spot else LOST
        return max(self._grid(min(decision.next_at, change, self.market.end)), soonest)

    def _watched(self) -> tuple[Tier, ...]:
        policy, tier = self.policy, self.tier
        dearer = policy.cheaper[tier.pool] or policy.below[tier.pool]
        alone = policy.probe_every or (self.phase is RUNNING and tier.spot and not dearer)
        return (tier,) if alone else policy.spot

    def _change(self, tier: Tier) -> Instant:
        if not tier.spot:
            return LOST
        place = self._places[tier.pool]
        changes, spell = self.market.tapes[place].changes, self._spells[place]
        return changes[spell] if spell < len(changes) else LOST

    def _pass(self, until: Instant) -> bool:
        """Let time go by until the next look, or until the job is done; say whether it is."""
        if self.phase is WAITING:
            self.now = until
            return False
        done_at = self._grid(self.since + self.job.changeover + self.job.work - self.done)
        self.now = min(until, max(done_at, self.now + self.tick))
        return self.now >= done_at


def outcome(run: Simulation, finish: Instant | None) -> Outcome:
    """What the attempts, the nodes held and the probes of a run cost."""
    job, market = run.job, run.market
    places = {tier.pool: index for index, tier in enumerate(run.policy.spot)}

    def usd(spans: Iterable[Attempt]) -> float:
        """Of one node, over some spans of time."""
        seconds, floating = dict.fromkeys(run.policy.by_pool, 0), 0.0
        for pool, start, end in spans:
            if market.prices and pool in places:
                floating += market.prices[places[pool]].paid(start, end, market.bill)
            else:
                seconds[pool] += end - start
        # one multiplication a tier, so that it does not matter into how many spans a run was cut
        return floating + sum(each * price(pool) for pool, each in seconds.items()) / 3600

    def price(pool: str) -> float:
        return job.spot_usd[places[pool]] if pool in places else job.on_demand_usd

    spot = sum(end - start for pool, start, end in run.attempts if pool in places)
    on_demand = sum(end - start for pool, start, end in run.attempts if pool not in places)
    paid = usd(run.attempts) * job.nodes + usd(run.held) * job.held + usd(run.asked)
    return Outcome(paid, finish, run.evictions, len(run.attempts), spot, on_demand)


def simulate(policy: Policy, job: Job, market: Market, *, tick: int) -> Outcome:
    """What becomes of one job.

    Args:
        policy: The policy; its spot tiers are those of the market, in this order.
        job: What is to be done, and the prices.
        market: When each spot tier has capacity.
        tick: Seconds for which every answer binds and that are billed whole; 1 is continuous time.
    """
    return Simulation(policy, job, market, tick=tick).run()
