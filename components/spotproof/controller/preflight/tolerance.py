"""Whether the pods may land on every tier: they tolerate the taints of all of them from the start."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View, enumerated
from spotproof.fallback.resolved import TierToleration


def tolerance(view: View) -> Iterator[Finding]:
    """What a tier's nodes repel is worse than a missing node: the job would wait there as if the market were dry."""
    for template in view.moving:
        carried = template.spec.get("tolerations") or []
        missing: dict[TierToleration, list[str]] = {}
        for tier in view.policy.tiers:
            for wanted in tier.tolerations:
                if not any(tolerates(each, wanted) for each in carried):
                    missing.setdefault(wanted, []).append(tier.pool)
        if missing:
            pools = dict.fromkeys(pool for each in missing.values() for pool in each)
            yield finding(
                "Toleration",
                template.dotted("spec", "tolerations"),
                taints=enumerated([wanted.key for wanted in missing]),
                tiers=enumerated(list(pools)),
                remedy=enumerated([f"`{_written(wanted)}`" for wanted in missing]),
            )


def tolerates(carried: Mapping[str, Any], wanted: TierToleration) -> bool:
    """As the scheduler reads it: no key with Exists is every key, no effect every effect, no operator is Equal.

    A tier that says `Exists` has a taint whose value nobody here knows: only Exists is sure to tolerate it.
    """
    if wanted.effect == "PreferNoSchedule":
        return True
    if (carried.get("effect") or wanted.effect) != wanted.effect or (carried.get("key") or wanted.key) != wanted.key:
        return False
    if (carried.get("operator") or "Equal") == "Exists":
        return True
    is_equal = (carried.get("operator") or "Equal") == "Equal" and bool(carried.get("key"))
    return is_equal and wanted.operator == "Equal" and (carried.get("value") or "") == (wanted.value or "")


def _written(wanted: TierToleration) -> str:
    value = f", value: {wanted.value}" if wanted.operator == "Equal" and wanted.value else ""
    return f"{{key: {wanted.key}, operator: {wanted.operator}{value}, effect: {wanted.effect}}}"
