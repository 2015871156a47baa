"""How often a gang was interrupted, by its pods and its operator: what the controller's counts are held against.

Nothing here reads a TrainingRun. An interruption is the end of a stretch in which the gang was whole, unless somebody
had suspended the job by then, or the job came to its end: what else is lost before the gang is whole again belongs to
it, and so does a move that follows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from spotproof.rehearsal.history import DISRUPTED, History, Node, exit_code, is_leaving, is_true, node_of, phase, works
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import Recording, Version
from spotproof.vocabulary import SPOT
from tests.e2e.controller.judge import job_of, members

Why = Literal["lost", "failed"]
SIGNALS: Final = frozenset({0, 137, 143})
"""How a container ends that somebody else has ended, or that is done."""


class Interruption(NamedTuple):
    """From when to when a gang that had been whole was not; None where it was not whole again.

    `spot` is whether the pool can be reclaimed, `why` is `failed` where the program ended by itself, `restarts` by how
    many the operator's own count of restarts rose until the gang was whole, and `moved` whether the job was suspended
    meanwhile, which sets that count aside.
    """

    pool: str
    since: float
    until: float | None
    spot: bool
    why: Why
    restarts: int
    moved: bool


@dataclass
class _Gap:
    """Since when the gang is not whole, and what had come before."""

    pool: str
    since: float
    why: Why | None
    restarts: int
    moved: bool


class _Gang:
    """One job as it is after so many writes."""

    def __init__(self, history: History, job: str) -> None:
        found = job_of(history, job)
        self._uid = found.life.uid
        self._pods, self._size = members(found)
        self._nodes = history.nodes
        self._there: dict[str, Node | None] = {}
        self._gone: set[str] = set()
        self._whole = ""
        self._gap: _Gap | None = None
        self._suspended = self._failed = self._over = False
        self._restarts = 0

    def take(self, version: Version) -> Iterator[Interruption]:
        """One more write, and the interruption that is over with it."""
        if version.uid == self._uid:
            self._job(version)
        elif version.kind == "Node" and version.change == "deleted":
            self._gone.add(version.uid)
        elif version.uid in self._pods:
            self._pod(version)
            yield from self._changed(version)

    def end(self) -> Iterator[Interruption]:
        """The interruption that is not over."""
        if self._gap is not None and self._gap.why is not None and not self._over:
            yield self._interruption(self._gap, None)

    def _job(self, version: Version) -> None:
        job = version.object
        status = job.get("status", {})
        self._suspended = bool(job["spec"].get("suspend"))
        self._failed = self._failed or status.get("jobStatus") == "FAILED"
        done = status.get("terminalState") == "Completed" or status.get("jobStatus") == "SUCCEEDED"
        self._over = done or version.change == "deleted" or is_leaving(job)
        self._restarts = int(status.get("restarts") or 0)
        if self._gap is not None:
            self._gap.moved |= self._suspended

    def _pod(self, version: Version) -> None:
        if version.change != "deleted" and works(version.object):
            self._there[version.uid] = self._nodes.get(node_of(version.object))
        else:
            self._there.pop(version.uid, None)

    def _changed(self, version: Version) -> Iterator[Interruption]:
        pools = {"?" if node is None or self._is_gone(node) else node.pool for node in self._there.values()}
        whole = next(iter(pools)) if len(self._there) == self._size and len(pools) == 1 else ""
        if whole and not self._whole:
            if self._gap is not None and self._gap.why is not None:
                yield self._interruption(self._gap, version.at)
            self._gap, self._failed = None, False
        elif self._whole and not whole:
            self._gap = _Gap(self._whole, version.at, self._why(version.object), self._restarts, self._suspended)
        elif self._gap is not None and self._gap.why == "lost" and _failed_by_itself(version.object):
            self._gap.why = "failed"
        self._whole = whole

    def _is_gone(self, node: Node) -> bool:
        """Whether a node is there no more: a pod of it looks whole until somebody ends it, and is lost all the same.

        A Ray worker's successor was ready before the other pod of the same node was ended: one loss, not two. By the
        order of writes, not by seconds: news of the last pod that became ready came after those of the node's end, and
        the gang was never whole by them.
        """
        return node.life.uid in self._gone

    def _why(self, pod: Json) -> Why | None:
        if self._failed or _failed_by_itself(pod):
            return "failed"
        return None if self._suspended or self._over else "lost"

    def _interruption(self, gap: _Gap, until: float | None) -> Interruption:
        assert gap.why is not None
        spot = any(node.pool == gap.pool and node.capacity == SPOT for node in self._nodes.values())
        return Interruption(gap.pool, gap.since, until, spot, gap.why, self._restarts - gap.restarts, gap.moved)


def interruptions(recording: Recording, job: str = "") -> tuple[Interruption, ...]:
    """Interruptions of a gang, in order. Arguments as those of `judge.job_of`."""
    gang = _Gang(History(recording), job)
    found = [each for version in recording.versions for each in gang.take(version)]
    return (*found, *gang.end())


def charged(recording: Recording, job: str = "") -> tuple[Interruption, ...]:
    """Those that somebody may be charged for: on spot, or by the program's own fault wherever it ran."""
    return tuple(each for each in interruptions(recording, job) if each.spot or each.why == "failed")


def unseen_by_operator(recording: Recording, job: str = "") -> list[str]:
    """Where a JobSet's own count does not agree: a gang that came back without a move has been restarted by JobSet."""
    if job_of(History(recording), job).life.kind != "JobSet":
        return []
    return [
        f"JobSet counted no restart from {each.since:.1f} s, when the gang on {each.pool} was no longer whole"
        for each in interruptions(recording, job)
        if each.until is not None and not each.moved and not each.restarts
    ]


def errors_of_operator(recording: Recording, job: str = "") -> int:
    """What JobSet itself holds against the program; KubeRay tells no reason why an attempt failed, so that it is 0."""
    return int(job_of(History(recording), job).life.last.get("status", {}).get("restartsCountTowardsMax") or 0)


def _failed_by_itself(pod: Json) -> bool:
    """Whether a pod ended with an exit code of its own, and nobody had told it to go."""
    code = exit_code(pod)
    told = is_true(pod, DISRUPTED) or is_leaving(pod)
    return phase(pod) == "Failed" and not told and code is not None and code not in SIGNALS
