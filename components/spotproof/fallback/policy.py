"""A fallback policy as the rule reads it: whole seconds, tiers in order, and what follows from them worked out once."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Literal, NamedTuple

from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.prices import equal
from spotproof.vocabulary import SPOT

Mode = Literal["off", "guard", "pace"]

NEVER_MOVES: Final = -1
"""As `max_failures`: no number of failures moves the job."""


class Order(enum.Enum):
    """Which of several equal tiers is taken, or asked, first."""

    LEAST_RECENTLY_FAILED = "least-recently-failed"
    """The one whose last failure is longest ago; where every tier is seen that is the one that is up longest."""
    LISTED = "listed"
    """The user's list, or one sorted by what earlier jobs saw (`Policy.learned`)."""


class Tier(NamedTuple):
    """One tier; `rank` is its place in the list, prices are USD per node hour."""

    pool: str
    spot: bool
    usd: float | None = None
    max_failures: int = NEVER_MOVES
    pending_timeout: int = 3600
    rank: int = 0


@dataclass(frozen=True)
class Policy:
    """What `decide` carries out. Times are whole seconds.

    `probe_every` 0 says that every tier is seen all the time, which recorded markets and price APIs can offer. A probe
    is billed for `probe_seconds` of one node, or with `probe_all` of all nodes of the job.
    `max_moves_per_hour` 0 is no brake, `min_stay` None no return.
    """

    tiers: tuple[Tier, ...]
    count_errors: bool = False
    failure_window: int | None = None
    min_stay: int | None = None
    probe_every: int = 1800
    probe_seconds: int = 600
    probe_all: bool = False
    mode: Mode = "off"
    restart: int = 720
    checkpoint_every: int = 1800
    margin: int = 300
    max_moves_per_hour: int = 6
    order: Order = Order.LEAST_RECENTLY_FAILED

    by_pool: Mapping[str, Tier] = field(init=False, repr=False, compare=False)
    spot: tuple[Tier, ...] = field(init=False, repr=False, compare=False)
    on_demand: Tier | None = field(init=False, repr=False, compare=False)
    """Where the deadline is kept: the first on-demand tier of the list."""
    equals: Mapping[str, tuple[Tier, ...]] = field(init=False, repr=False, compare=False)
    """Pool to the other tiers of its price, in the order of the list."""
    cheaper: Mapping[str, tuple[Tier, ...]] = field(init=False, repr=False, compare=False)
    """Pool to the tiers that `return` may climb to."""
    grades: Mapping[str, int] = field(init=False, repr=False, compare=False)
    """Pool to its place among the prices: 0 for the cheapest spot tiers and those that are equal to them."""
    below: Mapping[str, tuple[Tier, ...]] = field(init=False, repr=False, compare=False)
    """Pool to the spot tiers of a lower grade."""

    def __post_init__(self) -> None:
        """Work out what the rules ask for at every decision."""
        tiers = tuple(tier._replace(rank=rank) for rank, tier in enumerate(self.tiers))
        derived = {
            "tiers": tiers,
            "by_pool": {tier.pool: tier for tier in tiers},
            "spot": tuple(tier for tier in tiers if tier.spot),
            "on_demand": next((tier for tier in tiers if not tier.spot), None),
            "equals": {tier.pool: tuple(x for x in tiers if x is not tier and are_equal(x, tier)) for tier in tiers},
            "cheaper": {tier.pool: tuple(x for x in tiers if is_cheaper(x, tier)) for tier in tiers},
            "grades": (of := grades(tiers)),
            "below": {tier.pool: tuple(x for x in tiers if x.spot and of[x.pool] < of[tier.pool]) for tier in tiers},
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def stake(self, dear: Tier, cheap: Tier) -> float:
        """What part of all that spot can save is at stake between two tiers: 1 between on-demand and the cheapest."""
        if self.on_demand is None or self.on_demand.usd is None or dear.usd is None or cheap.usd is None:
            return int(not dear.spot)
        if not dear.spot and not self.grades[cheap.pool]:
            return 1
        least = min(tier.usd for tier in self.spot if tier.usd is not None)
        return max((dear.usd - cheap.usd) / (self.on_demand.usd - least), 0) if self.on_demand.usd > least else 0

    def learned(self, record: Mapping[str, float]) -> "Policy":
        """The policy with its spot tiers in the order that earlier jobs found them available.

        On recorded markets it saves up to 0.3 points over taking the tier that is up longest; ties, and tiers that no
        job has tried, keep the order of the list.

        Args:
            record: Pool to the share of the time in which it had capacity, from 0 to 1.
        """
        best = iter(sorted(self.spot, key=lambda tier: -record.get(tier.pool, 0)))
        tiers = tuple(next(best) if tier.spot else tier for tier in self.tiers)
        return replace(self, tiers=tiers, order=Order.LISTED)


def are_equal(one: Tier, other: Tier) -> bool:
    """Whether a move between two tiers could save nothing: both reclaimable or neither, prices within 10 %.

    Tiers without a price are equal to each other and to nothing else.
    """
    if one.spot != other.spot or (one.usd is None) != (other.usd is None):
        return False
    return one.usd is None or other.usd is None or equal(one.usd, other.usd)


def is_cheaper(one: Tier, other: Tier) -> bool:
    """Whether the first is worth climbing to from the other; where a price is missing the list's order decides."""
    if one.pool == other.pool or are_equal(one, other):
        return False
    if one.usd is None or other.usd is None:
        return one.rank < other.rank
    return one.usd < other.usd


def grades(tiers: Sequence[Tier]) -> dict[str, int]:
    """Pool to grade: tiers by price, spot before on-demand, a new grade where a tier is not equal to its first."""
    found: dict[str, int] = {}
    first: Tier | None = None
    for tier in sorted(tiers, key=lambda tier: (not tier.spot, tier.usd is None, tier.usd or 0, tier.rank)):
        grade = 0 if first is None else found[first.pool] + (not are_equal(first, tier))
        if first is None or grade > found[first.pool]:
            first = tier
        found[tier.pool] = grade
    return found


def policy_of(resolved: ResolvedPolicy) -> Policy:
    """The policy of a FallbackPolicy object or of the settings it was rendered from."""
    deadline = resolved.deadline
    return Policy(
        tiers=tuple(
            Tier(each.pool, each.capacity == SPOT, each.usd_per_node_hour, each.max_failures, _s(each.pending_timeout))
            for each in resolved.tiers
        ),
        count_errors=resolved.count_errors,
        failure_window=None if resolved.failure_window is None else _s(resolved.failure_window),
        min_stay=None if resolved.return_ is None else _s(resolved.return_.min_stay),
        probe_every=_s(resolved.probe.every),
        probe_all=resolved.probe.nodes == "all",
        mode=deadline.mode,
        restart=_s(deadline.restart),
        checkpoint_every=_s(deadline.checkpoint_every),
        margin=_s(deadline.margin),
        max_moves_per_hour=resolved.max_moves_per_hour,
    )


def _s(duration: timedelta) -> int:
    return int(duration.total_seconds())
