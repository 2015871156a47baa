"""The pod templates of a job of any kind, and which tier they select.

A template moves if its nodeSelector has a tier's labels; heads, submitters and roles that select something else stay.
"""

from collections.abc import Sequence

from spotproof.controller.jobs import JOBS
from spotproof.controller.jobs.template import Template
from spotproof.controller.kinds import Object
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier

__all__ = ["Template", "moving", "selects", "templates", "tiers_of"]


def templates(job: Object) -> tuple[Template, ...]:
    """All pod templates of a job, in the order of its spec."""
    return tuple(JOBS[job["kind"]].templates(job.get("spec", {})))


def selects(template: Template, tier: ResolvedTier) -> bool:
    """Whether the template's pods land on a tier: it has all of the tier's labels."""
    return all(template.selector.get(key) == value for key, value in tier.node_selector.items())


def moving(job: Object, policy: ResolvedPolicy) -> tuple[Template, ...]:
    """The templates that move: those that select a tier of the policy."""
    return tuple(
        each for each in templates(job) if not each.stays and any(selects(each, tier) for tier in policy.tiers)
    )


def tiers_of(job: Object, policy: ResolvedPolicy) -> Sequence[str]:
    """The tiers that the moving templates select, each once; more than one where somebody has mixed them."""
    found = {
        tier.pool: None for each in templates(job) if not each.stays for tier in policy.tiers if selects(each, tier)
    }
    return tuple(found)
