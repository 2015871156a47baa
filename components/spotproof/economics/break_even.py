"""Where spot stops paying: by the hour, by how long a job may take, and by how often it is evicted."""

from math import exp, expm1, inf, log

from spotproof.economics.checkpoints import SECONDS_PER_HOUR, Cycle


def pays(spot_share: float, evictions_per_hour: float, cycle: Cycle) -> bool:
    """Whether an hour of useful work is cheaper on spot, the price being a share of on-demand's: c s < 1 + w / tau."""
    return spot_share * cycle.slowdown(evictions_per_hour) < cycle.overhead


def break_even_mtbf_seconds(spot_share: float, cycle: Cycle) -> float:
    """The mean running time between two evictions of the job below which spot loses money.

    Infinite where spot costs as much as on-demand, 0 where it is free.
    """
    if spot_share >= 1:
        return inf
    if spot_share <= 0:
        return 0.0
    target = -log(spot_share)
    # slowdown / overhead is at least e^(rate x lost), because log((e^x - 1) / x) >= x / 2
    low, high = 0.0, target / cycle.lost
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_growth(middle, cycle) < target else (low, middle)
    return 1 / high


def _log_growth(rate: float, cycle: Cycle) -> float:
    """The logarithm of slowdown / overhead at a rate per second; expm1(x) is written so that no x overflows."""
    exponent = rate * (cycle.every + cycle.write)
    if exponent == 0:
        return rate * cycle.restart
    return rate * cycle.restart + exponent + log(-expm1(-exponent)) - log(exponent)


def break_even_rate(spot_share: float, cycle: Cycle) -> float:
    """The same as evictions per running hour."""
    mtbf = break_even_mtbf_seconds(spot_share, cycle)
    return SECONDS_PER_HOUR / mtbf if mtbf else inf


def break_even_extra_runtime(discount: float, useful_share: float) -> float:
    """How much longer a job may run in all before it costs what on-demand costs: 1 / (1 - d alpha) - 1.

    The seed's runtime flexibility, for any discount. As a share of the run without spot; infinite where all of the job
    is free.

    Args:
        discount: Of spot, as a share of the on-demand price.
        useful_share: alpha, the share of the job that runs on spot.
    """
    paid = 1 - discount * useful_share
    return 1 / paid - 1 if paid > 0 else inf


def chance_to_save(evictions_per_hour: float, cycle: Cycle) -> float:
    """The chance that an attempt, restart included, comes to its first checkpoint: e^(-lambda (r + tau + w))."""
    return exp(-evictions_per_hour / SECONDS_PER_HOUR * (cycle.restart + cycle.every + cycle.write))
