"""What a job repeats between two checkpoints, what evictions make of it, and the best time between two."""

from math import exp, expm1, inf, sqrt
from typing import Final, NamedTuple

SECONDS_PER_HOUR: Final = 3600

SHORTEST_SECONDS: Final = 5 * 60
"""Recommended at least: below it the write itself, the store's requests and old versions cost more than an eviction."""
LONGEST_SECONDS: Final = 60 * 60
"""Recommended at most: where evictions are rare, software errors still lose what was not saved."""


class Cycle(NamedTuple):
    """What a job repeats: train for `every`, save for `write`; after an eviction `restart` comes first. In seconds.

    `write` is the time in which training stands still: a save that goes on in the background has a short one.
    """

    every: float
    write: float = 0.0
    restart: float = 0.0

    @property
    def overhead(self) -> float:
        """Running time for a unit of useful time where nothing is ever evicted: 1 + write / every."""
        return 1 + self.write / self.every

    @property
    def lost(self) -> float:
        """What an eviction costs on average, in seconds: a restart, and half of the cycle it fell into."""
        return self.restart + (self.every + self.write) / 2

    def slowdown(self, evictions_per_hour: float) -> float:
        """Running time for a unit of useful time on spot; infinite where no float holds it.

        The complete form of J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps,
        Future Generation Computer Systems 22 (2006): e^(lambda r) (e^(lambda (tau + w)) - 1) / (lambda tau). Restarts
        are interrupted like everything else.
        """
        rate = evictions_per_hour / SECONDS_PER_HOUR
        if rate * self.every < 1e-300:  # noqa: PLR2004 - the smallest a float divides by without loss
            return self.overhead
        try:
            return exp(rate * self.restart) * expm1(rate * (self.every + self.write)) / (rate * self.every)
        except OverflowError:
            return inf


def young(write_seconds: float, mtbf_seconds: float) -> float:
    """Seconds between two checkpoints: sqrt(2 w MTBF), J. W. Young, Communications of the ACM 17 (1974)."""
    return sqrt(2 * write_seconds * mtbf_seconds)


def daly(write_seconds: float, mtbf_seconds: float) -> float:
    """Seconds between two checkpoints, to a higher order; the time between two failures where a write takes twice that.

    Daly (2006), equation 37. Raises ValueError where nothing takes time: then it is as often as you like.
    """
    if write_seconds <= 0 or mtbf_seconds <= 0:
        raise ValueError("a best checkpoint interval needs a write time and a time between failures above zero")
    if write_seconds >= 2 * mtbf_seconds:
        return mtbf_seconds
    half = write_seconds / (2 * mtbf_seconds)
    return young(write_seconds, mtbf_seconds) * (1 + sqrt(half) / 3 + half / 9) - write_seconds


def recommended_interval(write_seconds: float, evictions_per_hour: float) -> float:
    """Seconds between two checkpoints to write into a policy: Daly's, within 5 to 60 minutes."""
    if evictions_per_hour <= 0:
        return LONGEST_SECONDS
    if write_seconds <= 0:
        return SHORTEST_SECONDS
    return min(max(daly(write_seconds, SECONDS_PER_HOUR / evictions_per_hour), SHORTEST_SECONDS), LONGEST_SECONDS)
