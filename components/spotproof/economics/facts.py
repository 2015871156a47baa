"""What the closed forms say of a job on its market, beside what the simulation says."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from spotproof.economics.break_even import break_even_extra_runtime, break_even_mtbf_seconds
from spotproof.economics.checkpoints import Cycle, daly, recommended_interval, young
from spotproof.economics.model import Conditions
from spotproof.economics.plan import HOUR, Line, Request
from spotproof.economics.random_market import Rate
from spotproof.economics.sources import MadeUp

WORTH_A_CHANGE: Final = 0.01
"""Of the running time. Half and twice the best interval cost 1 to 6 %, so the optimum is flat."""
CURVE: Final = 40
FURTHEST: Final = -1.0
"""Where the break-even curve ends: spot at twice the price of on-demand."""


@dataclass(frozen=True)
class Facts:
    """A request with what follows from it without a simulation."""

    request: Request

    @cached_property
    def rate(self) -> Rate:
        """Evictions and outages of the job's markets."""
        return self.request.source.spells()

    @property
    def is_given(self) -> bool:
        """Whether somebody wrote the rate, rather than it being counted in traces."""
        return isinstance(self.request.source, MadeUp)

    @property
    def evictions_per_hour(self) -> float:
        """Of the whole job, per running hour."""
        return self.rate.evictions_per_hour

    @property
    def spot_share(self) -> float:
        """The cheapest spot price as a share of the on-demand price; 1 without spot."""
        return min(self.request.spot_usd, default=self.request.on_demand_usd) / self.request.on_demand_usd

    @property
    def cycle(self) -> Cycle:
        """What the job repeats."""
        return self.request.task.cycle

    @property
    def cost_of_work(self) -> float:
        """An hour of useful work on spot, as a share of what it costs on on-demand: c s / (1 + w / tau)."""
        return self.spot_share * self.cycle.slowdown(self.evictions_per_hour) / self.cycle.overhead

    @property
    def conditions(self) -> Conditions:
        """The same for the closed forms; of several spot tiers the first."""
        request, task = self.request, self.request.task
        tier = request.policy.spot[0] if request.policy.spot else request.on_demand
        return Conditions(
            work_seconds=task.work,
            on_demand_usd=request.on_demand_usd,
            spot_share=self.spot_share,
            evictions_per_hour=self.evictions_per_hour,
            cycle=self.cycle,
            max_failures=tier.max_failures,
            nodes=task.nodes,
            outage_seconds=self.rate.outage_seconds,
            pending_timeout_seconds=tier.pending_timeout,
            deadline_seconds=task.deadline,
        )

    @property
    def daly_seconds(self) -> float | None:
        """The best time between two checkpoints; None where it is no time, or all of it."""
        return self._interval(daly)

    @property
    def young_seconds(self) -> float | None:
        """The same by the older formula."""
        return self._interval(young)

    def _interval(self, formula: Callable[[float, float], float]) -> float | None:
        write, rate = self.cycle.write, self.evictions_per_hour
        return formula(write, HOUR / rate) if write and rate else None

    @property
    def best_interval(self) -> int:
        """What to write into a policy, in whole minutes of seconds: Daly's within 5 minutes to an hour."""
        return 60 * round(recommended_interval(self.cycle.write, self.evictions_per_hour) / 60)

    def slowdown(self, every: float) -> float:
        """Running time for a unit of work with another time between two checkpoints."""
        return self.cycle._replace(every=every).slowdown(self.evictions_per_hour)

    @property
    def interval(self) -> int:
        """The time between two checkpoints to take: the best where that is worth a change, else the job's own."""
        mine, best = self.request.task.checkpoint_every, self.best_interval
        return best if self.slowdown(mine) > (1 + WORTH_A_CHANGE) * self.slowdown(best) else mine

    @property
    def break_even_hours(self) -> float:
        """Running time between two evictions below which spot loses money."""
        return break_even_mtbf_seconds(self.spot_share, self.cycle) / HOUR

    def curve(self) -> list[tuple[float, float]]:
        """Evictions per hour and what a job saves that stays on spot, up to where that is as much as is lost."""
        hours = self.break_even_hours
        furthest = max(2 / hours, 1.2 * self.evictions_per_hour) if hours > 0 else 1.0
        found: list[tuple[float, float]] = []
        for step in range(CURVE + 1):
            rate = furthest * step / CURVE
            saving = 1 - self.spot_share * self.cycle.slowdown(rate) / self.cycle.overhead
            if saving < FURTHEST:
                break
            found.append((rate, saving))
        return found

    def article(self, line: Line) -> "Article":
        """What the article's formulas give for a policy, with the numbers that were simulated."""
        alpha, discount = line.spot_share, 1 - self.spot_share
        overhead = 1 + line.evictions * self.cycle.lost / self.request.task.work
        return Article(alpha, 1 - overhead * (1 - discount * alpha), break_even_extra_runtime(discount, alpha))


@dataclass(frozen=True)
class Article:
    """The article's alpha, its saving S with all overhead in proportion, and its runtime flexibility; shares of 1."""

    alpha: float
    saving: float
    flexibility: float
