"""The process: what is watched, who works, who leads, who is answered, and in which order all that begins and ends."""

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from random import SystemRandom
from typing import Final, NamedTuple

import structlog

from spotproof.controller.cache import Cache, Key
from spotproof.controller.election import TRY_SECONDS, Candidate, lease
from spotproof.controller.exposition import CONTENT_TYPE, Exposition
from spotproof.controller.fence import Fenced
from spotproof.controller.footprint import give_back
from spotproof.controller.reconcile import Reconciler
from spotproof.controller.serving import Address, Answer, Server
from spotproof.controller.watches import Watches
from spotproof.controller.work_queue import WorkQueue
from spotproof.controller.workers import Workers
from spotproof.kube.client import Kube
from spotproof.vocabulary import PROBE_IMAGE

_log: Final = structlog.get_logger()

LOOK_SECONDS: Final = 0.5
"""How often the main thread looks whether all others are there, and the lease is."""
REST_SECONDS: Final = 0.2
"""Between two looks at one job; a step of a move that waits for news takes so much longer."""
FINISH_SECONDS: Final = 20.0
"""For what is at hand at the end; a pod has 30 s until it is killed."""
ENDED_WELL: Final = 0
FAILED: Final = 1


class Options(NamedTuple):
    """What the process is told."""

    namespace: str
    listen: Address
    metrics: Address | None
    """None for the address of `listen`."""
    workers: int
    elect: bool
    probe_image: str = PROBE_IMAGE


class App:
    """The controller on one API server.

    Args:
        kube: The API server, as the controller's user.
        watches: Of it, not yet started.
        options: What it is told.
        exit_now: Ends the process at once, without any of its threads doing anything more.
    """

    def __init__(
        self, kube: Kube, watches: Watches, options: Options, *, exit_now: Callable[[int], object] = os._exit
    ) -> None:
        self._watches = watches
        self._options = options
        self._exit_now = exit_now
        self._told_to_end = threading.Event()
        self._random = SystemRandom()
        self._leading = False
        self._cache = Cache()
        self._queue: WorkQueue[Key] = WorkQueue(clock=time.time, jitter=self._random.random, rest_seconds=REST_SECONDS)
        self._metrics = Exposition(self._cache, self._queue)
        self._candidate = self._candidacy(kube) if options.elect else None
        api = Fenced(kube, self._may_act, self._calling)
        reconciler = Reconciler(
            api,
            self._cache,
            clock=time.time,
            jitter=self._random.random,
            observer=self._metrics,
            probe_image=options.probe_image,
        )
        self._workers = Workers(
            options.workers,
            self._queue,
            reconciler,
            observer=self._metrics,
            seconds=time.monotonic,
            caught_up=watches.caught_up,
        )
        self._standing: threading.Thread | None = None

    def run(self) -> int:
        """Work until it is told to end by SIGTERM or SIGINT. Returns the exit status.

        Raises:
            OSError: an address to listen on cannot be had.
        """
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._on_signal)
        with ExitStack() as stack:
            stack.callback(self._watches.stop)
            self._watches.start(self._cache, self._changed, self._metrics)
            for server in self._serve():
                stack.callback(server.close)
            stack.callback(self._give_back)
            return self._work()

    def health(self) -> Answer:
        """What /healthz says: whether all parts are there, and whether they get on with what they have to do."""
        getting_on = {"news": not self._watches.silent(), "looks": not self._workers.stuck()}
        return _told({**self._parts(), **getting_on})

    def _work(self) -> int:
        if not self._until(self._synced):
            return ENDED_WELL if self._told_to_end.is_set() else FAILED
        give_back()
        _log.info("everything was listed", jobs=len(self._cache.keys()))
        if self._candidate is not None:
            self._standing = threading.Thread(target=self._stand, args=(self._candidate,), name="lease", daemon=True)
            self._standing.start()
            if not self._until(self._may_act):
                return ENDED_WELL if self._told_to_end.is_set() else FAILED
        self._lead()
        self._until(lambda: False)
        return ENDED_WELL if self._told_to_end.is_set() else FAILED

    def _give_back(self) -> None:
        """Finish what is at hand; then, and only then, let another replica act."""
        finished = self._workers.stop(FINISH_SECONDS if self._told_to_end.is_set() else 0.0)
        if self._candidate is not None and finished:
            self._candidate.release()
        _log.info("ended", finished=finished)

    def _until(self, there: Callable[[], bool]) -> bool:
        """Wait for something; False where it is told to end, or a thread has ended that must not."""
        while not there():
            if self._candidate is not None and self._candidate.lost:
                _log.error("the lease is lost, and with it the right to act")
                self._exit_now(FAILED)
            if gone := [name for name, well in self._parts().items() if not well]:
                _log.error("a part of it has ended", parts=gone)
                return False
            if self._told_to_end.wait(LOOK_SECONDS):
                return False
        return True

    def _lead(self) -> None:
        """Look once at every job, and at what is left of those that are not here; from now on news is work."""
        _log.info("leading", workers=self._options.workers)
        self._leading = True
        for key in sorted(self._cache.everything()):  # those of one namespace are preflighted beside each other
            self._queue.add(key)
        self._workers.start()

    def _stand(self, candidate: Candidate) -> None:
        """Try for the lease, and keep it, until the process ends."""
        while not candidate.over:
            candidate.turn()
            time.sleep(TRY_SECONDS * (0.8 + 0.4 * self._random.random()))

    def _calling(self) -> None:
        self._workers.calling()

    def _may_act(self) -> bool:
        return self._candidate is None or self._candidate.leads

    def _on_signal(self, *_: object) -> None:
        self._told_to_end.set()

    def _changed(self, keys: set[Key], *, urgent: bool = False) -> None:
        if self._leading:
            for key in keys:
                self._queue.add(key, urgent=urgent)

    def _synced(self) -> bool:
        return all(self._watches.listed().values())

    def _candidacy(self, kube: Kube) -> Candidate:
        identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        lock = lease(kube, self._options.namespace, identity)
        return Candidate(lock, seconds=time.monotonic, now=lambda: datetime.now(UTC))

    def _serve(self) -> list[Server]:
        health = {"/healthz": self.health, "/readyz": self._readiness}
        if self._options.metrics is None:
            return [Server(self._options.listen, {**health, "/metrics": self._page})]
        return [Server(self._options.listen, health), Server(self._options.metrics, {"/metrics": self._page})]

    def _page(self) -> Answer:
        return Answer(ok=True, body=self._metrics.page(), content_type=CONTENT_TYPE)

    def _parts(self) -> Mapping[str, bool]:
        """What must go on, and whether it does."""
        return {
            "watches": self._watches.alive(),
            "lease": self._standing is None or self._standing.is_alive(),
            "workers": not self._leading or self._workers.alive(),
        }

    def _readiness(self) -> Answer:
        return _told(self._watches.listed())


def _told(parts: Mapping[str, bool]) -> Answer:
    lines = [f"{name} {'ok' if well else 'not yet, or not any more'}" for name, well in parts.items()]
    return Answer(ok=all(parts.values()), body="\n".join([*lines, ""]).encode())
