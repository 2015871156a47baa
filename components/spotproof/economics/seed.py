"""The cost model of the article spotproof starts from, as it stands there, beside the corrected one.

T hours of work, a share alpha of it on spot, M interruptions of dt hours each, spot at a tenth of on-demand. Costs are
in hours of on-demand (Co = 1). What is wrong in it, and what became of it: docs/how-to/choose-max-failures.md.
"""

from typing import Final, NamedTuple

DISCOUNT: Final = 0.9
"""The article's; GPU spot has long cost a third of on-demand rather than a tenth."""


class SeedJob(NamedTuple):
    """The article's symbols; the defaults are its worked example, with the alpha that follows from its 2.76 Co."""

    hours: float = 5.0
    alpha: float = 0.6
    interruptions: int = 5
    overhead_hours: float = 0.2
    discount: float = DISCOUNT

    @property
    def spot_hours(self) -> float:
        """TS = alpha T."""
        return self.alpha * self.hours

    @property
    def on_demand_hours(self) -> float:
        """TO = (1 - alpha) T + M dt: all overhead on on-demand."""
        return (1 - self.alpha) * self.hours + self.interruptions * self.overhead_hours

    @property
    def total_hours(self) -> float:
        """Ttotal = T + M dt."""
        return self.hours + self.interruptions * self.overhead_hours


class Answer(NamedTuple):
    """One way to charge the overhead of one and the same job."""

    charged: str
    cost: float
    saving: float


def answers(job: SeedJob | None = None) -> tuple[Answer, ...]:
    """What the job saves, by the article's two formulas and by two that charge overhead where it falls.

    The number of interruptions is that of restarts, as the article takes it: the last of them moves the job.
    """
    one = job or SeedJob()
    share = 1 - one.discount
    work = one.alpha * one.hours * share + (1 - one.alpha) * one.hours
    each = one.overhead_hours
    costs = {
        "all to on-demand (the article's TS and TO)": share * one.spot_hours + one.on_demand_hours,
        "to both in proportion (the article's formula)": one.total_hours * (1 - one.discount * one.alpha),
        "to spot, the last restart to on-demand": work + (max(one.interruptions - 1, 0) * share + 1) * each
        if one.interruptions
        else work,
        "all to spot": work + one.interruptions * each * share,
    }
    return tuple(Answer(how, cost, 1 - cost / one.hours) for how, cost in costs.items())


class Flexibility(NamedTuple):
    """One row of the article's table: at this share on spot a job may run so much longer without costing more."""

    alpha: float
    printed: float
    error: str = ""


TABLE: Final = (
    Flexibility(0.3, 0.36, "cut off, not rounded: 37 %"),
    Flexibility(0.4, 0.56),
    Flexibility(0.5, 0.81, "cut off, not rounded: 82 %"),
    Flexibility(0.6, 2.17, "217 % is the new runtime over the old one, not the increase: 117 %"),
)
"""The article's Runtime Flexibility, as printed; the right values are break_even_extra_runtime(0.9, alpha)."""
