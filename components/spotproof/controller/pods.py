"""What one pod, node or claim says of itself, in the words that are asked for."""

from collections.abc import Mapping
from typing import Final

from spotproof.controller.kinds import Object
from spotproof.fallback.record import parse_instant
from spotproof.fallback.run import Instant

ENDED: Final = frozenset({"Failed", "Succeeded"})
UNSCHEDULABLE: Final = "Unschedulable"


def condition(thing: Object, kind: str) -> Mapping[str, str]:
    """A condition of an object's status, or nothing."""
    for each in thing.get("status", {}).get("conditions", ()):
        if each["type"] == kind:
            return each
    return {}


def is_true(thing: Object, kind: str) -> bool:
    """Whether a condition holds."""
    return condition(thing, kind).get("status") == "True"


def is_leaving(thing: Object) -> bool:
    """Whether somebody has asked for its end."""
    return "deletionTimestamp" in thing["metadata"]


def node_of(pod: Object) -> str:
    """The node a pod is on; empty while it has none."""
    return pod["spec"].get("nodeName", "")


def has_ended(pod: Object) -> bool:
    """Whether its containers run no more."""
    return pod["status"].get("phase") in ENDED


def is_ready(pod: Object) -> bool:
    """Whether it runs, and is to stay."""
    return is_true(pod, "Ready") and not is_leaving(pod) and not has_ended(pod)


def is_disrupted(pod: Object) -> bool:
    """Whether it was evicted, preempted or lost with its node, as Kubernetes says."""
    return is_true(pod, "DisruptionTarget")


def disrupted_at(pod: Object) -> Instant | None:
    """When it was evicted, preempted or lost with its node; None where it was not, or does not say."""
    at = condition(pod, "DisruptionTarget").get("lastTransitionTime") if is_disrupted(pod) else None
    return parse_instant(at) if at else None


def ended_at(pod: Object) -> list[Instant]:
    """When its containers ended, those that did."""
    return [parse_instant(each["finishedAt"]) for each in pod["status"].get("ended", []) if each.get("finishedAt")]


def is_cut_short(pod: Object) -> bool:
    """Whether it was told to go and then ended with 0; a drain marks pods too whose work was done before."""
    if pod["status"].get("phase") != "Succeeded" or not (is_disrupted(pod) or is_leaving(pod)):
        return False
    asked, ended = _asked_to_go_at(pod), ended_at(pod)
    return asked is None or not ended or asked <= max(ended)


def _asked_to_go_at(pod: Object) -> Instant | None:
    """When it was evicted or deleted, whichever was first; a deleted one says when its grace ends."""
    times: list[Instant] = []
    if (evicted := disrupted_at(pod)) is not None:
        times.append(evicted)
    if is_leaving(pod):
        meta = pod["metadata"]
        times.append(parse_instant(meta["deletionTimestamp"]) - int(meta.get("deletionGracePeriodSeconds", 0)))
    return min(times, default=None)


def is_to_stay(pod: Object) -> bool:
    """Whether nothing has ended it, and nobody is about to."""
    return not has_ended(pod) and not is_leaving(pod) and not is_disrupted(pod)


def waits(pod: Object) -> bool:
    """Whether the scheduler finds no node for it; not so for a gate, a quota or an image."""
    scheduled = condition(pod, "PodScheduled")
    unschedulable = scheduled.get("status") == "False" and scheduled.get("reason") == UNSCHEDULABLE
    return unschedulable and not node_of(pod) and not is_leaving(pod) and not has_ended(pod)
