"""How often a job is evicted: what is known of the rate, and how the number of evictions spreads.

Evictions are taken to be memoryless. Real ones are not: on recorded AWS markets half of all nodes live less than an
hour, and one that has lived an hour lives 4 to 7 h more. So this is for a first answer, and recorded markets for a
recommendation.
"""

from collections.abc import Iterator
from math import exp, expm1, log, log1p
from typing import Final, NamedTuple

from spotproof.economics.checkpoints import SECONDS_PER_HOUR, Cycle

MEASURED_PER_HOUR: Final = 0.4
"""Of one node per running hour: between the 0.48 and 0.26 of recorded AWS markets (2022 and 2023, K80 and V100)."""

_NONE: Final = 1e-12
"""Chances are nil below this part of the first: rounding is of that size."""
_LARGEST: Final = 1e200


class RateBounds(NamedTuple):
    """Evictions per running hour of a whole job, between two extremes."""

    together: float
    """All nodes go at once, as 4 and 16 nodes did for more than 94 % of the time in recorded AWS markets."""
    one_by_one: float
    """Every node goes by itself, and each loss stops the job."""


def gang_rate(evictions_per_node_hour: float, nodes: int) -> RateBounds:
    """The rate of a job whose nodes all have to be there, from the rate of one node."""
    return RateBounds(evictions_per_node_hour, evictions_per_node_hour * nodes)


class Prior(NamedTuple):
    """What is believed of a rate before a job has run: so many evictions in so many running hours (a Gamma prior)."""

    evictions: float = 1.0
    running_hours: float = 1.0 / MEASURED_PER_HOUR


def learned_rate(evictions: int, running_hours: float, prior: Prior | None = None) -> float:
    """Evictions per running hour after some were seen: the posterior mean.

    Args:
        evictions: Seen so far.
        running_hours: In which they were seen; waiting does not count.
        prior: What was believed before; left out, one eviction at the measured rate.
    """
    before = prior or Prior()
    return (before.evictions + evictions) / (before.running_hours + running_hours)


class Chances(NamedTuple):
    """Of one number of evictions, for a job that stays on spot until it is done."""

    exactly: float
    more: float


class Spread:
    """The number of evictions X of a job that stays on spot until it is done; exact where they are memoryless.

    A cycle is interrupted with chance a = 1 - e^(-lambda (tau + w)), a repetition of it, which begins with a
    restart, with b = 1 - e^(-lambda (r + tau + w)), and a restart with c = 1 - e^(-lambda r). So X in one cycle has the
    generating function (1 - a) (1 - c z) / (1 - b z), and in a job of n cycles, whole or not, the n-th power of it.
    Its mean is lambda times the running time. A Poisson variable of that mean, which is often taken for it, spreads
    less: the cost of a job of 5 h then comes out up to 4 % off.
    """

    def __init__(self, evictions_per_hour: float, work_seconds: float, cycle: Cycle) -> None:
        """Take the rate per running hour, the useful seconds to do, and what is repeated."""
        self._rate = evictions_per_hour / SECONDS_PER_HOUR
        self._cycles = work_seconds / cycle.every
        self._log_none = -self._rate * work_seconds * cycle.overhead
        self._again = -expm1(-self._rate * (cycle.restart + cycle.every + cycle.write))
        self._restart = -expm1(-self._rate * cycle.restart)
        self.mean = self._rate * work_seconds * cycle.slowdown(evictions_per_hour) if self._rate else 0.0

    def __iter__(self) -> Iterator[Chances]:
        """The chances of 0, 1, 2, ... evictions, until those of more are nil.

        The coefficients of the n-th power follow from one another:
        (k+1) P(k+1) = ((b+c) k + n (b-c)) P(k) - bc (k-1) P(k-1).
        """
        b, c, n = self._again, self._restart, self._cycles
        before, now, log_scale = (
            0.0,
            1.0,
            self._log_none,
        )  # the first chances of a long job are below the smallest float
        first = more = -expm1(self._log_none)
        count, exactly = 0, exp(self._log_none)
        while True:
            yield Chances(exactly, max(more, 0.0))
            if more <= _NONE * first or (count > self.mean and exactly <= _NONE * _NONE * first):
                return
            before, now = now, (((b + c) * count + n * (b - c)) * now - b * c * (count - 1) * before) / (count + 1)
            if now > _LARGEST:
                before, now, log_scale = before / now, 1.0, log_scale + log(now)
            exactly = exp(min(log_scale + log(now), 0.0)) if now > 0 else 0.0
            more, count = more - exactly, count + 1

    def log_average(self, base: float) -> float:
        """The logarithm of the mean of base to the power of X (its generating function); base is below 1."""
        return self._log_none + self._cycles * (log1p(-self._restart * base) - log1p(-self._again * base))


class Stay(NamedTuple):
    """How a stay on spot ends that a policy may cut short."""

    to_the_end: float
    """The chance that the job is done before it has to leave."""
    evictions: float
    """Expected number, the one that ends the stay among them."""
    waits: float
    """Expected number of evictions after which the job waits for spot."""


def stay(spread: Spread, max_failures: int, leaves: float = 0.0) -> Stay:
    """The stay of a job that tolerates so many evictions, and leaves after each with a chance of its own.

    Args:
        spread: How often it would be evicted if it stayed.
        max_failures: Tolerated: the one after them moves the job. -1 tolerates any number.
        leaves: The chance that an outage outlasts the pending timeout.
    """
    stays = 1 - leaves
    if max_failures < 0:
        if leaves == 0:
            return Stay(1.0, spread.mean, spread.mean)
        log_to_the_end = spread.log_average(stays)
        evictions = -expm1(log_to_the_end) / leaves
        return Stay(exp(log_to_the_end), evictions, evictions)
    to_the_end = evictions = 0.0
    last, weight = 0.0, 1.0
    for count, chances in enumerate(spread):
        if count > max_failures:
            break
        to_the_end += weight * chances.exactly
        evictions += weight * chances.more
        last = weight * chances.more if count == max_failures else 0.0
        weight *= stays
    return Stay(min(to_the_end, 1.0), evictions, evictions - last)
