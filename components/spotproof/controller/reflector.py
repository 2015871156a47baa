"""What the API server has of one kind, told to who keeps it: listed page by page, projected, watched from there on.

Our own, because SharedInformer of the official client (37.0) keeps every object whole and deserialised, some 12 kB for
a pod of which we read 1 kB; lists without pages, so that the whole answer is in memory at once; repeats what it has
heard into its cache without looking at versions; and waits for ever on a connection that has died without a word, as
behind a load balancer or a node that went. The transport is the client's.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import structlog

from spotproof.controller.decoding import Decode, decoder, page_decoder
from spotproof.controller.kinds import Object
from spotproof.controller.metrics import WatchEnd, WatchObserver
from spotproof.controller.projecting import Watched
from spotproof.controller.work_queue import Backoff
from spotproof.kube.client import Refused, Unreachable
from spotproof.kube.errors import Silent
from spotproof.kube.streaming import Page, Stream

_log: Final = structlog.get_logger()

PAGE_OBJECTS: Final = 500
"""As client-go asks: 500 pods are 6 MB of JSON, which are gone again before the next page."""
END_SECONDS: Final = 300
"""A watch is ended by the server after this long and up to as long again, so that not all of them end at once."""
SILENCE_SECONDS: Final = 90.0
"""The API server sends a bookmark every 60 s where nothing happens."""
OVERTIME_SECONDS: Final = 30
"""A stream that goes on so long after its end was due is not the server's any more."""
SHORT_SECONDS: Final = 1.0
"""A watch that ends sooner, and has given nothing, is a failure: begun again at once, it would be so for ever."""
ALONE_SECONDS: Final = 0.002
"""An event that was waited for longer than this did not come with the one before it."""
LOOK_AGAIN_SECONDS: Final = 30.0
"""How often a kind is looked for that the server does not have, more or less by half."""
NOT_FOUND: Final = 404
GONE: Final = 410
PASSING: Final = frozenset({401, 403, 429, 503})
"""After these a watch goes on where it was. After any other refusal everything is listed again."""


class Restored(Exception):  # noqa: N818  # the name is the sentence
    """The API server's versions have gone back: it was restored from a backup, and what is known is of another past."""


class Source(Protocol):
    """Where objects come from; `kube.client.Kube` fits."""

    def page(  # noqa: PLR0913  # what names a list
        self,
        api_version: str,
        kind: str,
        *,
        labels: str = "",
        limit: int = 0,
        go_on: str = "",
        decode: Decode = ...,
    ) -> Page:
        """Some objects, and how to ask for the next ones."""
        ...

    def stream(  # noqa: PLR0913  # what names a watch
        self,
        api_version: str,
        kind: str,
        since: str,
        *,
        labels: str = "",
        end_seconds: int = 300,
        silence_seconds: float = 90.0,
        decode: Decode = ...,
    ) -> Stream:
        """What happens after a resource version."""
        ...


class Store(Protocol):
    """What is kept as the API server is; `intake.Intake` fits."""

    def begin(self) -> None:
        """A list begins; one before it that was not ended is nothing."""
        ...

    def page(self, things: Sequence[Object]) -> None:
        """Some objects of the list, projected."""
        ...

    def end(self, at: int) -> None:
        """The list, of this resource version, is whole."""
        ...

    def take(self, thing: Object, *, deleted: bool) -> None:
        """A version of an object, the last one where it is deleted."""
        ...

    def withdraw(self) -> None:
        """The API server does not have the kind, or not any more."""
        ...


class Reflector:
    """Tells a store everything of one watch, until it is stopped.

    Args:
        source: Where it lists and watches.
        watched: Which objects, and what is kept of one.
        store: Where they go.
        observer: Told of lists and of watches that end.
        seconds: A monotonic clock.
        jitter: A number from 0 to 1, anew at each call.
        pause: Waits so many seconds or until it is stopped; without one, its own.
        after: Set once the watch before this one has listed; None for the first.
    """

    def __init__(  # noqa: PLR0913  # where from, where to, and the time
        self,
        source: Source,
        watched: Watched,
        store: Store,
        *,
        observer: WatchObserver,
        seconds: Callable[[], float],
        jitter: Callable[[], float],
        pause: Callable[[float], object] | None = None,
        after: threading.Event | None = None,
    ) -> None:
        self.watched = watched
        self.listed = threading.Event()
        """Set once everything was listed for the first time, or the server was found not to have the kind."""
        self._source = source
        self._store = store
        self._observer = observer
        self._seconds = seconds
        self._jitter = jitter
        self._stopped = threading.Event()
        self._pause = pause or self._stopped.wait
        self._after = after
        self._backoff = Backoff(0.5, 30.0)
        self._failures = 0
        self._served = True
        self._doubted = False
        self._doubts = 0
        self._decode, self._decode_page = decoder(watched.shape), page_decoder(watched.shape)
        self._since = ""
        self._newest = 0
        self._stream: Stream | None = None

    def run(self) -> None:
        """List and watch until it is stopped.

        Raises:
            Restored: what is known cannot be mended; a new process begins afresh.
        """
        if self._after is not None:
            self._after.wait()
        while not self._stopped.is_set():
            if seconds := self.turn():
                self._pause(seconds)

    def stop(self) -> None:
        """End it, from any thread; `run` returns soon after."""
        self._stopped.set()
        self.listed.set()
        if (stream := self._stream) is not None:
            stream.close()

    def doubt(self) -> None:
        """What was told could not be kept: list everything again. From any thread."""
        self._doubted = True
        if (stream := self._stream) is not None:
            stream.close()

    def turn(self) -> float:
        """List where that is needed, and watch until the watch ends. Returns how many seconds to wait before the next.

        Raises:
            Restored: the server's versions have gone back.
        """
        try:
            if self._doubted:
                return self._begun_afresh()
            if not self._since:
                self._list()
            return self._watch()
        except Refused as refused:
            return self._refused(refused)
        except Silent:
            self._observer.watch_ended(self.watched.kind, "silent")
            return 0.0
        except Unreachable as unreachable:
            return 0.0 if self._stopped.is_set() else self._failed("unreachable", str(unreachable))
        except Restored:
            raise
        except Exception:  # noqa: BLE001  # an object that cannot be read must not end the watch of all others
            _log.exception("a watch failed", kind=self.watched.kind.kind)
            self._since = ""
            return self._failed("unreachable", "")

    def _begun_afresh(self) -> float:
        """Backed off by how often in a row: the list that follows may hold what could not be kept."""
        self._doubted, self._since = False, ""
        self._doubts += 1
        self._failures = self._doubts - 1
        return self._failed("unreachable", "what it has told could not be kept")

    def _list(self) -> None:
        kind, started, objects = self.watched.kind, self._seconds(), 0
        self._store.begin()
        page = self._page("")
        while True:
            self._store.page([self._projected(each) for each in page.items])
            objects += len(page.items)
            if not page.go_on:
                break
            page = self._page(page.go_on)
        at = int(page.resource_version)
        if at < self._newest:
            raise Restored(f"{kind.kind}: the list is of version {at}, and version {self._newest} was seen before it")
        self._store.end(at)
        self._served = True
        self._reached(page.resource_version)
        self._observer.listed(kind, objects, self._seconds() - started)
        if not self.listed.is_set():
            _log.info("listed", kind=kind.kind, selector=self.watched.labels, objects=objects)
        self.listed.set()

    def _page(self, go_on: str) -> Page:
        kind = self.watched.kind
        return self._source.page(
            kind.api_version,
            kind.kind,
            labels=self.watched.labels,
            limit=PAGE_OBJECTS,
            go_on=go_on,
            decode=self._decode_page,
        )

    def _watch(self) -> float:
        kind, started, since = self.watched.kind, self._seconds(), self._since
        end = END_SECONDS + int(END_SECONDS * self._jitter())
        stream = self._source.stream(
            kind.api_version,
            kind.kind,
            self._since,
            labels=self.watched.labels,
            end_seconds=end,
            silence_seconds=SILENCE_SECONDS,
            decode=self._decode,
        )
        self._stream = stream
        if self._stopped.is_set() or self._doubted:  # meanwhile, and before the stream was there to be closed
            stream.close()
        try:
            for event in self._gathered(stream):
                self._receive(event)
                if self._seconds() > started + end + OVERTIME_SECONDS:
                    raise Silent("the watch has outlived its end")
        finally:
            self._stream = None
            stream.release()
        if self._stopped.is_set():
            return 0.0
        if self._since == since and self._seconds() - started < SHORT_SECONDS:
            return self._failed("ended", "the watch ended at once")
        self._observer.watch_ended(kind, "ended")
        self._doubts = self._doubts if self._doubted else 0
        return 0.0

    def _gathered(self, stream: Stream) -> Iterator[Mapping[str, Any]]:
        """Its events; after one that came alone those of the next moment are left to come together.

        Waking up for each of 67 nodes' reports a second took 166 microseconds, reading them together 50.
        """
        if not (gather_seconds := self.watched.gather_seconds):
            yield from stream
            return
        asked = self._seconds()
        for event in stream:
            alone = self._seconds() - asked > ALONE_SECONDS
            yield event
            if alone:
                self._pause(gather_seconds)
            asked = self._seconds()

    def _receive(self, event: Mapping[str, Any]) -> None:
        thing: Object = event["object"]
        if event["type"] == "ERROR":
            details = thing.get("details") or {}
            code, message = int(thing.get("code", 500)), str(thing.get("message", "the watch was ended by the server"))
            raise Refused(code, message, str(thing.get("reason", "")), details.get("retryAfterSeconds"))
        if event["type"] != "BOOKMARK":
            self._store.take(self._projected(thing), deleted=event["type"] == "DELETED")
        self._reached(str(thing["metadata"]["resourceVersion"]))

    def _reached(self, version: str) -> None:
        self._since = version
        self._newest = max(self._newest, int(version))
        self._failures = 0

    def _projected(self, thing: Object) -> Object:
        kind = self.watched.kind
        return self.watched.project({"apiVersion": kind.api_version, "kind": kind.kind, **thing})

    def _refused(self, refused: Refused) -> float:
        if refused.status == NOT_FOUND and self.watched.optional:
            return self._not_served()
        if refused.status not in PASSING:
            self._since = ""
        if refused.status == GONE and not self._failures:
            self._failures = 1
            self._observer.watch_ended(self.watched.kind, "expired")
            return 0.0
        return self._failed("refused", str(refused), refused.retry_after_seconds)

    def _not_served(self) -> float:
        """An operator that is not there, yet or any more: no error, and looked for again."""
        self._since, self._failures = "", 0
        if self._served:
            self._observer.watch_ended(self.watched.kind, "not served")
            _log.info("the cluster does not have this kind", kind=self.watched.kind.kind)
        self._served = False
        self._store.withdraw()
        self.listed.set()
        return LOOK_AGAIN_SECONDS * (0.5 + self._jitter())

    def _failed(self, why: WatchEnd, message: str, retry_after_seconds: float | None = None) -> float:
        self._failures += 1
        self._observer.watch_ended(self.watched.kind, why)
        seconds = max(self._backoff.seconds(self._failures, self._jitter()), retry_after_seconds or 0.0)
        _log.warning(
            "a watch failed and is begun again",
            kind=self.watched.kind.kind,
            failures=self._failures,
            why=why,
            message=message,
            seconds=round(seconds, 1),
        )
        return seconds
