"""An attempt on spot lives long enough to restart, and to save something."""

from collections.abc import Iterator
from typing import Final

from spotproof.economics.break_even import chance_to_save
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

_HALF: Final = 0.5


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield why most of the time on spot would go to restarts and lost work."""
    repeated = cycle(resource, config)
    if not repeated or not spot_tiers(resource):
        return
    hourly = config["evictionsPerHour"]
    rate = hourly / 3600
    to_the_first = repeated.restart + repeated.every + repeated.write
    overhead = rate * repeated.lost
    if rate * to_the_first > 1:
        yield (
            f"A job needs {time(to_the_first)} from an eviction to its next checkpoint (restart "
            f"{time(repeated.restart)}, checkpointEvery {time(repeated.every)}), and at {hourly:g} evictions an hour "
            f"it is evicted every {time(1 / rate)}, so only {percent(chance_to_save(hourly, repeated))} of its "
            "attempts on spot save anything. Write checkpoints more often, or shorten the restart."
        )
    elif overhead > _HALF:
        yield (
            f"At {hourly:g} evictions an hour a job loses {time(3600 * overhead)} of every hour on spot: each eviction "
            f"costs a restart of {time(repeated.restart)} and half of the {time(repeated.every)} between two "
            f"checkpoints, which is {time(repeated.lost)}. Write checkpoints more often, or shorten the restart."
        )


POLICY = Policy(
    name="attempts-save-their-work",
    description="Evictions leave a job half of its time on spot, and time for a checkpoint between two of them.",
    level="advisory",
    severity="high",
    remedy="Lower `fallbackPolicies[].deadline.checkpointEvery` (and the job's own interval), or what a restart takes.",
    url="docs/how-to/choose-max-failures.md",
    judges=EachResource((FALLBACK_POLICY,), check),
    config_schema={**EVICTIONS_PER_HOUR, **CHECKPOINT_WRITE_SECONDS},
)
