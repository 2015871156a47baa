"""The process that watches, and tells the one that decides.

Every event is a record of TLS, and `ssl` gives the interpreter lock away for each. Beside four threads that decide, and
hold it for 5 ms at a time, a watch got through some 200 events a second, and 100 evictions are 3,000: their first patch
came up to 15 s late. Alone it keeps up, and what it has read meanwhile is passed on in one piece.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from random import SystemRandom
from typing import Final

import structlog

from spotproof.controller import logs
from spotproof.controller.access import Access
from spotproof.controller.footprint import give_back
from spotproof.controller.kinds import Kind, Object
from spotproof.controller.metrics import WatchEnd
from spotproof.controller.reflector import Reflector
from spotproof.controller.relations import Place, place
from spotproof.controller.watched import WATCHED
from spotproof.controller.wire import ENCODER, Begun, Ended, Listed, Lives, Message, Paged, Renewed, Taken, Withdrawn

_log: Final = structlog.get_logger()

MOST: Final = 1_000
"""Objects that wait to be passed on, 2 MB of pods; then the watches wait, and the server with them. At a start more is
listed than the other process takes in meanwhile: 64 pages that waited were 100 MB."""


GATHER_SECONDS: Final = 0.01
"""From the first message to its being passed on, with all that has come meanwhile: 3,000 a second one by one took the
other process as long as what it then did with them."""

LIVES_SECONDS: Final = 30.0
"""How often it is told that there is somebody who tells, also where nothing happens for hours."""


class Outbox:
    """What is to be passed on, from many threads to the one that does it.

    Args:
        gather_seconds: How long a message waits for others.
    """

    def __init__(self, gather_seconds: float = 0.0) -> None:
        self._gather_seconds = gather_seconds
        self._changed = threading.Condition()
        self._messages: list[Message] = []
        self._objects = 0

    def put(self, message: Message) -> None:
        """Pass it on, after what was put before it; waits where there is no room."""
        with self._changed:
            self._changed.wait_for(lambda: self._objects < MOST)
            self._messages.append(message)
            self._objects += _objects(message)
            if len(self._messages) == 1:
                self._changed.notify_all()

    def take(self) -> list[Message]:
        """Everything that waits, at least one."""
        with self._changed:
            self._changed.wait_for(lambda: self._messages)
        time.sleep(self._gather_seconds)
        with self._changed:
            messages, self._messages, self._objects = self._messages, [], 0
            self._changed.notify_all()
            return messages

    def emptied(self) -> None:
        """Wait until all that waited is passed on."""
        with self._changed:
            self._changed.wait_for(lambda: not self._messages)


def _objects(message: Message) -> int:
    return len(message.things) if isinstance(message, Paged) else 1


class Told:
    """The store of one watch, and its observer: all of it goes to the other process.

    An object that is kept whole, as jobs are, is not told again where only its version is new: of the 11 versions of a
    JobSet that is restarted, each of them as large as all else that is told of its pods, 8 are counts of pods. Of a
    kind whose versions nobody reads nothing is told then.

    Args:
        watch: Its rank.
        outbox: Where messages go.
    """

    def __init__(self, watch: int, outbox: Outbox) -> None:
        self._watch = watch
        self._outbox = outbox
        self._at = 0
        self._versioned = WATCHED[watch].versioned
        self._compared = WATCHED[watch].shape is None or not self._versioned
        self._told: dict[Place, int] = {}

    def begin(self) -> None:
        """A list begins."""
        self._told.clear()
        self._outbox.put(Begun(self._watch))

    def page(self, things: Sequence[Object]) -> None:
        """Some objects of it."""
        for each in things:
            self._is_told(each)
        self._outbox.put(Paged(self._watch, list(things)))

    def end(self, at: int) -> None:
        """It is whole, of this resource version."""
        self._at = at

    def listed(self, kind: Kind, objects: int, seconds: float) -> None:  # noqa: ARG002  # the protocol's
        """It is whole, and so long it took."""
        self._outbox.put(Listed(self._watch, self._at, objects, seconds))

    def take(self, thing: Object, *, deleted: bool) -> None:
        """A version of an object."""
        where = place(thing)
        if deleted:
            self._told.pop(where, None)
        elif self._is_told(thing):
            if self._versioned:
                self._outbox.put(Renewed(self._watch, *where, thing["metadata"]["resourceVersion"]))
            return
        self._outbox.put(Taken(self._watch, thing, deleted))

    def _is_told(self, thing: Object) -> bool:
        """Whether it is as it was told last, but for its version; from now on it is told."""
        if not self._compared:
            return False
        where, meta = place(thing), {**thing["metadata"], "resourceVersion": ""}
        content = hash(ENCODER.encode({**thing, "metadata": meta}))
        same, self._told[where] = self._told.get(where) == content, content
        return same

    def withdraw(self) -> None:
        """The API server does not have the kind."""
        self._outbox.put(Withdrawn(self._watch))

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:  # noqa: ARG002  # the protocol's
        """It is begun again."""
        self._outbox.put(Ended(self._watch, why))


def watch(access: Access, saying: logs.Saying, connection: Connection, other_end: Connection) -> None:
    """Watch until the other end of the connection is closed or says so. What it says there are messages of `wire`.

    Args:
        access: To the API server.
        saying: How it logs.
        connection: To the process that decides. What comes from there is the rank of a watch to be listed again.
        other_end: Of it, which this process has as well and must not: it would never see it closed.
    """
    other_end.close()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # the other process is told, and this one ends with it
    logs.configure(saying)
    outbox = Outbox(GATHER_SECONDS)
    reflectors = _reflectors(access, outbox)
    _start("outbox", lambda: _send(outbox, connection))
    _start("heartbeat", lambda: _live(outbox))
    for each in reflectors:
        _start(f"watch {each.watched.kind.kind}", each.run)
    threading.Thread(target=_settle, args=(reflectors[-1], outbox), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while told := connection.recv_bytes():
            reflectors[int(told)].doubt()
    os._exit(0)  # without waiting for watches, which have nothing to lose


def _reflectors(access: Access, outbox: Outbox) -> list[Reflector]:
    kube, random = access.connect(), SystemRandom().random
    found: list[Reflector] = []
    for rank, watched in enumerate(WATCHED):
        told, after = Told(rank, outbox), found[-1].listed if found else None
        found.append(Reflector(kube, watched, told, observer=told, seconds=time.monotonic, jitter=random, after=after))
    return found


def _live(outbox: Outbox) -> None:
    while True:
        outbox.put(Lives(0))
        time.sleep(LIVES_SECONDS)


def _settle(last: Reflector, outbox: Outbox) -> None:
    last.listed.wait()
    outbox.emptied()
    give_back()


def _send(outbox: Outbox, connection: Connection) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # who decides is gone, and so is this process
        while True:
            connection.send_bytes(ENCODER.encode(outbox.take()))


def _start(name: str, run: Callable[[], None]) -> None:
    """In a thread, with whose end the process ends: there is no watching in part."""

    def lasting() -> None:
        try:
            run()
        except BaseException:
            _log.exception("a thread has ended", thread=name)
            raise
        finally:
            os._exit(1)

    threading.Thread(target=lasting, name=name, daemon=True).start()
