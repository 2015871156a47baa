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
    """The user's list, or one sorted by what earlier jobs saw (`Policy.ranked`)."""


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

    `probe_every` 0 says that every tier is seen all the time, which recorded markets and price APIs can offer.
    `max_moves_per_hour` 0 is no brake, `min_stay` None no return. `in_turn` is for a job that has one request and no
    probes: what it waits for is asked in turn.
    """

    tiers: tuple[Tier, ...]
    count_errors: bool = False
    failure_window: int | None = None
    min_stay: int | None = None
    probe_every: int = 1800
    mode: Mode = "off"
    restart: int = 720
    checkpoint_every: int = 1800
    margin: int = 300
    max_moves_per_hour: int = 6
    order: Order = Order.LEAST_RECENTLY_FAILED
    in_turn: bool = False

    by_pool: Mapping[str, Tier] = field(init=False, repr=False, compare=False)
    spot: tuple[Tier, ...] = field(init=False, repr=False, compare=False)
    on_demand: Tier | None = field(init=False, repr=False, compare=False)
    """Where the deadline is kept: the first on-demand tier of the list."""
    equals: Mapping[str, tuple[Tier, ...]] = field(init=False, repr=False, compare=False)
    """Pool to the other tiers of its price, in the order of the list."""
    cheaper: Mapping[str, tuple[Tier, ...]] = field(init=False, repr=False, compare=False)
    """Pool to the tiers that `return` may climb to."""

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
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def ranked(self, pools: Sequence[str]) -> "Policy":
        """The policy with tiers in another order, as the one in which earlier jobs saw them available."""
        place = {pool: index for index, pool in enumerate(pools)}
        tiers = sorted(self.tiers, key=lambda tier: (not tier.spot, place.get(tier.pool, len(place))))
        return replace(self, tiers=tuple(tiers))


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
        mode=deadline.mode,
        restart=_s(deadline.restart),
        checkpoint_every=_s(deadline.checkpoint_every),
        margin=_s(deadline.margin),
        max_moves_per_hour=resolved.max_moves_per_hour,
    )


def _s(duration: timedelta) -> int:
    return int(duration.total_seconds())
