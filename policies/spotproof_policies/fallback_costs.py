"""What the policies on costs reckon with: a FallbackPolicy's times and prices, and the configuration's market."""

from collections.abc import Mapping
from typing import Any, Final

from spotproof.economics.checkpoints import Cycle
from spotproof.economics.evictions import MEASURED_PER_HOUR
from spotproof_policies.fallback import is_spot, tiers
from spotproof_policies.model import Config, Resource
from spotproof_policies.reading import at, minutes, number

WRITTEN_OUT: Final = {"restart": 12.0, "checkpointEvery": 30.0, "margin": 5.0}
"""Minutes that the API server fills in where an object leaves a part of `spec.deadline` out."""

EVICTIONS_PER_HOUR: Final[Mapping[str, Mapping[str, Any]]] = {
    "evictionsPerHour": {
        "type": "number",
        "minimum": 0,
        "default": MEASURED_PER_HOUR,
        "description": "Evictions of one job per running hour on spot. One node was evicted 0.5 and 0.3 times an "
        "hour on recorded AWS markets (2022 and 2023); AWS's advisor bands are per month.",
    }
}
CHECKPOINT_WRITE_SECONDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "checkpointWriteSeconds": {
        "type": "number",
        "minimum": 0,
        "default": 60,
        "description": "How long training stands still for one checkpoint, in seconds.",
    }
}


def deadline_minutes(resource: Resource, key: str) -> float | None:
    """A time of `spec.deadline` in minutes; None where it is written and is no duration."""
    written = at(resource.props, "spec", "deadline", key)
    return WRITTEN_OUT[key] if written is None else minutes(written)


def cycle(resource: Resource, config: Config) -> Cycle | None:
    """What a job of this policy repeats, in seconds; None where its times cannot be read."""
    every, restart = deadline_minutes(resource, "checkpointEvery"), deadline_minutes(resource, "restart")
    if not every or restart is None:
        return None
    return Cycle(every * 60, config["checkpointWriteSeconds"], restart * 60)


def usd(tier: Mapping[str, Any]) -> float | None:
    """The price of one node, USD per hour; None where nobody knows it, or it is nothing."""
    return number(at(tier, "usdPerNodeHour")) or None


def spot_tiers(resource: Resource) -> tuple[Mapping[str, Any], ...]:
    """The tiers that can be reclaimed."""
    return tuple(tier for tier in tiers(resource) if is_spot(tier))


def last_on_demand(resource: Resource) -> Mapping[str, Any] | None:
    """The tier that a job ends on when spot fails it: what spot is compared with."""
    return next((tier for tier in reversed(tiers(resource)) if not is_spot(tier)), None)


def time(seconds: float) -> str:
    """A time as people say it: seconds under two minutes, minutes under two hours, then hours."""
    if seconds < 120:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004


def percent(share: float) -> str:
    """A share as people say it."""
    return f"{100 * share:.0f} %"
