"""A FallbackPolicy as the world reads it, to hold moves to: what its spec says and nothing that is worked out of it."""

from typing import Any, NamedTuple

from spotproof.settings.base import parse_duration
from spotproof.vocabulary import SPOT

EQUAL: float = 1.1
"""Prices so far apart, the dearer to the cheaper, are one price (docs: within 10 %)."""
MOST_MOVES: int = 6
"""What maxMovesPerHour is where a policy does not say it."""


class RuledTier(NamedTuple):
    """A tier of a policy; `rank` is its place in the list, `timeout` its pendingTimeout in seconds."""

    pool: str
    rank: int
    spot: bool
    usd: float
    max_failures: int
    timeout: float

    def equals(self, other: "RuledTier") -> bool:
        """Whether the two cost the same."""
        low, high = sorted((self.usd, other.usd))
        return self.spot == other.spot and high <= EQUAL * low


class Rules(NamedTuple):
    """A policy; times are seconds, `window` and `min_stay` None where it has none."""

    tiers: dict[str, RuledTier]
    count_errors: bool
    window: float | None
    min_stay: float | None
    most_moves: int
    deadline: str
    restart: float
    checkpoint: float
    margin: float

    @property
    def last(self) -> RuledTier:
        """The last tier."""
        return list(self.tiers.values())[-1]

    @property
    def first(self) -> RuledTier:
        """The first tier."""
        return next(iter(self.tiers.values()))

    def is_next(self, here: RuledTier, after: RuledTier) -> bool:
        """Whether a job that leaves a tier may come to the other: an equal one, or the next of another price."""
        if here.equals(after):
            return True
        later = [each for each in self.tiers.values() if each.rank > here.rank and not each.equals(here)]
        return bool(later) and later[0] == after

    def has_next(self, here: RuledTier) -> bool:
        """Whether a tier of another price comes after it."""
        return any(each.rank > here.rank and not each.equals(here) for each in self.tiers.values())


def rules(spec: dict[str, Any]) -> Rules:
    """What a FallbackPolicy's spec says."""
    tiers = [
        RuledTier(
            pool=each["pool"],
            rank=rank,
            spot=each["capacity"] == SPOT,
            usd=each["usdPerNodeHour"],
            max_failures=each["maxFailures"],
            timeout=_seconds(each["pendingTimeout"]),
        )
        for rank, each in enumerate(spec["tiers"])
    ]
    deadline = spec.get("deadline", {})
    return Rules(
        tiers={each.pool: each for each in tiers},
        count_errors=spec.get("countErrors", False),
        window=_seconds(spec["failureWindow"]) if "failureWindow" in spec else None,
        min_stay=_seconds(spec["return"]["minStay"]) if "return" in spec else None,
        most_moves=spec.get("maxMovesPerHour", MOST_MOVES),
        deadline=deadline.get("mode", "off"),
        restart=_seconds(deadline.get("restart", "12m")),
        checkpoint=_seconds(deadline.get("checkpointEvery", "30m")),
        margin=_seconds(deadline.get("margin", "5m")),
    )


def _seconds(text: str) -> float:
    return parse_duration(text).total_seconds()
