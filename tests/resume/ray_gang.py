"""Runs a job as KubeRay and Ray Train do: Ray restarts lost workers, and after an error a new cluster starts.

An attempt here is what goes on from one restart of the workers to the next, whether Ray itself restarted them or a new
cluster of the same run did. The last of the victims is the head: with it the whole cluster is gone.
"""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.resume.gang import MOST_FAILURES, Attempt, Gang, Played
from tests.resume.judge import START, STEP
from tests.resume.kills import Kill
from tests.resume.ray_cluster import Cluster, Node

if TYPE_CHECKING:
    import subprocess

SECONDS_TO_DRAIN: Final = 10.0
"""Of a reclaimed node, by Ray; a rendered pod has up to 30. Ray takes a second or two to notice it, and what is over
before that is an error of the program to Ray: so it was once after 6 s, on a machine that had three times its work."""
SECONDS_OF_SILENCE: Final = 300
"""A cluster starts some twenty processes that import Ray."""
LOOKS_A_SECOND: Final = 50
OURS: Final = re.compile(r"starting at |resumed at |step \d|saved |SIGTERM: |finished at ")


@dataclass
class RayAttempt(Attempt):
    """One start of the workers."""

    cluster: int = 0
    """The number of the cluster it ran in. The same as that of the one before: Ray itself has restarted the workers."""


@dataclass
class _Going:
    """A cluster, its driver, and what was read of its workers' output."""

    number: int
    cluster: Cluster
    driver: "subprocess.Popen[bytes]"
    log: Path
    read: dict[Path, int] = field(default_factory=dict[Path, int])
    reclaimed: dict[str, tuple[Node, float]] = field(default_factory=dict[str, tuple[Node, float]])
    heard: float = field(default_factory=time.monotonic)
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held while nodes come or go: the store, too, says when to kill, in a thread of its own."""

    def lines(self) -> Iterator[str]:
        """What rank 0 has said since one last looked. From its own file: what the driver shows may end before it."""
        for path in sorted(self.cluster.folder.glob("*/session_2*/logs/worker-*.out")):
            text = path.read_bytes()[self.read.get(path, 0) :]
            whole = text[: text.rfind(b"\n") + 1]
            self.read[path] = self.read.get(path, 0) + len(whole)
            yield from whole.decode().splitlines()


class RayGang(Gang):
    """One run of an example on RayJob."""

    def run(self, kills: Sequence[Kill]) -> Played:
        attempts: list[RayAttempt] = []
        left, failures = list(kills), 0
        for number in range(len(kills) + MOST_FAILURES):
            done = self._cluster(number, attempts, left)
            last = attempts[-1]
            failures += last.killed is None and any(last.statuses.values())
            if done or last.hangs or failures == MOST_FAILURES:
                break
        return Played(self.example, list(attempts), self._found(), self.store.writes, self.store.written)

    def told(self, attempt: int, index: int) -> Mapping[str, str]:
        """As rendered with a policy, unless the example's own variables say otherwise."""
        told = {
            **super().told(attempt, index),
            "SPOTPROOF_ATTEMPT": f"proof-{attempt}",
            "SPOTPROOF_MAX_FAILURES": "0",
            "SPOTPROOF_MAX_PREEMPTION_FAILURES": "-1",
            **self.example.variables,
        }
        for name in ("SPOTPROOF_PODS", "SPOTPROOF_COORDINATOR", "JOB_COMPLETION_INDEX"):
            del told[name]
        return told

    def _cluster(self, number: int, attempts: list[RayAttempt], left: list[Kill]) -> bool:
        """From a new cluster to the end of its driver; whether the run is finished."""
        began = attempts[-1].killed or time.monotonic() if attempts else time.monotonic()
        attempts.append(RayAttempt(len(attempts), self._found(), left[0] if left else None, began, cluster=number))
        workers = self.example.processes - 1
        log = self.scratch / f"driver-{number}.log"
        with Cluster(self.python.parent, self.told(number, 0), workers, SECONDS_TO_DRAIN) as cluster:
            words = [str(self.program / "train.py"), "--workers", f"{workers}", *self.example.arguments(0)]
            going = _Going(number, cluster, cluster.start_driver(words, log), log)
            try:
                self._follow_cluster(going, attempts, left)
            finally:
                self.store.release()
        if remains := cluster.remains():
            raise RuntimeError(f"processes of a cluster that was taken away are left: {remains}")
        attempts[-1].errors = log.read_text(encoding="utf-8", errors="replace")[-3000:]
        return attempts[-1].statuses.get(0) == 0

    def _follow_cluster(self, going: _Going, attempts: list[RayAttempt], left: list[Kill]) -> None:
        armed: Kill | None = None
        while True:
            ended = going.driver.poll()
            for line in going.lines():
                self._heard(going, attempts, left, line)
                kill = attempts[-1].kill
                if kill is None or attempts[-1].killed is not None or armed is kill or not _at(kill, line):
                    continue
                if kill.moment == "save":
                    armed = kill
                    self.store.watch(kill.write, lambda: self._kill_in(going, attempts, left), kill.to)
                else:
                    self._kill_in(going, attempts, left)
            with going.lock:
                if not going.cluster.ended:
                    self._replace(going, attempts)
            if going.cluster.ended or ended is not None:
                attempts[-1].statuses[0] = going.driver.wait() if ended is None else ended
                return
            if time.monotonic() - going.heard > SECONDS_OF_SILENCE:
                attempts[-1].hangs = True
                return
            time.sleep(1 / LOOKS_A_SECOND)

    def _heard(self, going: _Going, attempts: list[RayAttempt], left: list[Kill], line: str) -> None:
        """A line of rank 0; one that says where it starts begins another attempt, unless it is the cluster's first."""
        if not OURS.match(line):  # Ray's own, in the same file
            return
        going.heard = time.monotonic()
        if START.match(line) and attempts[-1].lines:
            began = attempts[-1].killed or going.heard
            attempts.append(
                RayAttempt(len(attempts), self._found(), left[0] if left else None, began, cluster=going.number)
            )
        attempts[-1].lines.append((going.heard, line))

    def _kill_in(self, going: _Going, attempts: list[RayAttempt], left: list[Kill]) -> None:
        """Take a node, now: what is inside a write is stopped there until it is done."""
        attempt = attempts[-1]
        kill = attempt.kill
        with going.lock:
            if kill is None or attempt.killed is not None or going.cluster.ended:
                return
            attempt.killed = time.monotonic()
            attempt.victim = kill.process % self.example.processes
            left.pop(0)
            self._take(going, kill, attempt.victim)
        self.store.release()

    def _take(self, going: _Going, kill: Kill, victim: int) -> None:
        cluster = going.cluster
        if victim >= len(cluster.nodes):
            cluster.end()
        elif kill.told:
            node = cluster.nodes[victim]
            cluster.reclaim(node)
            going.reclaimed[node.mark] = (node, time.monotonic() + self.example.notice_seconds)
        else:
            cluster.lose(cluster.nodes[victim])
            cluster.add_worker()

    def _replace(self, going: _Going, attempts: list[RayAttempt]) -> None:
        """A node whose time is over is gone, and another one comes, as KubeRay has it."""
        for mark, (node, until) in list(going.reclaimed.items()):
            over = time.monotonic() > until
            if over:
                going.cluster.lose(node)
            if over or going.cluster.gone(node):
                del going.reclaimed[mark]
                attempts[-1].killed = time.monotonic()
                going.cluster.add_worker()
        going.cluster.replace_failed([node for node, _ in going.reclaimed.values()])


def _at(kill: Kill, line: str) -> bool:
    """Whether the program has come as far as the plan has it."""
    if kill.moment == "resume":
        return START.match(line) is not None
    found = STEP.match(line)
    return found is not None and int(found[1]) >= kill.step
