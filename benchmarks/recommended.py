"""Counts, timeouts and returns under the guard, for whoever does not leave the deadline to `pace`."""

from statistics import fmean
from typing import Final, NamedTuple

from benchmarks.markets import Cores, Development, Task, saved
from benchmarks.pages import table
from benchmarks.reference import CELLS
from spotproof.economics.replay import Ours
from spotproof.fallback.policy import Mode, Policy, Tier

HOUR: Final = 3600
THIN: Final = 12
"""Of the runs: every twelfth."""
PROBE_COST: Final = 600
"""What a node costs that was got and given back: a launch until it could be used, in seconds."""


class Setting(NamedTuple):
    """A policy of one spot tier and on-demand; times in seconds, None for no window and for no return."""

    max_failures: int
    window: int | None
    pending_timeout: int
    min_stay: int | None
    mode: Mode = "guard"


SETTINGS: Final = (
    Setting(3, None, HOUR // 2, None),
    Setting(5, None, HOUR, None),
    Setting(10, 6 * HOUR, HOUR, None),
    Setting(-1, None, HOUR, None),
    Setting(5, None, HOUR, 2 * HOUR),
    Setting(10, 6 * HOUR, HOUR, 2 * HOUR),
    Setting(-1, None, HOUR, 2 * HOUR),
    Setting(10, 6 * HOUR, HOUR // 2, 2 * HOUR),
    Setting(10, 6 * HOUR, 2 * HOUR, 2 * HOUR),
    Setting(10, 6 * HOUR, HOUR, HOUR),
    Setting(10, 6 * HOUR, HOUR, 4 * HOUR),
    Setting(10, 6 * HOUR, HOUR, 2 * HOUR, "pace"),
)


def _task(setting: Setting, market: Development) -> Task:
    one = market.job._replace(probe=PROBE_COST)
    (usd,) = one.spot_usd
    spot = Tier("spot", spot=True, usd=usd, max_failures=setting.max_failures, pending_timeout=setting.pending_timeout)
    policy = Policy(
        tiers=(spot, Tier("on-demand", spot=False, usd=one.on_demand_usd)),
        failure_window=setting.window,
        min_stay=setting.min_stay,
        mode=setting.mode,
        restart=one.changeover,
        checkpoint_every=0,
        margin=0,
    )
    return Task(Ours(policy), one, market)


def recommended(cores: Cores) -> str:
    """Percent saved, the mean of the 11 cells, with probes every 30 min that cost 10 min of a node."""
    markets = [Development(number, THIN) for number in range(len(CELLS))]
    found = cores.summaries([_task(setting, each) for setting in SETTINGS for each in markets])
    lines: list[list[object]] = []
    for place, setting in enumerate(SETTINGS):
        those = found[place * len(markets) : (place + 1) * len(markets)]
        starts = fmean(each.evictions for found_ in those for each in found_)
        late = sum(each.late for found_ in those for each in found_)
        lines.append([*_words(setting), fmean(saved(each) for each in those), starts, late])
    head = ("mode", "maxFailures", "failureWindow", "pendingTimeout", "minStay", "saved %", "evictions", "late")
    return table(head, lines)


def _words(setting: Setting) -> list[str]:
    def time(seconds: int | None) -> str:
        return "none" if seconds is None else f"{seconds // HOUR}h" if seconds % HOUR == 0 else f"{seconds // 60}m"

    times = (setting.window, setting.pending_timeout, setting.min_stay)
    return [setting.mode, str(setting.max_failures), *map(time, times)]
