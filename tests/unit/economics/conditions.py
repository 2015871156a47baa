"""Jobs for the tests of the cost model, and hypothesis' range of them."""

from hypothesis import strategies as st

from spotproof.economics.checkpoints import Cycle
from spotproof.economics.model import Conditions

HOUR = 3600


def conditions(**changed: float) -> Conditions:
    """48 h at a third of the price, a restart of 12 min, checkpoints of 1 min every 30 min, an eviction in 4 h."""
    cycle = Cycle(changed.pop("every", 1800), changed.pop("write", 60), changed.pop("restart", 720))
    work = changed.pop("hours", 48) * HOUR
    known = {"on_demand_usd": 1.0, "spot_share": 0.33, "evictions_per_hour": 0.25}
    return Conditions(work_seconds=work, cycle=cycle, **{**known, **changed})  # pyright: ignore[reportArgumentType]


def hours(low: float, high: float) -> st.SearchStrategy[float]:
    """Times in seconds, drawn in hours."""
    return st.floats(low, high).map(lambda value: value * HOUR)


CYCLES = st.builds(Cycle, every=hours(0.05, 3), write=st.floats(0, 300), restart=hours(0, 1))
ANY = st.builds(
    Conditions,
    work_seconds=hours(1, 100),
    on_demand_usd=st.floats(0.1, 100),
    spot_share=st.floats(0.05, 1),
    evictions_per_hour=st.floats(0.01, 5),
    cycle=CYCLES,
    max_failures=st.integers(-1, 30),
)
"""Without outages: nothing but evictions, restarts and lost work."""
