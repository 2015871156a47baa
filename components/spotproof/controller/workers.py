"""Who does the work: threads that take keys from the queue, one job each; and one step of that, for a simulation."""

import math
import threading
from collections.abc import Callable
from typing import Final, Protocol

import structlog

from spotproof.controller.cache import Key
from spotproof.controller.metrics import Observer, Outcome
from spotproof.controller.work_queue import WorkQueue
from spotproof.kube.client import Refused, Unreachable

_log: Final = structlog.get_logger()

QUIET_FAILURES: Final = 3
"""A conflict with another writer, or a server that restarts, is over by then, and is no news to anybody."""

GIVES_WAY_SECONDS: Final = 0.1
"""At most, before each look, to news that has come and has not been taken in. Each of five threads that compute gets a
fifth of the interpreter, and the one that takes in 3,000 events a second needs two."""


STUCK_SECONDS: Final = 300.0
"""No call takes as long: one without an answer ends after 65 s, and a read is made once more. Nor does what is reckoned
between two calls. A look as a whole may, where it makes hundreds and the API server is slow."""


class Reconciles(Protocol):
    """What a worker asks; `reconcile.Reconciler` fits."""

    def reconcile(self, key: Key) -> float | None:
        """Look at one job; returns when to look again without news."""
        ...


def step(
    queue: WorkQueue[Key], reconciler: Reconciles, key: Key, *, observer: Observer, seconds: Callable[[], float]
) -> Outcome:
    """Look at one job that was taken from the queue, and give it back.

    A call that failed is tried again by the queue. So is a job on which the controller's own code fails: that is said
    with its traceback, and no other job waits for it.

    Args:
        queue: Where the key was taken from.
        reconciler: Looks.
        key: The job.
        observer: Is told how long it took and what came of it.
        seconds: A clock for that.
    """
    started = seconds()
    outcome: Outcome = "done"
    try:
        again_at = reconciler.reconcile(key)
    except Refused as refused:
        outcome = "refused"
        _say(key, queue.failed(key, refused.retry_after_seconds).failures, outcome, str(refused))
    except Unreachable as unreachable:
        outcome = "unreachable"
        _say(key, queue.failed(key).failures, outcome, str(unreachable))
    except Exception:  # noqa: BLE001  # one job's trouble is not the others'
        outcome = "error"
        _log.exception("a job could not be looked at", job="/".join(key), failures=queue.failed(key).failures)
    else:
        queue.done(key, again_at)
    observer.reconciled(key.kind, outcome, seconds() - started)
    return outcome


def _say(key: Key, failures: int, outcome: Outcome, message: str) -> None:
    say = _log.warning if failures > QUIET_FAILURES else _log.debug
    say("a call failed and is tried again", job="/".join(key), failures=failures, outcome=outcome, message=message)


class Workers:
    """Threads that look at jobs until they are told to stop.

    Args:
        count: How many jobs are looked at at a time.
        queue: Where they come from.
        reconciler: Looks.
        observer: Is told of it.
        seconds: A clock for durations, monotonic.
        caught_up: Set as long as there is no news to be taken in.
    """

    def __init__(  # noqa: PLR0913  # what it works with, and who goes first
        self,
        count: int,
        queue: WorkQueue[Key],
        reconciler: Reconciles,
        *,
        observer: Observer,
        seconds: Callable[[], float],
        caught_up: threading.Event,
    ) -> None:
        self._caught_up = caught_up
        self._queue = queue
        self._reconciler = reconciler
        self._observer = observer
        self._seconds = seconds
        self._threads = [
            threading.Thread(target=self._work, name=f"worker {number}", daemon=True) for number in range(count)
        ]
        self._since = dict.fromkeys(self._threads, math.inf)

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def alive(self) -> bool:
        """Whether each of them is there."""
        return all(thread.is_alive() for thread in self._threads)

    def calling(self) -> None:
        """Told by a worker that it is about to make a call: it gets on."""
        self._note(self._seconds())

    def stuck(self) -> bool:
        """Whether one of them is at one call, or at what it does between two, for longer than that can take."""
        now = self._seconds()
        return any(now - since > STUCK_SECONDS for since in self._since.values())

    def stop(self, within_seconds: float) -> bool:
        """Take nothing new, and wait for what is at hand; returns whether it came to its end in time."""
        self._queue.stop()
        until = self._seconds() + within_seconds
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - self._seconds()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while (key := self._next()) is not None:
            self.calling()
            step(self._queue, self._reconciler, key, observer=self._observer, seconds=self._seconds)
            self._note(math.inf)

    def _note(self, since: float) -> None:
        if (thread := threading.current_thread()) in self._since:
            self._since[thread] = since

    def _next(self) -> Key | None:
        self._caught_up.wait(GIVES_WAY_SECONDS)
        return self._queue.next()
