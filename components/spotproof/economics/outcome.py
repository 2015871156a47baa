"""What one simulated run came to."""

from typing import NamedTuple


class Job(NamedTuple):
    """What is to be done, in whole seconds, and what it is bought for, in USD per node hour.

    `changeover` is what every start costs before the job trains again: machine, set-up, and the work lost.
    """

    work: int
    deadline: int
    changeover: int
    on_demand_usd: float
    spot_usd: tuple[float, ...]
    """One price a spot tier, in the order of the tiers."""
    nodes: int = 1
    checkpoint_every: int = 0
    """What an attempt's work is rounded down to when it ends; 0 where `changeover` has the lost work in it."""
    held: int = 0
    """Nodes that are kept and billed while the job waits on the tier that it was evicted from."""
    probe: int = 0
    """What a probe is billed for, in seconds of one node."""


class Attempt(NamedTuple):
    """One continuous run on one tier, in seconds from the job's creation."""

    pool: str
    start: int
    end: int


class Outcome(NamedTuple):
    """One run; seconds count from the moment the job was made.

    `finish` is the end of the last second that was billed, None where the market's record ended first. A run without a
    finish counts as late.
    """

    usd: float
    finish: int | None
    evictions: int
    starts: int
    spot: int
    on_demand: int

    def late(self, deadline: int) -> bool:
        """Whether the run was not done in time, in seconds from its creation."""
        return self.finish is None or self.finish > deadline
