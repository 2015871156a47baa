"""What plans are asked in tests: one spot tier beside on-demand, a job of hours, a made-up market."""

from typing import Any

from spotproof.economics.market import Bill
from spotproof.economics.plan import Request, Task
from spotproof.economics.random_market import Rate
from spotproof.economics.sources import Bought, MadeUp, Recorded, recorded
from spotproof.economics.traces import Trace, Window
from spotproof.fallback.policy import Policy, Tier

H = 3600
SPOT = Tier("spot", spot=True, usd=1.0, max_failures=3, pending_timeout=1800)
ON_DEMAND = Tier("on-demand", spot=False, usd=3.0)


def policy(**settings: Any) -> Policy:
    usual: dict[str, Any] = {"tiers": (SPOT, ON_DEMAND)}
    return Policy(**(usual | settings))


def task(**changes: Any) -> Task:
    usual: dict[str, Any] = {
        "work": 10 * H,
        "deadline": None,
        "restart": 720,
        "checkpoint_every": 1800,
        "checkpoint_write": 60,
    }
    return Task(**(usual | changes))


def bought(spot: float = 1.0, tiers: int = 1, on_demand: float = 3.0) -> Bought:
    return Bought(spot_usd=(spot,) * tiers, on_demand_usd=on_demand, bill=Bill.FIXED_AT_LAUNCH)


def made_up(rate: float = 0.3, outage: float = 1.5 * H, shape: float = 0.5, **changes: Any) -> MadeUp:
    usual: dict[str, Any] = {"bought": bought(), "seed": 0, "rate": Rate(rate, outage, shape), "end": 300 * H}
    return MadeUp(**(usual | changes))


def request(**changes: Any) -> Request:
    usual: dict[str, Any] = {
        "policy": policy(), "task": task(), "on_demand": ON_DEMAND, "source": made_up(), "runs": 20, "limits": {},
    }  # fmt: skip
    return Request(**(usual | changes))


def trace(capacity: str, gap: int = 600, name: str = "zone") -> Trace:
    return Trace(name, name, "gpu", gap, (Window(None, None, capacity),), whole=True)


def windows(*capacities: str, gap: int = 600, name: str = "zone") -> Trace:
    return Trace(name, name, "gpu", gap, tuple(Window(n, None, each) for n, each in enumerate(capacities)), whole=False)


def on_record(*traces: Trace, tiers: int = 1, horizon: int = 2 * H, needed: int = 2 * H) -> Recorded:
    return recorded(traces, bought(tiers=tiers), horizon=horizon, needed=needed, seed=0)
