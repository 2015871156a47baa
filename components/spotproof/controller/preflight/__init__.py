"""Preflight. (Replaced by the branch `checks`.)"""

from collections.abc import Sequence
from typing import NamedTuple

from spotproof.controller.kinds import Object
from spotproof.fallback.resolved import ResolvedPolicy


class Finding(NamedTuple):
    """One thing that would make a later move impossible."""

    code: str
    field: str
    message: str
    remedy: str
    refuses: bool = True


def preflight(job: Object, policy: ResolvedPolicy, others: Sequence[Object]) -> tuple[Finding, ...]:
    """Everything found."""
    return ()
