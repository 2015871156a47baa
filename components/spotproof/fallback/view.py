"""What the rules look at: policy, history and observation, with the questions that several rules ask answered once."""

from collections.abc import Iterable
from typing import Final

from spotproof.fallback.budget import Budget, budget
from spotproof.fallback.policy import NEVER_MOVES, Order, Policy, Tier, are_equal, is_cheaper
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.run import (
    ERROR,
    NEVER,
    Action,
    Decision,
    Instant,
    Observation,
    Phase,
    RunState,
    Sight,
)

UNSEEN: Final = Sight()
# looked up once: a member of an enumeration costs ten times a name, and these are asked for at every decision
WAITING: Final = Phase.WAITING
LISTED: Final = Order.LISTED
ANSWER: Final = 300
"""Seconds until a request that got no node is taken for refused: Karpenter gives up a launch after 5 min."""


class View:
    """One decision's facts; made anew for each."""

    __slots__ = ("budget", "now", "policy", "seen", "sights", "state", "tier", "waiting")

    def __init__(self, policy: Policy, state: RunState, seen: Observation, now: Instant) -> None:
        """Look up the tier, and the time budget where there is a deadline to keep."""
        self.policy = policy
        self.state = state
        self.seen = seen
        self.sights = seen.sights
        self.now = now
        self.tier: Tier = policy.by_pool[seen.tier]
        self.waiting = seen.phase is WAITING
        self.budget: Budget | None = None if policy.mode == "off" else budget(policy, state, seen, now)

    @property
    def held(self) -> int:
        """Nodes that are billed while the job waits."""
        return self.seen.nodes_held if self.waiting else 0

    def sight(self, tier: Tier) -> Sight:
        """What is known of a tier; nothing, where it was never looked at."""
        return self.sights.get(tier.pool, UNSEEN)

    def was_dry(self, tier: Tier) -> bool:
        """Whether a tier is known to have had no room; not so of one that nobody looked at."""
        sight = self.sight(tier)
        return sight.down is not None and not sight.there

    def there(self, tiers: Iterable[Tier]) -> list[Tier]:
        """Those whose newest answer was yes."""
        sights = self.sights
        return [tier for tier in tiers if sights.get(tier.pool, UNSEEN).there]

    def fresh(self, tiers: Iterable[Tier]) -> list[Tier]:
        """Those whose yes is one to move on."""
        return [tier for tier in self.there(tiers) if self.is_fresh(tier)]

    def cheapest(self, tiers: Iterable[Tier]) -> Tier:
        """The first of the lowest price; of those without a price the first of the list."""
        tiers = list(tiers)
        least = next((tier for tier in tiers if not any(is_cheaper(other, tier) for other in tiers)), tiers[0])
        return self.first(tier for tier in tiers if tier is least or are_equal(tier, least))

    def first(self, tiers: Iterable[Tier]) -> Tier:
        """The one to take or to ask."""
        return min(tiers, key=self._turn)

    def in_order(self, tiers: Iterable[Tier]) -> list[Tier]:
        """All of them, the one to take first before the others."""
        return sorted(tiers, key=self._turn)

    def _turn(self, tier: Tier) -> tuple[bool, int, Instant, int]:
        """Tiers that failed the job too often last, cheap before dear, then by the policy's order and the list's."""
        spent = bool(self.state.failures) and self.spent(tier)
        failed = 0 if self.policy.order is LISTED else self.failed(tier)
        return spent, self.policy.grades[tier.pool], failed, tier.rank

    def failed(self, tier: Tier) -> Instant:
        """When a tier last had no capacity; one that never failed comes before all others."""
        down = self.sights.get(tier.pool, UNSEEN).down
        return -NEVER if down is None else down

    def failures(self, tier: Tier) -> int:
        """The job's interruptions on a tier that count against its maxFailures."""
        since = -NEVER if self.policy.failure_window is None else self.now - self.policy.failure_window
        errors = self.policy.count_errors
        return sum(
            each.pool == tier.pool and each.at > since and (errors or each.kind != ERROR)
            for each in self.state.failures
        )

    def aged(self) -> Instant:
        """When the next failure gets too old to count; NEVER where none does."""
        window, failures = self.policy.failure_window, self.state.failures
        if window is None or not failures:
            return NEVER
        return min((each.at + window for each in failures if each.at + window > self.now), default=NEVER)

    def spent(self, tier: Tier) -> bool:
        """Whether a tier has failed this job more often than it tolerates."""
        limit = tier.max_failures
        return bool(self.state.failures) and limit != NEVER_MOVES and self.failures(tier) > limit

    def is_fresh(self, tier: Tier) -> bool:
        """Whether a tier's answer is one to move on: seen all the time, or asked just now."""
        sight = self.sight(tier)
        return not self.policy.probe_every or (sight.asked == self.now and not sight.asking)

    def due(self, tier: Tier) -> Instant:
        """When a tier is to be asked again; now, where it never was.

        A job that waits asks without a pause: a request that is refused costs nothing, and one that is not is its node.
        """
        asked = self.sight(tier).asked
        return self.now if asked is None else asked + (ANSWER if self.waiting else self.policy.probe_every)

    def move(self, tier: Tier, reason: Reason) -> Decision:
        """Take the job to a tier."""
        return Decision(Action.MOVE, tier.pool, reason)

    def ask(self, tier: Tier, code: Code = Code.ASKED) -> Decision:
        """Probe a tier."""
        return Decision(Action.ASK, tier.pool, Reason(code, (tier.pool,)))

    def remain(self, reason: Reason, next_at: Instant = NEVER) -> Decision:
        """Leave the job where it is."""
        return Decision(Action.WAIT if self.waiting else Action.STAY, self.tier.pool, reason, next_at)
