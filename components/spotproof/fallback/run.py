"""What the rule is told of a job, and what it answers. Instants and durations are whole seconds of one clock.

Named tuples, because the simulator makes millions of them: a frozen dataclass takes three times as long to make.
"""

import enum
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from spotproof.fallback.reasons import Reason

Instant = int
"""Whole seconds since an epoch that every instant of a run shares."""

NEVER: Final[Instant] = 1 << 62
"""As `next_at`: only a new observation can change the answer."""

EVICTION: Final = "eviction"
ERROR: Final = "error"


class Phase(enum.Enum):
    """Where the whole gang is."""

    WAITING = "waiting"
    """It has no place on its tier."""
    RUNNING = "running"
    """It has one, whether it restarts there or trains already."""


class Failure(NamedTuple):
    """One interruption of the gang, however many pods it took."""

    at: Instant
    pool: str
    kind: Literal["eviction", "error"] = EVICTION


class Sight(NamedTuple):
    """What is known of one tier.

    `there` is its newest answer. `up` and `down` are when it was last seen with and without capacity; a change that
    was seen as it happened sets both to the moment of the change, one between two questions is put at the middle.
    `asking` is whether it was asked, at `asked`, and has not answered yet: `there` is then of before.
    """

    there: bool = False
    up: Instant | None = None
    down: Instant | None = None
    asked: Instant | None = None
    asking: bool = False


class Observation(NamedTuple):
    """What the job and its tiers look like now.

    `progress` is the work in the newest complete checkpoint, in seconds, None where the job does not report it.
    `tick` is how long an answer binds before the next can be given: 1 where it can be given at any second.
    """

    tier: str
    phase: Phase
    since: Instant
    sights: Mapping[str, Sight]
    nodes_held: int = 0
    progress: int | None = None
    tick: int = 1


class RunState(NamedTuple):
    """What the job has lived through, as its TrainingRun keeps it: with it a new process decides as the old one would.

    `failures` are those since the job came to the tiers of its present price. `waited` are the pools of the
    present price that the job has left since it last ran. `done` is the work, in seconds, that attempts which have
    ended are taken to have saved. `work` and `deadline` are None for a job that does not name them. `restart_seen` is
    the 90th percentile of its restarts so far, `nodes` the size of its gang.
    """

    created: Instant
    arrived: Instant
    failures: tuple[Failure, ...] = ()
    waited: tuple[str, ...] = ()
    moves: tuple[Instant, ...] = ()
    done: int = 0
    work: int | None = None
    deadline: Instant | None = None
    restart_seen: int = 0
    nodes: int = 1


class Action(enum.Enum):
    """What to do now."""

    STAY = "stay"
    """Go on running here."""
    WAIT = "wait"
    """Go on waiting for a place here."""
    MOVE = "move"
    """Take the whole job to `tier`."""
    ASK = "ask"
    """Probe `tier`, note that it was asked, and decide again."""


class Decision(NamedTuple):
    """One move, why, and the first instant at which the answer could change without a new observation."""

    action: Action
    tier: str
    reason: Reason
    next_at: Instant = NEVER
