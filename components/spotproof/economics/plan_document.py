"""A plan as the one JSON document that machines and the HTML page read; keys in camelCase, units in their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof.economics.facts import Facts
from spotproof.economics.neighbours import failures_text, return_text, timeout_text
from spotproof.economics.plan import HOUR, WITHOUT, Line, Plan, Span
from spotproof.economics.recommend import Recommendation
from spotproof.vocabulary import ON_DEMAND, SPOT

Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class AlwaysOn:
    """USD per hour of what is paid for while no pool has a node, and of the node a Ray head needs; None: not known."""

    system_usd: float | None
    head_usd: float | None
    note: str


@dataclass(frozen=True, kw_only=True)
class About:
    """What a plan does not know of itself."""

    stack: str
    policy: str
    source: str
    """`traces` or `rate`."""
    names: tuple[str, ...]
    tiers: Sequence[Mapping[str, Any]]
    always_on: AlwaysOn
    yaml: str
    rate_note: str
    bounds: Sequence[Plan] = ()
    """The same plan at other rates, where only a node's rate is known."""


def document(
    plan: Plan, facts: Facts, about: About, recommendation: Recommendation, warnings: Sequence[str]
) -> Document:
    """Everything a plan says."""
    request = plan.request
    return {
        "stack": about.stack,
        "policy": about.policy,
        "bill": request.source.bought.bill.value,
        "job": _job(plan),
        "market": _market(plan, facts, about),
        "tiers": [dict(tier) for tier in about.tiers],
        "policies": [_policy(line, plan, recommendation) for line in plan.lines],
        "onDemandAloneUsd": _usd(request.on_demand_alone_usd),
        "bounds": [_bound(other) for other in about.bounds],
        "alwaysOn": _always_on(about.always_on, recommendation.line),
        "checkpoint": _checkpoint(facts),
        "seed": _seed(plan, facts),
        "breakEven": _break_even(facts),
        "recommendation": {
            "name": recommendation.line.candidate.name,
            "sentences": list(recommendation.sentences),
            "yaml": about.yaml,
        },
        "warnings": list(warnings),
    }


def _job(plan: Plan) -> Document:
    task = plan.request.task
    return {
        "workHours": _hours(task.work),
        "deadlineHours": None if task.deadline is None else _hours(task.deadline),
        "restartMinutes": _minutes(task.restart),
        "checkpointEveryMinutes": _minutes(task.checkpoint_every),
        "checkpointWriteMinutes": _minutes(task.checkpoint_write),
        "nodes": task.nodes,
        "nodesHeldWaiting": task.held,
        "probeMinutes": _minutes(task.probe),
    }


def _market(plan: Plan, facts: Facts, about: About) -> Document:
    source = plan.request.source
    return {
        "source": about.source,
        "names": list(about.names),
        "evictionsPerHour": round(facts.evictions_per_hour, 4),
        "outageHours": _hours(facts.rate.outage_seconds),
        "availabilityPercent": [_percent(share) for share in source.availability],
        "runs": plan.request.runs,
        "seed": source.seed,
        "note": about.rate_note,
    }


def _policy(line: Line, plan: Plan, recommendation: Recommendation) -> Document:
    policy = line.candidate.policy
    low, high = line.saving_interval
    return {
        "name": line.candidate.name,
        "same": list(line.same),
        "chosen": line is plan.written,
        "recommended": line is recommendation.line,
        "settings": {
            "maxFailures": failures_text(policy) if policy.spot else None,
            "pendingTimeout": timeout_text(policy) if policy.spot else None,
            "return": return_text(policy) if policy.spot else None,
            "deadline": policy.mode if policy.spot and plan.request.task.deadline is not None else None,
        },
        "meanCostUsd": _usd(line.mean_usd),
        "savingsPercent": _percent(line.saving),
        "savingsInterval": [_percent(low), _percent(high)],
        "finishHours": {"median": _or_none(line.finish_median), "p95": _or_none(line.finish_p95)},
        "meanEvictions": round(line.evictions, 2),
        "spotSharePercent": _percent(line.spot_share),
        "latePercent": None if line.late is None else _percent(line.late),
        "unfinishedPercent": _percent(line.unfinished),
        "spotHours": _hours(line.spot),
        "onDemandHours": _hours(line.on_demand),
        "waitingHours": _hours(line.waiting),
        "points": [[_hours(finish), _usd(usd)] for finish, usd in line.points],
        "timeline": [_span(span, plan) for span in line.timeline],
    }


def _span(span: Span, plan: Plan) -> Document:
    spot = {tier.pool for tier in plan.request.policy.spot}
    capacity = "waiting" if span.pool is None else SPOT if span.pool in spot else ON_DEMAND
    return {
        "pool": span.pool,
        "capacity": capacity,
        "fromHours": _hours(span.start),
        "toHours": _hours(span.end),
    }


def _bound(plan: Plan) -> Document:
    return {
        "evictionsPerHour": round(plan.request.source.spells().evictions_per_hour, 4),
        "nodesHeldWaiting": plan.request.task.held,
        "runs": plan.request.runs,
        "policies": [
            {"name": name, "meanCostUsd": _usd(line.mean_usd), "savingsPercent": _percent(line.saving)}
            for line in plan.lines
            for name in (line.candidate.name, *line.same)
        ],
    }


def _always_on(cost: AlwaysOn, line: Line) -> Document:
    """Over a run of the recommended policy of median length."""
    hours = None if line.finish_median is None else line.finish_median / HOUR

    def over(usd: float | None) -> float | None:
        return None if usd is None or hours is None else _usd(usd * hours)

    known = [usd for usd in (cost.system_usd, cost.head_usd) if usd is not None]
    return {
        "systemUsd": over(cost.system_usd),
        "headUsd": over(cost.head_usd),
        "usdPerHour": round(sum(known), 4) if known else None,
        "note": cost.note,
    }


def _checkpoint(facts: Facts) -> Document:
    def minutes(seconds: float | None) -> float | None:
        return None if seconds is None else _minutes(seconds)

    return {
        "dalyMinutes": minutes(facts.daly_seconds),
        "youngMinutes": minutes(facts.young_seconds),
        "recommendedMinutes": _minutes(facts.best_interval),
        "slowdown": _finite(facts.slowdown(facts.best_interval)),
        "slowdownNow": _finite(facts.slowdown(facts.cycle.every)),
    }


def _seed(plan: Plan, facts: Facts) -> Document:
    """Of the policy as written."""
    article = facts.article(plan.written)
    return {
        "alphaPercent": _percent(article.alpha),
        "savingsPercent": _percent(article.saving),
        "runtimeFlexibilityPercent": _percent(article.flexibility) if article.flexibility < WITHOUT else None,
        "note": (
            "The article's formulas with the share on spot and the evictions simulated for the policy as written, and "
            "with this job's own discount. They spread overhead over both tiers alike, and leave out writes and "
            f"probes; the simulation saves {_percent(plan.written.saving)} %. Runtime flexibility is how much longer "
            "the job may run in all before it costs what on-demand costs."
        ),
    }


def _break_even(facts: Facts) -> Document:
    return {
        "mtbfHours": _finite(facts.break_even_hours),
        "curve": [[round(rate, 3), _percent(saving)] for rate, saving in facts.curve()],
    }


def _hours(seconds: float) -> float:
    return round(seconds / HOUR, 2)


def _or_none(seconds: float | None) -> float | None:
    return None if seconds is None else _hours(seconds)


def _minutes(seconds: float) -> float:
    return round(seconds / 60, 1)


def _percent(share: float) -> float:
    return round(100 * share, 1) + 0.0


def _usd(amount: float) -> float:
    return round(amount, 2)


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return round(number, 3) if number < WITHOUT else None
