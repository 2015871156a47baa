"""What a job costs on average that starts on spot and falls back to on-demand for good: a closed form.

It answers at once and needs no market, so it stands behind tooltips and policy checks. A recommendation is simulated on
recorded markets, with the rule that runs in the cluster: evictions there are not memoryless, and jobs return.

The exact process it describes: a job trains for `every`, saves for `write`, and so on. On spot it is evicted with a
constant rate while it runs, loses what it has not saved, waits for capacity, restarts, and goes on. The eviction after
`max_failures` others moves it to on-demand at once, an outage longer than `pending_timeout` when that has passed.
There it restarts once and is not evicted. The very first start is left out, since it is paid on any tier.
"""

from dataclasses import dataclass
from math import exp, expm1, inf
from typing import Final

from spotproof.economics.checkpoints import SECONDS_PER_HOUR, Cycle
from spotproof.economics.evictions import Spread, stay

FOR_EVER: Final = -1
"""As `max_failures`: no number of evictions moves the job."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """A job, what it is bought for, its market, and the policy's numbers. Times in seconds, prices in USD.

    Raises:
        ValueError: a number has no meaning, as a job without work or a market with a negative rate.
    """

    work_seconds: float
    """Useful running time."""
    on_demand_usd: float
    """Per node hour."""
    spot_share: float
    """The spot price as a share of the on-demand price: 0.35 is a discount of 65 %."""
    evictions_per_hour: float
    """Of the whole job, per running hour; `gang_rate` bounds it where only a node's is known."""
    cycle: Cycle
    max_failures: int = FOR_EVER
    """Evictions tolerated: one more moves the job, as in Ray and JobSet. -1 never does."""
    nodes: int = 1
    outage_seconds: float = 0.0
    """How long spot is gone after an eviction, on average; taken to be memoryless."""
    pending_timeout_seconds: float = inf
    deadline_seconds: float | None = None
    """From the job's creation; only what is about deadlines reads it."""
    nodes_held_waiting: int = 0
    """Survivors of a gang that are kept and billed while one node is missing; 0 where they are given back."""
    always_on_usd_per_hour: float = 0.0
    """Head and system nodes that are paid for as long as the job takes, running or waiting."""

    def __post_init__(self) -> None:
        """Refuse what would give a number without a meaning."""
        positive = {"work_seconds": self.work_seconds, "cycle.every": self.cycle.every, "nodes": self.nodes}
        for name, value in positive.items():
            if not 0 < value < inf:
                raise ValueError(f"{name} is {value}; it has to be above zero, and finite")
        rest = {
            "on_demand_usd": self.on_demand_usd,
            "spot_share": self.spot_share,
            "evictions_per_hour": self.evictions_per_hour,
            "cycle.write": self.cycle.write,
            "cycle.restart": self.cycle.restart,
            "outage_seconds": self.outage_seconds,
            "pending_timeout_seconds": self.pending_timeout_seconds,
            "nodes_held_waiting": self.nodes_held_waiting,
            "always_on_usd_per_hour": self.always_on_usd_per_hour,
            "max_failures": self.max_failures - FOR_EVER,
        }
        for name, value in rest.items():
            if not value >= 0:
                raise ValueError(f"{name} is too small; -1 is the least for max_failures, and 0 for everything else")

    @property
    def discount(self) -> float:
        """How much less a spot node costs, as a share of on-demand."""
        return 1 - self.spot_share

    @property
    def on_demand_seconds(self) -> float:
        """What the job takes on on-demand alone; writes are paid there too."""
        return self.work_seconds * self.cycle.overhead


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Averages over all courses of one job. Times in seconds, prices in USD."""

    usd: float
    on_demand_usd: float
    """The same job on on-demand alone, with its head and system nodes."""
    wall_seconds: float
    """From the first start to the end; the sum of the next three."""
    spot_seconds: float
    on_demand_seconds: float
    waiting_seconds: float
    evictions: float
    useful_share: float
    """The seed's alpha: the share of the useful work that is done on spot."""
    all_on_spot: float
    """The chance that the job is done before it has to fall back."""

    @property
    def cost_share(self) -> float:
        """Cost as a share of on-demand's; 1 where both are free."""
        return self.usd / self.on_demand_usd if self.on_demand_usd else 1.0

    @property
    def saving(self) -> float:
        """Share of the on-demand cost that is saved; negative where spot loses money."""
        return 1 - self.cost_share


def expect(conditions: Conditions) -> Expected:
    """What the job comes to on average. Infinite where it never ends, as with -1 on a market that saves nothing.

    Times follow from the expected number of evictions alone: they are a Poisson process of the running time on spot,
    and a stay ends where its own history says so, hence running time = evictions / rate. The useful share follows in
    the same way, with what the restart after the last eviction would have cost on spot given back.
    """
    cycle, rate = conditions.cycle, conditions.evictions_per_hour / SECONDS_PER_HOUR
    outage, timeout = conditions.outage_seconds, conditions.pending_timeout_seconds
    leaves = exp(-timeout / outage) if outage else 0.0
    spread = Spread(conditions.evictions_per_hour, conditions.work_seconds, cycle)
    ends = stay(spread, conditions.max_failures, leaves)
    falls = 1 - ends.to_the_end
    if rate * conditions.work_seconds < _RARE:
        spot, useful = conditions.on_demand_seconds, 1.0
    else:
        spot = ends.evictions / rate
        useful = _useful_share(conditions, spot, falls) if falls else 1.0
    on_demand = falls * cycle.restart + (1 - useful) * conditions.on_demand_seconds
    waiting = ends.waits * outage * (1 - leaves) if outage else 0.0
    return Expected(
        usd=_usd(conditions, spot, on_demand, waiting),
        on_demand_usd=_usd(conditions, 0.0, conditions.on_demand_seconds, 0.0),
        wall_seconds=spot + on_demand + waiting,
        spot_seconds=spot,
        on_demand_seconds=on_demand,
        waiting_seconds=waiting,
        evictions=ends.evictions,
        useful_share=useful,
        all_on_spot=ends.to_the_end,
    )


_RARE: Final = 1e-12
"""Expected evictions below which a job has none: dividing by the rate would lose digits."""


def _useful_share(conditions: Conditions, spot: float, falls: float) -> float:
    slowdown = conditions.cycle.slowdown(conditions.evictions_per_hour)
    if slowdown == inf:
        return 0.0
    rate = conditions.evictions_per_hour / SECONDS_PER_HOUR
    restarting = expm1(rate * conditions.cycle.restart) / rate
    return min((spot + falls * restarting) / (slowdown * conditions.work_seconds), 1.0)


def _usd(conditions: Conditions, spot: float, on_demand: float, waiting: float) -> float:
    """What so many seconds of a job cost; what is not paid for is left out, since its time may be infinite."""
    parts = (
        (conditions.nodes * conditions.spot_share * conditions.on_demand_usd, spot),
        (conditions.nodes_held_waiting * conditions.spot_share * conditions.on_demand_usd, waiting),
        (conditions.nodes * conditions.on_demand_usd, on_demand),
        (conditions.always_on_usd_per_hour, spot + on_demand + waiting),
    )
    return sum(usd * seconds for usd, seconds in parts if usd) / SECONDS_PER_HOUR
