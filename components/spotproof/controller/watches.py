"""The watching process, as the one that decides sees it: started, listened to, and ended with it."""

import contextlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Final

import structlog

from spotproof.controller.access import Access
from spotproof.controller.cache import Cache
from spotproof.controller.footprint import give_back
from spotproof.controller.intake import Changed, Intake
from spotproof.controller.logs import Saying
from spotproof.controller.metrics import WatchObserver
from spotproof.controller.watch_process import watch
from spotproof.controller.watched import WATCHED
from spotproof.controller.wire import (
    DECODER,
    ENOUGH,
    Begun,
    Ended,
    Listed,
    Lives,
    News,
    Paged,
    Renewed,
    Taken,
    Withdrawn,
)

_log: Final = structlog.get_logger()

END_SECONDS: Final = 5.0
"""For the other process to end, once nobody listens to it."""
QUIET_SECONDS: Final = 0.2
"""Without news, until there is time to save memory."""
SILENT_SECONDS: Final = 300.0
"""Ten signs of life that have not come: the other process hangs, or what it tells is not taken in."""
SHARED_AT_ONCE: Final = 256
"""Objects, some 25 ms of work: as long as news then has to wait."""
CONTEXT: Final = (
    multiprocessing.get_context("fork") if sys.platform == "linux" else multiprocessing.get_context("spawn")
)
"""A fork is there at once, and imports nothing again. It is safe while there is one thread; macOS starts some."""


class Watches:
    """All watches of `watched.WATCHED`, in a process of their own.

    Args:
        access: To the API server.
        saying: How that process logs.
        seconds: A monotonic clock.
    """

    def __init__(self, access: Access, saying: Saying, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._heard_at = seconds()
        self._ours, self._theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=watch, args=(access, saying, self._theirs, self._ours), name="watches")
        self._thread: threading.Thread | None = None
        self._intakes: tuple[Intake, ...] = ()
        self.caught_up: Final = threading.Event()
        """Set as long as everything that has come is taken in."""

    def start(self, cache: Cache, changed: Changed, observer: WatchObserver) -> None:
        """Begin, before this process has threads or connections of its own.

        Args:
            cache: What is kept as the API server is.
            changed: Told of the jobs that a change may concern.
            observer: Told of lists and of watches that end.
        """
        # A collection writes to all that it looks at; what it is spared stays shared: 52 MiB of both instead of 76.
        give_back()
        self._process.start()
        self._theirs.close()
        self._intakes = tuple(Intake(watched, cache, changed) for watched in WATCHED)
        self.heard()
        told = (self._ours, self._intakes, observer, self.caught_up, self.heard)
        self._thread = threading.Thread(target=listen, args=told, name="watches", daemon=True)
        self._thread.start()

    def alive(self) -> bool:
        """Whether news comes in; where it has ended, nothing does ever after."""
        return self._thread is not None and self._thread.is_alive()

    def heard(self) -> None:
        """Something has come from the other process, if only that it is there."""
        self._heard_at = self._seconds()

    def silent(self) -> bool:
        """Whether nothing has come for so long that nothing will."""
        return self._seconds() - self._heard_at > SILENT_SECONDS

    def listed(self) -> Mapping[str, bool]:
        """Of each kind, whether everything of it was listed once."""
        return {
            kind: all(each.listed.is_set() for each in self._intakes if each.watched.kind.kind == kind)
            for kind in dict.fromkeys(watched.kind.kind for watched in WATCHED)
        }

    def stop(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):  # it has ended by itself
            self._ours.send_bytes(ENOUGH)
        self._process.join(END_SECONDS)
        self._process.kill()


def listen(
    connection: Connection,
    intakes: Sequence[Intake],
    observer: WatchObserver,
    caught_up: threading.Event,
    heard: Callable[[], object],
) -> None:
    """Take in all that comes, until the other end is closed; what cannot be kept is asked for again.

    Args:
        connection: To the process that watches.
        intakes: In the order of `watched.WATCHED`.
        observer: Told of lists and of watches that end.
        caught_up: Set as long as nothing has come that is not taken in.
        heard: Told whenever something has come.
    """
    with contextlib.suppress(EOFError, OSError):
        while True:
            if not connection.poll():
                caught_up.set()
                while not connection.poll(QUIET_SECONDS) and any(each.share(SHARED_AT_ONCE) for each in intakes):
                    pass
            news = connection.recv_bytes()
            heard()
            caught_up.clear()
            for message in DECODER.decode(news):
                try:
                    hear(message, intakes[message.watch], observer)
                except Exception:  # noqa: BLE001  # an object that cannot be kept must not end the watches of all others
                    _log.exception("what was watched could not be kept", kind=WATCHED[message.watch].kind.kind)
                    connection.send_bytes(str(message.watch).encode())


def hear(message: News, intake: Intake, observer: WatchObserver) -> None:
    """Take one message in, as if the watch were of this process."""
    match message:
        case Taken():
            intake.take(message.thing, deleted=message.deleted)
        case Renewed():
            intake.renew(message.namespace, message.name, message.version)
        case Begun():
            intake.begin()
        case Paged():
            intake.page(message.things)
        case Listed():
            intake.end(message.at)
            observer.listed(intake.watched.kind, message.objects, message.seconds)
        case Withdrawn():
            intake.withdraw()
        case Ended():
            observer.watch_ended(intake.watched.kind, message.why)
        case Lives():
            pass
