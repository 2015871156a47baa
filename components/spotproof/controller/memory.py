"""What one process remembers of a job between two visits: it saves work and tells old from new, and can be lost."""

from dataclasses import dataclass, field

from spotproof.controller.preflight import Finding
from spotproof.fallback.resolved import ResolvedPolicy


@dataclass
class Memory:
    """Of one job.

    `policy` is what was read of a version of its policy. `accounted` are pods whose loss is part of an interruption
    that is over. `checked` are the versions of job and policy that `findings` are of.
    """

    uid: str
    accounted: set[str] = field(default_factory=set[str])
    is_new: bool = True
    policy: tuple[str, ResolvedPolicy] | None = None
    checked: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    told: tuple[str, ...] = ()
