"""What one process remembers of a job between two visits: it saves work and tells old from new, and can be lost."""

from dataclasses import dataclass, field
from typing import NamedTuple

from spotproof.controller.kinds import Object
from spotproof.controller.policies import Policies
from spotproof.controller.preflight import Finding


class Beside(NamedTuple):
    """The jobs that have something of a job's, and the uids of those that are managed, its own among them.

    `of` is what that was looked up for.
    """

    of: tuple[object, ...] = ()
    others: tuple[Object, ...] = ()
    managed: frozenset[str] = frozenset()


@dataclass(slots=True)
class Memory:
    """Of one job.

    `policies` are those that the process has read, for all of its jobs. `accounted` are pods whose loss is part of an
    interruption that is over, `in_doubt` those of them whose record may not have been stored: the write went wrong.
    `left_early` are child Jobs that are complete by an eviction and whose pods do not show it any more: complete
    without them when the process began, or in somebody else's hands. `checked` is what `findings` are of: versions of
    job and policy, and what is read of others. `written_at` is when its run was written last, by this process.
    """

    uid: str
    policies: Policies
    accounted: set[str] = field(default_factory=set[str])
    in_doubt: set[str] = field(default_factory=set[str])
    left_early: frozenset[str] = frozenset()
    is_new: bool = True
    written_at: float = 0.0
    checked: tuple[object, ...] = ()
    beside: Beside = field(default_factory=Beside)
    findings: tuple[Finding, ...] = ()
    told: tuple[str, ...] = ()
