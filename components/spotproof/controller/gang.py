"""A job's pods as one gang: whole, being placed, waiting, and what of it is lost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.kinds import Object
from spotproof.fallback.record import parse_instant
from spotproof.fallback.resolved import ResolvedTier
from spotproof.fallback.run import Instant

ENDED: Final = frozenset({"Failed", "Succeeded"})
UNSCHEDULABLE: Final = "Unschedulable"


def condition(thing: Object, kind: str) -> Mapping[str, str]:
    """A condition of an object's status, or nothing."""
    return next((each for each in thing.get("status", {}).get("conditions", []) if each["type"] == kind), {})


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


def waits(pod: Object) -> bool:
    """Whether the scheduler finds no node for it; not so for a gate, a quota or an image."""
    scheduled = condition(pod, "PodScheduled")
    unschedulable = scheduled.get("status") == "False" and scheduled.get("reason") == UNSCHEDULABLE
    return unschedulable and not node_of(pod) and not is_leaving(pod) and not has_ended(pod)


def is_on(pod: Object, tier: ResolvedTier) -> bool:
    """Whether a pod selects the tier."""
    selector = pod["spec"].get("nodeSelector") or {}
    return all(selector.get(key) == value for key, value in tier.node_selector.items())


@dataclass(frozen=True)
class Gang:
    """The newest attempt's pods, and older ones that are not gone."""

    size: int
    pods: tuple[Object, ...]
    """Of the newest attempt."""
    older: tuple[Object, ...]
    gone: tuple[Object, ...]
    """Those that left the cluster and have not been accounted for."""
    waiting: tuple[Object, ...]
    """Those that find no node of their tier."""

    @property
    def alive(self) -> tuple[Object, ...]:
        """Those that are to stay."""
        return tuple(pod for pod in self.pods if not has_ended(pod) and not is_leaving(pod))

    @property
    def is_placed(self) -> bool:
        """Whether every pod has a node."""
        return len(self.alive) >= self.size and all(node_of(pod) for pod in self.alive)

    @property
    def is_whole(self) -> bool:
        """Whether every pod is ready. One that has done its work counts as there."""
        done = [pod for pod in self.pods if pod["status"].get("phase") == "Succeeded" and not is_disrupted(pod)]
        ready = sum(map(is_ready, self.pods))
        return bool(ready) and ready + len(done) >= self.size

    @property
    def is_missing_pods(self) -> bool:
        """Whether fewer pods are there, or have done their work, than the gang has."""
        done = sum(pod["status"].get("phase") == "Succeeded" for pod in self.pods if not is_disrupted(pod))
        return len(self.alive) + done < self.size

    @property
    def nodes(self) -> frozenset[str]:
        """Nodes that are held for it."""
        return frozenset(node_of(pod) for pod in (*self.pods, *self.older) if node_of(pod) and not has_ended(pod))

    @property
    def lost(self) -> tuple[Object, ...]:
        """Pods that had a node and are ended, ending or gone, whichever attempt they are of."""
        there = [pod for pod in (*self.pods, *self.older) if _is_lost(pod)]
        known = {pod["metadata"]["uid"] for pod in there}
        return (*there, *(pod for pod in self.gone if node_of(pod) and pod["metadata"]["uid"] not in known))

    @property
    def waiting_since(self) -> Instant | None:
        """Since when the first of them finds no node."""
        times = [condition(pod, "PodScheduled").get("lastTransitionTime") for pod in self.waiting]
        return min((parse_instant(each) for each in times if each), default=None)


def _is_lost(pod: Object) -> bool:
    if not node_of(pod):
        return False
    phase = pod["status"].get("phase")
    return phase == "Failed" or is_leaving(pod) or (phase == "Succeeded" and is_disrupted(pod))


def gang(kind: JobKind, job: Object, pods: Iterable[Object], gone: Iterable[Object], tier: ResolvedTier | None) -> Gang:
    """A job's gang.

    Args:
        kind: The job's kind.
        job: The job.
        pods: Its pods as they are.
        gone: Pods that left and are not accounted for.
        tier: The tier it is on; None where the policy has it no more.
    """
    attempt = kind.state(job).attempt
    here = tuple(pods)
    return Gang(
        size=kind.size(job),
        pods=tuple(pod for pod in here if kind.attempt_of(pod) == attempt),
        older=tuple(pod for pod in here if kind.attempt_of(pod) != attempt),
        gone=tuple(gone),
        waiting=tuple(pod for pod in here if waits(pod) and (tier is None or is_on(pod, tier))),
    )
