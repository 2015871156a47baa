"""Spot tiers of different price, which nobody has published: zones of 2023 with one of them made dearer.

What the rule is compared with is a switch here, not in the product: `decide` with some of its answers replaced.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import permutations
from statistics import fmean
from typing import Any, ClassVar, Final

from benchmarks.markets import ZONE_CELLS, Cores, Patched, Task, Zones, saved
from benchmarks.pages import table
from benchmarks.reference import SPOT_USD, ZONES
from spotproof.economics.outcome import Job
from spotproof.economics.replay import Contender, Omniscient, Ours, Summary, pace_policy
from spotproof.fallback import Action, Code, Decision, Observation, Phase, Policy, RunState, Tier, decide

FACTORS: Final = (1.12, 1.25, 1.6, 2.2, 2.8)
"""How much dearer the second zone is; the last makes it 0.89 of on-demand. Up to 1.1 prices are equal to the rule."""
SCALES: Final = (0.5, 1.0, 2.0)
THREE: Final = (1.0, 1.6, 2.2)
THIN: Final = 4
"""Of the windows: every fourth; of the 60 orders of three zones every tenth."""
PAIRS: Final = tuple(permutations(ZONES, 2))

Decide = Callable[[Policy, RunState, Observation, int], Decision]


def _kept(policy: Policy, state: RunState, seen: Observation, now: int) -> Decision:
    """A job on spot stays there until it is evicted or needs on-demand."""
    answer = decide(policy, state, seen, now)
    leaves = answer.action is Action.MOVE and seen.phase is Phase.RUNNING
    if leaves and policy.by_pool[seen.tier].spot and policy.by_pool[answer.tier].spot:
        return answer._replace(action=Action.STAY, tier=seen.tier, next_at=now + seen.tick)
    return answer


def _taken(policy: Policy, state: RunState, seen: Observation, now: int) -> Decision:
    """A job that waits takes the cheapest tier that is there."""
    answer = decide(policy, state, seen, now)
    if answer.reason.code is not Code.SPARE_DECLINE:
        return answer
    there = str(answer.reason.numbers[2])
    return answer._replace(action=Action.WAIT if there == seen.tier else Action.MOVE, tier=there)


def _neither(policy: Policy, state: RunState, seen: Observation, now: int) -> Decision:
    answer = _taken(policy, state, seen, now)
    return answer if answer.reason.code is Code.SPARE_DECLINE else _kept(policy, state, seen, now)


class Half(Policy):
    """A policy that takes what is at stake between two spot tiers for half as much."""

    scale: ClassVar = 0.5

    def stake(self, dear: Tier, cheap: Tier) -> float:
        """As the rule has it, scaled between spot tiers."""
        found = super().stake(dear, cheap)
        return found * self.scale if dear.spot else found


class Twice(Half):
    """The same for twice as much."""

    scale: ClassVar = 2.0


def _rule(one: Job) -> Contender:
    return Ours(pace_policy(one))


def _switched(found: Decide) -> Callable[[Job], Contender]:
    def contender(one: Job) -> Contender:
        return Patched(_rule(one), "spotproof.economics.simulator", {"decide": found})

    return contender


def _as_equal(one: Job) -> Contender:
    return Ours(pace_policy(one._replace(spot_usd=(min(one.spot_usd),) * len(one.spot_usd))))


def _scaled(kind: type[Half]) -> Callable[[Job], Contender]:
    def contender(one: Job) -> Contender:
        policy = pace_policy(one)
        settings: dict[str, Any] = {each.name: getattr(policy, each.name) for each in fields(policy) if each.init}
        return Ours(kind(**settings))

    return contender


def _optimum(_one: Job) -> Contender:
    return Omniscient()


VARIANTS: Final[Mapping[str, Callable[[Job], Contender]]] = {
    "prices taken as equal": _as_equal,
    "neither waits nor moves": _switched(_neither),
    "never moves": _switched(_kept),
    "never waits": _switched(_taken),
    "the rule": _rule,
    "optimum": _optimum,
}
RULE: Final = "the rule"


def _task(kind: Callable[[Job], Contender], market: Zones, factors: Sequence[float]) -> Task:
    one = market.job._replace(spot_usd=tuple(SPOT_USD * factor for factor in factors))
    return Task(kind(one), one, market)


def pairs(cores: Cores) -> str:
    """Two zones, the second of them dearer."""
    markets = [Zones(names, cell, THIN) for names in PAIRS for cell in range(len(ZONE_CELLS))]
    lines: list[list[object]] = []
    for factor in FACTORS:
        tasks = [_task(kind, each, (1.0, factor)) for kind in VARIANTS.values() for each in markets]
        found = cores.summaries(tasks)
        by_name = {
            name: found[place * len(markets) : (place + 1) * len(markets)] for place, name in enumerate(VARIANTS)
        }
        lines.append([f"{factor:g}", *_line(by_name), _late(by_name[RULE])])
    return table(("times as dear", *VARIANTS, "of the gap, %", "late"), lines)


def _line(by_name: Mapping[str, Sequence[Sequence[Summary]]]) -> list[float]:
    """Percent saved a variant; last, how much of the way from equal prices to the optimum the rule goes."""
    points = {name: fmean(saved(each) for each in found) for name, found in by_name.items()}
    base, best = points["prices taken as equal"], points["optimum"]
    return [*points.values(), 100 * (points[RULE] - base) / (best - base)]


def _late(found: Sequence[Sequence[Summary]]) -> int:
    return sum(each.late for those in found for each in those)


def stakes(cores: Cores) -> str:
    """Whether another scale of what is at stake would save more, and more where it was not chosen."""
    kinds: dict[float, Callable[[Job], Contender]] = {0.5: _scaled(Half), 1.0: _rule, 2.0: _scaled(Twice)}
    markets = [Zones(names, cell, THIN) for names in PAIRS for cell in range(len(ZONE_CELLS))]
    keys = [(factor, scale, each) for factor in FACTORS[1:] for scale in SCALES for each in markets]
    points = dict(
        zip(keys, cores.saved([_task(kinds[scale], each, (1.0, factor)) for factor, scale, each in keys]), strict=True)
    )

    def mean(factor: float, scale: float, *, zone: str | None = None, with_it: bool = False) -> float:
        return fmean(
            found for (f, s, each), found in points.items()
            if f == factor and s == scale and (zone is None or (zone in each.zones) == with_it)
        )  # fmt: skip

    lines: list[list[object]] = [
        [f"{factor:g}", *(f"{mean(factor, scale) - mean(factor, 1.0):+.2f}" for scale in SCALES)]
        for factor in FACTORS[1:]
    ]
    gains: list[float] = []
    for zone in ZONES:
        totals = {scale: fmean(mean(factor, scale, zone=zone) for factor in FACTORS[1:]) for scale in SCALES}
        best = max(totals, key=lambda scale: totals[scale])
        gains.append(
            fmean(
                mean(factor, best, zone=zone, with_it=True) - mean(factor, 1.0, zone=zone, with_it=True)
                for factor in FACTORS[1:]
            )
        )
    each_zone = ", ".join(f"{zone} {gain:+.2f}" for zone, gain in zip(ZONES, gains, strict=True))
    return (
        table(("times as dear", "half the stake", "as it is", "twice"), lines)
        + "\n\nThe best of the three on the pairs without one zone, measured on the pairs with it, against the stake "
        f"as it is: {each_zone}; mean {fmean(gains):+.2f}."
    )


def three(cores: Cores) -> str:
    """Three zones of three prices."""
    sets = list(permutations(ZONES, 3))[::10]
    markets = [Zones(names, cell, THIN) for names in sets for cell in range(len(ZONE_CELLS))]
    tasks = [_task(kind, each, THREE) for kind in VARIANTS.values() for each in markets]
    found = cores.summaries(tasks)
    by_name = {name: found[place * len(markets) : (place + 1) * len(markets)] for place, name in enumerate(VARIANTS)}
    prices = ", ".join(f"{factor:g}" for factor in THREE)
    return table(("times", *VARIANTS, "of the gap, %", "late"), [[prices, *_line(by_name), _late(by_name[RULE])]])
