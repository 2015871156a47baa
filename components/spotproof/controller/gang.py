"""A job's pods as one gang: whole, being placed, waiting, and what of it is lost."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from spotproof.controller.jobs.contract import JobKind
from spotproof.controller.kinds import Object
from spotproof.controller.pods import (
    condition,
    has_ended,
    is_cut_short,
    is_leaving,
    is_ready,
    is_to_stay,
    is_true,
    node_of,
    waits,
)
from spotproof.fallback.record import parse_instant
from spotproof.fallback.resolved import ResolvedTier
from spotproof.fallback.run import Instant

SUCCESS_POLICY: Final = "SuccessPolicy"
"""Why a Job is complete that ends its other pods once those that its successPolicy names have done their work."""


def is_on(pod: Object, tier: ResolvedTier) -> bool:
    """Whether a pod selects the tier."""
    selector = pod["spec"].get("nodeSelector") or {}
    return all(selector.get(key) == value for key, value in tier.node_selector.items())


def under_way(kind: JobKind, job: Object, pods: Iterable[Object]) -> list[Object]:
    """Those of a job's pods that are of its newest attempt, and are to stay."""
    attempt, born = _newest_attempt(kind, job), job["metadata"]["creationTimestamp"]
    return [
        pod
        for pod in pods
        if kind.attempt_of(pod) == attempt and is_to_stay(pod) and pod["metadata"]["creationTimestamp"] >= born
    ]


def _newest_attempt(kind: JobKind, job: Object) -> str | None:
    """None where it is about to be made: the one before is over, though its pods may still look whole."""
    state = kind.state(job)
    return None if state.retrying else state.attempt


def tiers_selected(
    kind: JobKind, job: Object, pods: Iterable[Object], tiers: Iterable[ResolvedTier]
) -> list[ResolvedTier]:
    """The tiers that pods of a job's newest attempt select, heads and roles that stay left out."""
    moving = [pod for pod in under_way(kind, job, pods) if not kind.stays(pod)]
    return [tier for tier in tiers if any(is_on(pod, tier) for pod in moving)]


@dataclass(frozen=True)
class Gang:
    """The newest attempt's pods, and older ones that are not gone. What is asked of it is asked ten times a look."""

    size: int
    pods: tuple[Object, ...]
    """Of the newest attempt."""
    finished: tuple[Object, ...]
    """Those of them that have done their work."""
    older: tuple[Object, ...]
    gone: tuple[Object, ...]
    """Those that left the cluster and have not been accounted for."""
    waiting: tuple[Object, ...]
    """Those that find no node of their tier."""
    left_early: frozenset[str] = frozenset()
    """Uids of child Jobs that are complete because a pod of theirs was evicted and ended with 0."""
    left_early_at: Instant | None = None
    """When the first of them was complete."""
    done_at: Instant = 0
    """When the last of the other child Jobs that are complete was."""
    staying: frozenset[str] = frozenset()
    """Uids of pods that select another pool than the tier's, as the head of a Ray cluster does."""

    @cached_property
    def alive(self) -> tuple[Object, ...]:
        """Those that are to stay."""
        return tuple(pod for pod in self.pods if not has_ended(pod) and not is_leaving(pod))

    @cached_property
    def is_placed(self) -> bool:
        """Whether every pod has a node."""
        return len(self.alive) >= self.size and all(node_of(pod) for pod in self.alive)

    @cached_property
    def is_whole(self) -> bool:
        """Whether every pod is ready. One that has done its work counts as there."""
        ready = sum(map(is_ready, self.pods))
        return bool(ready) and ready + len(self.finished) >= self.size

    @cached_property
    def made_until(self) -> Instant:
        """When the newest of its pods was made, by the API server's clock."""
        return max((parse_instant(pod["metadata"]["creationTimestamp"]) for pod in self.pods), default=0)

    @cached_property
    def is_missing_pods(self) -> bool:
        """Whether fewer pods are there, or have done their work, than the gang has."""
        return len(self.alive) + len(self.finished) < self.size

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Nodes of its tier that are held for it: a Ray job whose head alone has a node holds none."""
        there = (pod for pod in (*self.pods, *self.older) if node_of(pod) and not has_ended(pod))
        return frozenset(node_of(pod) for pod in there if pod["metadata"]["uid"] not in self.staying)

    @cached_property
    def outlived(self) -> frozenset[str]:
        """Nodes that it is whole on: what was lost before was not lost with one of them.

        An error whose retry had come to the node of the failed pod was an eviction, and the next loss one more, where
        the node began to go in the second in which the gang was whole.
        """
        return frozenset(map(node_of, self.alive)) if self.is_whole else frozenset()

    @cached_property
    def lost(self) -> tuple[Object, ...]:
        """Pods that had a node and are ended, ending or gone, whichever attempt they are of."""
        there = [pod for pod in (*self.pods, *self.older) if _is_lost(pod)]
        known = {pod["metadata"]["uid"] for pod in there}
        return (*there, *(pod for pod in self.gone if node_of(pod) and pod["metadata"]["uid"] not in known))

    @cached_property
    def waiting_since(self) -> Instant | None:
        """Since when the first of them finds no node."""
        times = [condition(pod, "PodScheduled").get("lastTransitionTime") for pod in self.waiting]
        return min((parse_instant(each) for each in times if each), default=None)


def _is_lost(pod: Object) -> bool:
    if not node_of(pod):
        return False
    phase = pod["status"].get("phase")
    return phase == "Failed" or is_leaving(pod) or is_cut_short(pod)


def _has_finished(pod: Object) -> bool:
    return _has_done_its_work(pod) and not is_leaving(pod)


def _has_done_its_work(pod: Object) -> bool:
    return pod["status"].get("phase") == "Succeeded" and not is_cut_short(pod)


def gang(  # noqa: PLR0913 - what a gang is made of
    kind: JobKind,
    job: Object,
    pods: Iterable[Object],
    gone: Iterable[Object],
    tier: ResolvedTier | None,
    *,
    children: Iterable[Object] = (),
    left_early: frozenset[str] = frozenset(),
) -> Gang:
    """A job's gang.

    Args:
        kind: The job's kind.
        job: The job.
        pods: Its pods as they are.
        gone: Pods that left and are not accounted for.
        tier: The tier it is on; None where the policy has it no more.
        children: Its child Jobs; one that is complete has done its part, whether its pods are still there or not,
            unless one of them had been evicted, or went before anybody saw it end.
        left_early: Child Jobs of which that is known already.
    """
    attempt, born = _newest_attempt(kind, job), job["metadata"]["creationTimestamp"]
    pods, gone = tuple(pods), tuple(gone)
    complete = {each["metadata"]["uid"]: each for each in children if is_true(each, "Complete")}
    found = cut_short((*pods, *gone)) | _completed_unseen(complete, gone)
    left_early = (left_early | found) & complete.keys()
    done = {uid: each for uid, each in complete.items() if uid not in left_early}
    # a job that was deleted and made again has the pods of its namesake for a while
    here = tuple(pod for pod in pods if pod["metadata"]["creationTimestamp"] >= born and not _is_of(pod, done))
    newest = tuple(pod for pod in here if kind.attempt_of(pod) == attempt)
    return Gang(
        size=kind.size(job) - sum(int(each["spec"].get("completions", 1)) for each in done.values()),
        pods=newest,
        finished=() if kind.replaces_alone else tuple(filter(_has_finished, newest)),
        older=tuple(pod for pod in here if kind.attempt_of(pod) != attempt),
        gone=tuple(pod for pod in gone if pod["metadata"]["creationTimestamp"] >= born and not _has_done_its_work(pod)),
        waiting=tuple(pod for pod in here if waits(pod) and (tier is None or is_on(pod, tier))),
        left_early=left_early,
        left_early_at=min((_completed_at(complete[uid]) for uid in left_early), default=None),
        done_at=max(map(_completed_at, done.values()), default=0),
        staying=frozenset(pod["metadata"]["uid"] for pod in here if tier is not None and not is_on(pod, tier)),
    )


def cut_short(pods: Iterable[Object]) -> frozenset[str]:
    """Uids of the owners of pods that were told to go and ended with 0: no work was done by that."""
    return frozenset(owners(filter(is_cut_short, pods)))


def complete_without_pods(children: Iterable[Object], pods: Iterable[Object], after: Instant) -> frozenset[str]:
    """Uids of child Jobs that are complete after an instant, by pods that are not there.

    One that has done its work stays until somebody takes its node away, PodGC 40 s after that, or its Job goes; an
    evicted one is deleted as soon as it has ended.
    """
    there = owners(filter(_has_done_its_work, pods))
    return frozenset(
        uid
        for each in children
        if (uid := each["metadata"]["uid"])
        and is_true(each, "Complete")
        and _completed_at(each) > after
        and _needed_all_pods(each)
        and not is_leaving(each)
        and there[uid] < int(each["spec"].get("completions", 1))
    )


def _completed_unseen(complete: Mapping[str, Object], gone: Iterable[Object]) -> set[str]:
    """Of a watch that lost its place the last news of a pod may be that it runs."""
    running = owners(pod for pod in gone if not has_ended(pod))
    return {uid for uid in running.keys() & complete.keys() if _needed_all_pods(complete[uid])}


def _needed_all_pods(child: Object) -> bool:
    return condition(child, "Complete").get("reason") != SUCCESS_POLICY


def _completed_at(child: Object) -> Instant:
    return parse_instant(condition(child, "Complete")["lastTransitionTime"])


def owners(pods: Iterable[Object]) -> Counter[str]:
    """How many of the pods each owner has, by its uid."""
    return Counter(uid for pod in pods for uid in _owners(pod))


def _is_of(pod: Object, jobs: Container[str]) -> bool:
    return any(uid in jobs for uid in _owners(pod))


def _owners(pod: Object) -> list[str]:
    return [owner["uid"] for owner in pod["metadata"].get("ownerReferences", [])]
