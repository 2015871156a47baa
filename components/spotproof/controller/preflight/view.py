"""What every rule of a preflight looks at: the job, its policy, and the other jobs of its namespace."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from spotproof.controller.kinds import Object
from spotproof.controller.preflight.finding import Finding
from spotproof.controller.templates import Template, moving, templates
from spotproof.fallback.policy import policy_of
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier
from spotproof.vocabulary import SPOT


@dataclass(frozen=True)
class View:
    """A job before it is managed, with what preflight() is handed; `known` are spot tiers of other policies."""

    job: Object
    policy: ResolvedPolicy
    others: Sequence[Object]
    managed: Collection[str] = frozenset()
    known: Sequence[ResolvedTier] = ()

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its spec."""
        return self.job.get("spec", {})

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.job["metadata"].get("labels") or {}

    @property
    def evictions(self) -> int:
        """How many evictions the policy tolerates until it has no more to say; of a tier without a limit none."""
        return sum(map(_until_spent, self.policy.tiers))

    @property
    def is_endless(self) -> bool:
        """Whether no number of evictions is the last that the policy tolerates.

        A spot tier has no limit, or its limit is for a window of time, or the job comes back to it by itself, where it
        counts afresh: by `return`, and with deadline mode pace while there is time to spare.
        """
        spot = [tier for tier in self.policy.tiers if tier.capacity == SPOT]
        policy = self.policy
        again = policy.failure_window is not None or policy.return_ is not None or policy.deadline.mode == "pace"
        return any(tier.max_failures < 0 or again for tier in spot)

    @property
    def errors(self) -> int:
        """How many errors move the job, once down the list: none where they do not count.

        Each tier counts for itself, whatever its price (history.moved): the job goes on with error M + 1 of one on the
        next, and is moved by no count from the last one it can come to, of equal tiers any.
        """
        if not self.policy.count_errors:
            return 0
        rule = policy_of(self.policy)
        last = rule.tiers[-1]
        ends = {last.pool, *(each.pool for each in rule.equals[last.pool])}
        return self.evictions - min(_until_spent(tier) for tier in self.policy.tiers if tier.pool in ends)

    @cached_property
    def spot(self) -> tuple[ResolvedTier, ...]:
        """Tiers that are known to be reclaimed: of its own policy, and of others those that its own has not."""
        own = {tier.pool for tier in self.policy.tiers}
        tiers = (*self.policy.tiers, *(tier for tier in self.known if tier.pool not in own))
        return tuple(tier for tier in tiers if tier.capacity == SPOT)

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """All its pod templates."""
        return templates(self.job)

    @cached_property
    def moving(self) -> tuple[Template, ...]:
        """Those that select a tier."""
        return moving(self.job, self.policy)


def _until_spent(tier: ResolvedTier) -> int:
    """Failures after which a tier is used up; 0 for one that no count uses up."""
    return max(tier.max_failures + 1, 0)


Rule: TypeAlias = Callable[[View], Iterator[Finding]]
"""What one rule has to say of a job."""


def label_field(key: str) -> str:
    """A label of the job, as Kubernetes writes its path."""
    return f"metadata.labels['{key}']"


def annotation_field(key: str) -> str:
    """An annotation of the job."""
    return f"metadata.annotations['{key}']"


def enumerated(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
