"""Karpenter: consolidation, drift, expiry, and the annotation that hides a job from its own eviction."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.karpenter_pools import KarpenterPool
from spotproof_policies.model import Config, Resource
from spotproof_policies.pools import buys_spot, trains
from spotproof_policies.reading import at, minutes, rows, table, words

_VOLUNTARY = ("Underutilized", "Drifted")
_DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield every setting by which Karpenter would end or hide a running job of this pool."""
    pool = KarpenterPool(resource.props)
    if not trains(pool):
        return
    disruption = at(resource.props, "spec", "disruption")
    yield from _consolidation(disruption, config["minimumMinutes"])
    yield from _budgets(disruption)
    if at(resource.props, "spec", "template", "spec", "expireAfter") != "Never":
        yield (
            "Nodes of this pool expire (after 720h when nothing is written), and expiry ignores budgets, so a long "
            "run is killed by the clock. Write spec.template.spec.expireAfter: Never."
        )
    annotations = table(at(resource.props, "spec", "template", "metadata", "annotations"))
    if _DO_NOT_DISRUPT in set(annotations) and buys_spot(pool):
        yield (
            f"`{_DO_NOT_DISRUPT}` on a spot pool keeps Karpenter from evicting pods on a spot warning too, so trainers "
            "get no SIGTERM and die with the machine. Remove the annotation; the budgets already keep Karpenter away."
        )


def _consolidation(disruption: Any, minimum: float) -> Iterator[str]:
    if at(disruption, "consolidationPolicy") != "WhenEmpty":
        yield (
            "Karpenter may consolidate nodes that still run pods (its default is WhenEmptyOrUnderutilized), so a job "
            "restarts to save a little money. Write spec.disruption.consolidationPolicy: WhenEmpty."
        )
    after = at(disruption, "consolidateAfter")
    waited = minutes(after)
    if after != "Never" and (waited is None or waited < minimum):
        yield (
            f"`consolidateAfter` is {after or 'not written (0s)'}, so nodes go while a restarted job still creates its "
            f"pods, and the next attempt buys them again. Write {minimum:g}m or more in spec.disruption."
        )


def _budgets(disruption: Any) -> Iterator[str]:
    closed = {reason for budget in rows(at(disruption, "budgets")) for reason in _closed(budget)}
    missing = [reason for reason in _VOLUNTARY if reason not in closed]
    if missing:
        yield (
            f"No budget of 0 nodes covers {' and '.join(missing)}, so Karpenter may replace 10 % of the nodes under a "
            'running gang. Add the budget {nodes: "0", reasons: [Underutilized, Drifted]} to spec.disruption.budgets.'
        )


def _closed(budget: Any) -> tuple[str, ...]:
    """The reasons for which a budget allows nothing, at any time of day."""
    if not isinstance(budget, Mapping) or str(at(budget, "nodes")) not in {"0", "0.0", "0%"}:
        return ()
    if "schedule" in set(budget):
        return ()
    return words(at(budget, "reasons")) or _VOLUNTARY
