"""What one process remembers of a job between two visits: it saves work and tells old from new, and can be lost."""

from dataclasses import dataclass, field

from spotproof.controller.policies import Policies
from spotproof.controller.preflight import Finding


@dataclass(slots=True)
class Memory:
    """Of one job.

    `policies` are those that the process has read, for all of its jobs. `accounted` are pods whose loss is part of an
    interruption that is over, `in_doubt` those of them whose record may not have been stored: the write went wrong.
    `left_early` are child Jobs that are complete by an eviction and whose pods do not show it any more: complete
    without them when the process began, or in somebody else's hands. `checked` are the versions of job and policy that
    `findings` are of.
    """

    uid: str
    policies: Policies
    accounted: set[str] = field(default_factory=set[str])
    in_doubt: set[str] = field(default_factory=set[str])
    left_early: frozenset[str] = frozenset()
    is_new: bool = True
    checked: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    told: tuple[str, ...] = ()
