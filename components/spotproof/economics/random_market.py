"""Markets made up from an eviction rate: spells of capacity and outages of random length, each tier by itself.

Lengths are Weibull of shape 1/2: most spells are short, and one that has lasted goes on. With a mean spell of 1.7 h
and a mean outage of 1.6 h, as measured on AWS in 2022, that one shape gives a median spell of 0.4 h (measured 0.5), a
spell that is an hour old 3.5 h more (4), 55, 67, 79 and 89 % of outages over within 0.5, 1, 2 and 4 h (50-65, 65-78,
78-87, 88-93), and an outage that is an hour old 3.4 h more (3.5-4.1). Memoryless spells have none of that, and a
policy judged on them waits too little. Tiers are taken to be independent, as zones nearly are and types of one zone
are not.
"""

from dataclasses import dataclass
from math import gamma, sqrt
from typing import Final

import numpy as np

from spotproof.economics.market import Market, PriceTape, Tape

MEASURED: Final = 0.5
"""The shape of real spells and outages; 1 is memoryless."""
SWING_A_WEEK: Final = 0.06
"""Standard deviation of what a spot price gains or loses in a week: 5 % on average (Wu et al., NSDI 2024)."""
PRICE_STEP: Final = 6 * 3600
WEEK: Final = 7 * 24 * 3600
AT_ONCE: Final = 64
"""Spells drawn at a time, an even number: more than a job of some days lives through."""


@dataclass(frozen=True)
class Rate:
    """How often a job that runs is evicted, and for how long spot is then gone on average."""

    evictions_per_hour: float
    outage_seconds: float
    shape: float = MEASURED

    @property
    def availability(self) -> float:
        """The share of all time with capacity, 0 to 1."""
        if not self.evictions_per_hour:
            return 1.0
        spell = 3600 / self.evictions_per_hour
        return spell / (spell + self.outage_seconds)


def random_market(chance: np.random.Generator, rate: Rate, tiers: int, end: int) -> Market:
    """A market from a moment at which nobody knows since when it has been as it is.

    Args:
        chance: Where the numbers come from.
        rate: The same for every tier.
        tiers: How many spot tiers there are.
        end: Seconds until the market's record ends.
    """
    return Market(tuple(_tape(chance, rate, end) for _ in range(tiers)), end)


def _tape(chance: np.random.Generator, rate: Rate, end: int) -> Tape:
    if not rate.evictions_per_hour:
        return Tape(first=True, changes=())
    first = bool(chance.random() < rate.availability)
    power = 1 / rate.shape
    scales = [mean / gamma(1 + power) for mean in (3600 / rate.evictions_per_hour, rate.outage_seconds)]
    pair = np.array(scales if first else scales[::-1])
    # what is left of a spell that a random moment falls into is not as long as a whole one
    spells = [np.array([pair[0] * chance.standard_gamma(power) ** power])]
    following = np.resize(pair[::-1], AT_ONCE)
    while sum(each.sum() for each in spells) < end:
        spells.append(following * chance.standard_exponential(AT_ONCE) ** power)
    changes = np.cumsum(np.maximum(np.ceil(np.concatenate(spells)), 1))
    return Tape(first, tuple(changes[changes < end].astype(int).tolist()))


def moving_prices(chance: np.random.Generator, usd: tuple[float, ...], most: float, end: int) -> tuple[PriceTape, ...]:
    """Prices that start as listed and drift as spot prices do, four times a day and never above on-demand's.

    Args:
        chance: Where the numbers come from.
        usd: USD per node hour, a tier each.
        most: The on-demand price.
        end: Seconds until the market's record ends.
    """
    instants = tuple(range(0, end, PRICE_STEP))
    step = SWING_A_WEEK * sqrt(PRICE_STEP / WEEK)
    moves = chance.standard_normal((len(usd), len(instants))) * step - step * step / 2
    moves[:, 0] = 0.0
    paths = np.minimum(np.array(usd)[:, None] * np.exp(np.cumsum(moves, axis=1)), most)
    return tuple(PriceTape(instants, tuple(path.tolist())) for path in paths)
