"""What a NodeClaim of Karpenter says of its pool: that a node is coming, or that there was no room."""

from typing import Final

from spotproof.controller.kinds import Object
from spotproof.controller.pods import condition, is_leaving, is_true
from spotproof.vocabulary import POOL_LABEL

NOT_TRIED: Final = "AwaitingReconciliation"
"""Reason of a condition that Karpenter has not looked at yet."""


def pool_of(claim: Object) -> str:
    """The pool that it is of; empty where it is none of ours."""
    return (claim["metadata"].get("labels") or {}).get(POOL_LABEL, "")


def is_coming(claim: Object) -> bool:
    """Whether it is no node yet, and is to be."""
    return not is_true(claim, "Initialized") and not is_leaving(claim)


def came_to_nothing(claim: Object) -> bool:
    """Whether one that is gone was never launched."""
    return not is_true(claim, "Launched")


def is_refused(claim: Object) -> bool:
    """Whether it could not be launched, and says why."""
    launched = condition(claim, "Launched")
    return launched.get("status") in {"False", "Unknown"} and launched.get("reason") != NOT_TRIED
