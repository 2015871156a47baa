"""What is kept for the last move to on-demand is as long as that move takes."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.fallback import FALLBACK_POLICY, deadline_mode
from spotproof_policies.fallback_costs import CHECKPOINT_WRITE_SECONDS, deadline_minutes, time
from spotproof_policies.model import Config, EachResource, Policy, Resource

# A machine in 2 to 4 min, set-up in 1 to 5: measured for GPU VMs by Wu et al., NSDI 2024.
_START_MINUTES: Final = 9


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield that a job which the guard moves at the last moment is late all the same."""
    mode = deadline_mode(resource)
    if mode not in {"guard", "pace"}:
        return
    restart, margin = deadline_minutes(resource, "restart"), deadline_minutes(resource, "margin")
    if restart is None or margin is None:
        return
    write = config["checkpointWriteSeconds"]
    kept, needed = (restart + margin) * 60, config["minimumMinutes"] * 60 + write
    if kept < needed:
        yield (
            f"The deadline mode is {mode}, and {time(kept)} are kept for the move to on-demand (restart "
            f"{time(restart * 60)}, margin {time(margin * 60)}); a machine and its set-up take up to "
            f"{time(config['minimumMinutes'] * 60)} and a checkpoint {time(write)}, so a job that is moved at the last "
            f"moment is late. Write a margin of {_whole(needed - restart * 60)}m or more, or the restart as it is."
        )


def _whole(seconds: float) -> int:
    return int(-(-seconds // 60))


POLICY = Policy(
    name="guards-leave-room-for-a-start",
    description="With a deadline, restart and margin together are no shorter than a start on on-demand takes.",
    level="advisory",
    severity="medium",
    remedy="Raise `fallbackPolicies[].deadline.margin`, or write `deadline.restart` as measured.",
    url="https://www.usenix.org/conference/nsdi24/presentation/wu-zhanghao",
    judges=EachResource((FALLBACK_POLICY,), check),
    config_schema={
        "minimumMinutes": {
            "type": "number",
            "minimum": 0,
            "default": _START_MINUTES,
            "description": "How long an on-demand node and the job's set-up take, in minutes.",
        },
        **CHECKPOINT_WRITE_SECONDS,
    },
)
