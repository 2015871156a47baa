"""Checkpoints are written about as often as evictions and the write time ask for."""

from collections.abc import Iterator
from typing import Final

from spotproof.economics.checkpoints import recommended_interval
from spotproof_policies.fallback import FALLBACK_POLICY
from spotproof_policies.fallback_costs import (
    CHECKPOINT_WRITE_SECONDS,
    EVICTIONS_PER_HOUR,
    cycle,
    percent,
    spot_tiers,
    time,
)
from spotproof_policies.model import Config, EachResource, Policy, Resource

_WORTH_SAYING: Final = 1.1
"""Running time against that of the best interval. The optimum is flat: half and twice of it cost 1 to 6 %."""
_LARGE_WRITE: Final = 0.2


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield that the interval between two checkpoints makes jobs on spot much slower than another would."""
    repeated = cycle(resource, config)
    if not repeated or not spot_tiers(resource):
        return
    hourly = config["evictionsPerHour"]
    best = repeated._replace(every=recommended_interval(repeated.write, hourly))
    now, then = repeated.slowdown(hourly), best.slowdown(hourly)
    written = f"The interval checkpointEvery is {time(repeated.every)} and a checkpoint takes {time(repeated.write)}"
    if now > _WORTH_SAYING * then:
        yield (
            f"{written}, so at {hourly:g} evictions an hour an hour of work takes {now:.2f} h on spot; with "
            f"{time(best.every)} it would take {then:.2f} h. Write checkpoints every {time(best.every)}, and the same "
            "into checkpointEvery."
        )
    elif repeated.write > _LARGE_WRITE * repeated.every:
        yield (
            f"{written}, so every tier, on-demand too, pays {percent(repeated.overhead - 1)} more for an hour of work. "
            "Save in the background, or less often."
        )


POLICY = Policy(
    name="checkpoint-intervals-suit-the-market",
    description="The checkpoint interval costs at most a tenth more running time than the best one (Daly 2006).",
    level="advisory",
    severity="low",
    remedy="Write the sentence's interval into the job and into `fallbackPolicies[].deadline.checkpointEvery`.",
    url="docs/how-to/choose-max-failures.md",
    judges=EachResource((FALLBACK_POLICY,), check),
    config_schema={**EVICTIONS_PER_HOUR, **CHECKPOINT_WRITE_SECONDS},
)
