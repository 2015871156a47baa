"""Which policy to take, and why, with the numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Final

from spotproof.economics.facts import Facts
from spotproof.economics.neighbours import (
    ON_DEMAND_ALONE,
    SPOT_ALONE,
    failures_text,
    return_text,
    timeout_text,
)
from spotproof.economics.plan import CERTAIN, Line, Plan
from spotproof.economics.text import percent, points, time, usd

ACCEPTED: Final = 0.01
"""The chance to miss the deadline that a recommended policy may have."""
WORTH_A_CHANGE: Final = 0.005
"""Of on-demand's cost: less is not worth another policy, since prices are not known better."""


@dataclass(frozen=True)
class Recommendation:
    """The policy to take, and the reasons in full sentences."""

    line: Line
    sentences: tuple[str, ...]


def recommend(plan: Plan, facts: Facts) -> Recommendation:
    """The cheapest policy of those that are hardly ever late; the one as written, where the difference is noise."""
    fit = [line for line in plan.lines if line.missed <= ACCEPTED and line.candidate.name != SPOT_ALONE]
    line = _best(plan, fit)
    reasons = (
        _what(plan, line),
        _in_time(plan, line, len(fit)),
        _against_written(plan, line, fit),
        *_settings(plan, line, facts),
        _checkpoints(facts),
        *_spot_alone(plan, line),
    )
    return Recommendation(line, tuple(reason for reason in reasons if reason))


def _best(plan: Plan, fit: list[Line]) -> Line:
    if not fit:
        rest = [line for line in plan.lines if line.candidate.name != SPOT_ALONE]
        return min(rest, key=lambda line: (line.missed, line.mean_usd))
    cheapest = min(fit, key=lambda line: line.mean_usd)
    return plan.written if plan.written in fit and not matters(plan, cheapest, plan.written) else cheapest


def matters(plan: Plan, line: Line, over: Line) -> bool:
    """Whether one policy saves more than another by more than noise, and by enough to be worth a change."""
    gain, error = plan.gain(line, over)
    return gain >= WORTH_A_CHANGE and (isnan(error) or gain > CERTAIN * error)


def _what(plan: Plan, line: Line) -> str:
    alone = plan.request.on_demand_alone_usd
    name = "the policy as written" if line is plan.written else f"`{line.candidate.name}`"
    cost = f"it costs {usd(line.mean_usd)} on average, {_less(line.saving)} than on-demand alone ({usd(alone)})"
    if line.candidate.name == ON_DEMAND_ALONE:
        cost = f"it costs {usd(line.mean_usd)}"
    ends = (
        f"ends after {_ends(line.finish_median)} in half of all runs and after {_ends(line.finish_p95)} in 95 % of them"
    )
    return f"Take {name}: {cost}, and {ends}."


def _less(saving: float) -> str:
    return f"{percent(saving)} less" if saving >= 0 else f"{percent(-saving)} more"


def _ends(seconds: float | None) -> str:
    return "the end of the record" if seconds is None else time(seconds)


def _in_time(plan: Plan, line: Line, fit: int) -> str:
    deadline, accepted = plan.request.task.deadline, percent(ACCEPTED, 0)
    if deadline is None:
        return (
            "No deadline is given, so nothing but the record's end counts against waiting, and a policy that waits "
            f"longer looks better here than it may be for you: say --deadline. {percent(line.missed)} of its runs did "
            "not end in the record."
        )
    if not fit:
        return (
            f"No policy here keeps the deadline of {time(deadline)} in all but {accepted} of runs; this one misses it "
            f"in {percent(line.missed)}, which is the least."
        )
    return (
        f"It misses the deadline of {time(deadline)} in {percent(line.missed)} of runs, where at most {accepted} is "
        f"accepted, and of the {fit} policies that keep to that it is the cheapest, or as good as the cheapest."
    )


def _against_written(plan: Plan, line: Line, fit: list[Line]) -> str:
    written = plan.written
    if line is not written:
        gain, error = plan.gain(line, written)
        late = f", and misses the deadline in {percent(written.missed)} of runs" if written.missed > ACCEPTED else ""
        more = f"the change saves {points(gain)} more" if gain >= 0 else f"the change saves {points(-gain)} less"
        return f"As written the policy costs {usd(written.mean_usd)}{late}; {more}{_interval(gain, error)}."
    others = [other for other in fit if other is not written]
    if not others:
        return ""
    other = min(others, key=lambda one: one.mean_usd)
    gain, error = plan.gain(other, written)
    if gain <= 0:
        return f"Nothing near it is cheaper: `{other.candidate.name}`, the next, saves {points(-gain)} less."
    return (
        f"`{other.candidate.name}` saves {points(gain)} more{_interval(gain, error)}, which is noise or less than "
        f"the {points(WORTH_A_CHANGE)} that a change should be worth."
    )


def _interval(gain: float, error: float) -> str:
    if isnan(error):
        return ""
    low, high = (100 * (gain + side * CERTAIN * error) + 0.0 for side in (-1, 1))
    return f" (95 % interval {low:.1f} to {high:.1f})"


def _settings(plan: Plan, line: Line, facts: Facts) -> Iterator[str]:
    policy, written = line.candidate.policy, plan.request.policy
    if not policy.spot or not written.spot:
        if facts.cost_of_work >= 1:
            yield f"Spot loses money here: an hour of work costs {facts.cost_of_work:.2f} of what it does on on-demand."
        return
    effects = _effects(plan, "maxFailures", failures_text(written))
    yield f"maxFailures {failures_text(policy)}: {_counting(facts)}{effects}"
    outage = time(facts.rate.outage_seconds)
    yield (
        f"pendingTimeout {timeout_text(policy)}: spot is gone for {outage} on average after an eviction, and an outage "
        f"that is old lasts on.{_effects(plan, 'pendingTimeout', timeout_text(written))}"
    )
    yield (
        "return "
        f"{return_text(policy)}: a job that fell pays on-demand to its end unless it comes back."
        f"{_effects(plan, 'return', return_text(written))}"
    )
    if plan.request.task.deadline is not None:
        yield (
            f"deadline {policy.mode}: with off nothing looks at the clock; guard takes on-demand when it has to; pace "
            f"spreads what time there is to spare.{_effects(plan, 'deadline', written.mode)}"
        )


def _counting(facts: Facts) -> str:
    share, slow = facts.cost_of_work, facts.cycle.slowdown(facts.evictions_per_hour)
    if share >= 1:
        return (
            f"at {facts.evictions_per_hour:.2g} evictions an hour an hour of work costs {share:.2f} of what it does on "
            "on-demand, so every eviction tolerated is one too many."
        )
    return (
        f"at {facts.evictions_per_hour:.2g} evictions an hour an hour of work takes {slow:.2f} h on spot and costs "
        f"{share:.2f} of what it costs on on-demand, after any number of evictions; so counting them saves no "
        "money: it serves a deadline, and markets that are worse than this one."
    )


def _effects(plan: Plan, setting: str, now: str) -> str:
    """What the neighbours in one setting save more or less than the policy they differ from."""
    basis = plan.basis
    names = [
        (name.removeprefix(f"{setting} "), line)
        for line in plan.lines
        for name in (line.candidate.name, *line.same)
        if name.startswith(f"{setting} ") and "," not in name
    ]
    found = [f"{name} {_effect(plan, line, basis)}" for name, line in names if line is not basis]
    equal = [name for name, line in names if line is basis and name != now]
    if equal:
        found.append(f"{' and '.join(equal)} the same")
    return f" From {now}, as written: {', '.join(found)}." if found else ""


def _effect(plan: Plan, line: Line, basis: Line) -> str:
    gain, _ = plan.gain(line, basis)
    saves = f"{points(abs(gain))} {'more' if gain > 0 else 'less'}" if abs(gain) >= 0.0005 else "the same"  # noqa: PLR2004
    late = f" but is late in {percent(line.late)} of runs" if line.late is not None and line.late > ACCEPTED else ""
    return f"saves {saves}{late}"


def _checkpoints(facts: Facts) -> str:
    mine, best = facts.request.task.checkpoint_every, facts.best_interval
    now, then = facts.slowdown(mine), facts.slowdown(best)
    exact = facts.daly_seconds
    formula = f" (Daly: {time(exact)}, kept within 5m and 1h)" if exact else ""
    slower = f"work on spot takes {now:.3f} times as long with {time(mine)}, and {then:.3f} with {time(best)}{formula}"
    if facts.interval == mine:
        return f"Checkpoints every {time(mine)}, as they are: {slower}."
    return f"Write checkpoints every {time(best)} instead of {time(mine)}, and the same into checkpointEvery: {slower}."


def _spot_alone(plan: Plan, line: Line) -> Iterator[str]:
    other = plan.named(SPOT_ALONE)
    if other is None or other.mean_usd >= line.mean_usd or line.candidate.name == SPOT_ALONE:
        return
    gain, _ = plan.gain(other, line)
    missed = f"and it misses the deadline in {percent(other.missed)} of them" if other.late is not None else ""
    yield (
        f"Spot alone would save {points(gain)} more, but nothing ends its waiting: 95 % of its runs end within "
        f"{_ends(other.finish_p95)} {missed}".rstrip()
        + "."
    )
