"""Reads FallbackPolicy objects: tiers, their capacity, and the deadline."""

from collections.abc import Mapping
from typing import Any, Final

from spotproof.vocabulary import SPOT
from spotproof_policies.model import Resource
from spotproof_policies.reading import at, number, rows, table, text

FALLBACK_POLICY: Final = "kubernetes:spotproof.dev/v1alpha1:FallbackPolicy"

NEVER: Final = -1
"""As `maxFailures`: failures never move a job, Ray's and JobSet's meaning."""


def tiers(resource: Resource) -> tuple[Mapping[str, Any], ...]:
    """The tiers in the order of the policy."""
    return tuple(table(tier) for tier in rows(at(resource.props, "spec", "tiers")))


def pool(tier: Mapping[str, Any]) -> str:
    """The pool's name, as the user wrote it."""
    return text(at(tier, "pool")) or "without a name"


def is_spot(tier: Mapping[str, Any]) -> bool:
    """Whether the tier's nodes may be reclaimed."""
    return at(tier, "capacity") == SPOT


def waits_for_ever(tier: Mapping[str, Any]) -> bool:
    """Whether no number of failures ends the stay on this tier."""
    return number(at(tier, "maxFailures")) == NEVER


def deadline_mode(resource: Resource) -> str:
    """`off`, `guard` or `pace`; a policy without a deadline is off."""
    return text(at(resource.props, "spec", "deadline", "mode")) or "off"
