"""FallbackPolicy objects of these tests: tiers of the stack's pools, with times of seconds in place of hours."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from spotproof.manifests import fallback_policy
from spotproof.manifests.scheduling import placement
from spotproof.prices import Prices, load_prices
from spotproof.settings import Environment
from spotproof.settings.base import parse_duration
from spotproof.settings.fallback import FallbackPolicy
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL, environment

NEXT_SPOT_POOL: Final = "a100-spot-b"
"""Of the same price as the first: its equal."""
LONG: Final = "1h"
SHORT: Final = "4s"
"""Long enough for a gang to be placed on nodes that are there, on a busy machine."""

Tier = Mapping[str, Any]


def seconds_of(duration: str) -> float:
    """Seconds of a duration as settings have it."""
    return parse_duration(duration).total_seconds()


def spot(max_failures: int = -1, pending_timeout: str = LONG, pool: str = SPOT_POOL) -> Tier:
    """A spot tier."""
    return {"pool": pool, "maxFailures": max_failures, "pendingTimeout": pending_timeout}


def on_demand(pending_timeout: str = LONG) -> Tier:
    """The last tier."""
    return {"pool": ON_DEMAND_POOL, "maxFailures": -1, "pendingTimeout": pending_timeout}


def policy(name: str, *tiers: Tier, **rest: Any) -> dict[str, Any]:
    """A FallbackPolicy on the stack's pools; `rest` as the settings have it (`return` is `return_` here)."""
    fields = {("return" if key == "return_" else key): value for key, value in rest.items()}
    wanted = {"name": name, "tiers": list(tiers), "maxMovesPerHour": 60, **fields}
    return resolved(FallbackPolicy.model_validate(wanted), environment())


def resolved(wanted: FallbackPolicy, env: Environment) -> dict[str, Any]:
    """The object, with tiers as `up` resolves them."""
    pools = {pool.name: pool for pool in env.pools}
    made: Any = fallback_policy.fallback_policy(
        wanted,
        tiers=fallback_policy.resolve_tiers(
            wanted,
            pools=pools,
            scheduling={name: placement(pool, env.provider.spot_taint) for name, pool in pools.items()},
            price=lambda pool: _prices().pool(env.provider, pool),
        ),
    )
    return made


@cache
def _prices() -> Prices:
    return load_prices()
