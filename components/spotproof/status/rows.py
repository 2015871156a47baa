"""One row a managed job: what its TrainingRun says, in the words that are printed."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from spotproof.controller.kinds import RUN, Kind
from spotproof.controller.relations import MANAGED
from spotproof.controller.said import PATTERNS, said, said_first
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.run import Instant
from spotproof.status.conditions import TOLD, troubles
from spotproof.status.jobs import has_ended
from spotproof.status.pods import Pods
from spotproof.status.reading import Object, instant, name_of, text
from spotproof.status.salvage import Run, read_run
from spotproof.status.world import World
from spotproof.vocabulary import FALLBACK_POLICY_LABEL

UNSEEN: Final = "NotSeen"
"""In place of a phase, for a job that names a policy and has no TrainingRun."""
REFUSED: Final = "Refused"
ENDED: Final = frozenset({"Succeeded", "Failed"})
OPENS: Final = re.compile(r"[\[{]")
"""Where a pattern's text goes on with what the message held."""
PLACING: Final = frozenset({"Pending", "Waiting", "Restarting"})
"""Phases in which pods may be without a node."""


class Row(NamedTuple):
    """One job. `since` is when it came into this phase, as far as is known; `unread` and `trouble` are looked for."""

    namespace: str
    name: str
    kind: str
    policy: str
    phase: str
    tier: str = ""
    attempt: int = 0
    evictions: int = 0
    errors: int = 0
    since: Instant | None = None
    waits_for: str = ""
    reason: str = ""
    message: str = ""
    next_decision: Instant | None = None
    nodes_held: int = 0
    trouble: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.phase in ENDED

    @property
    def place(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


def rows(world: World) -> tuple[Row, ...]:
    """All jobs that name a policy: those that go on first, then those that are over, each by namespace and name."""
    pods = Pods(world)
    runs = [(read_run(thing), thing) for thing in world.all(RUN)]
    seen = {(run.namespace, run.name): run.kind for run, _ in runs}
    found = [*(row(run, pods) for run, _ in runs), *_unseen(world, seen)]
    return tuple(sorted(found, key=lambda each: (each.is_over, each.place, each.kind)))


def row(run: Run, pods: Pods) -> Row:
    """The row of one TrainingRun."""
    status = run.status
    waits = run.phase in PLACING
    return Row(
        run.namespace,
        run.name,
        run.kind,
        run.policy,
        run.phase,
        tier=status.tier or "",
        attempt=status.attempt,
        evictions=status.evictions,
        errors=status.errors,
        since=(status.waiting_since if waits else None) or status.since,
        waits_for=_said(run, pods) if waits else _shortened(status),
        reason=status.reason,
        message=status.message,
        next_decision=status.next_decision_time,
        nodes_held=status.nodes_held if status.waiting_since is not None else 0,
        trouble=tuple(f"{each.type}: {each.message}" for each in troubles(run) if TOLD.get(each.type) != run.phase),
        unread=run.unread,
    )


def _shortened(status: TrainingRunStatus) -> str:
    """The scheduler's own words in ours, where the controller has handed them on as they are."""
    found = said(status.waiting_for or "", status.tier or "")
    return found.text if found else status.waiting_for or ""


def _said(run: Run, pods: Pods) -> str:
    """What the controller says, unless the events or Karpenter say more: the controller reads no events."""
    pool, own = run.status.tier or "", _shortened(run.status)
    found = said_first([*pods.words(run.kind, run.namespace, run.name), *pods.refusals(pool)], pool)
    if found is None or (own and _rank(own) <= _rank(found.text)):
        return own
    return found.text


def _rank(told: str) -> int:
    """Which of the patterns told this: the one whose fixed beginning it has longest. What none did comes first."""
    begins = [(OPENS.split(pattern.text)[0], -index) for index, pattern in enumerate(PATTERNS)]
    found = [(len(begin), index) for begin, index in begins if told.startswith(begin)]
    return -max(found)[1] if found else -1


def _unseen(world: World, seen: Mapping[tuple[str, str], str]) -> Iterator[Row]:
    for kind in MANAGED.values():
        for job in world.all(kind):
            policy = text(job, "metadata", "labels", FALLBACK_POLICY_LABEL)
            if policy and seen.get(name_of(job)) != kind.kind and not has_ended(kind, job) and RUN not in world.unseen:
                yield _row_of(kind, job, policy, seen.get(name_of(job), ""))


def _row_of(kind: Kind, job: Object, policy: str, taken_by: str) -> Row:
    namespace, name = name_of(job)
    return Row(
        namespace,
        name,
        kind.kind,
        policy,
        REFUSED if taken_by else UNSEEN,
        since=instant(job, "metadata", "creationTimestamp"),
        message=f"metadata.name: a {taken_by} of the same name has the TrainingRun {name}. Give one of the two another "
        "name."
        if taken_by
        else "names a policy and has no TrainingRun: the fallback controller has not seen it yet, or does not run "
        "(kubectl get deployments -n spotproof-system)",
    )
