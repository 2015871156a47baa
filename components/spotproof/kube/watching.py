"""Several kinds watched at once, as one stream in the order in which it was received."""

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

from spotproof.kube.streaming import lines

_GONE: Final = 410


class Change(NamedTuple):
    """A version of an object: `ADDED`, `MODIFIED` or `DELETED`, and when it was received, in seconds of the clock."""

    type: str
    object: dict[str, Any]
    received_at: float


class Watch:
    """An iterator over changes that blocks until the next one, and ends when it is closed, from any thread.

    A connection that the server ends is made again from the last version seen, so nothing is missed or repeated.
    """

    def __init__(
        self,
        request: Callable[..., Any],
        paths: Sequence[tuple[str, str]],
        since: str,
        clock: Callable[[], float] = time.time,
        fields: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._request = request
        self._clock = clock
        self._received: queue.Queue[Change | Exception | None] = queue.Queue()
        self._closed = threading.Event()
        self._answers: dict[str, Any] = {}
        self._threads = [
            threading.Thread(
                target=self._follow, args=(path, since, fields.get(kind, "")), name=f"watch {kind}", daemon=True
            )
            for kind, path in paths
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        """Itself, to be closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __iter__(self) -> Iterator[Change]:
        """Changes until it is closed."""
        while (change := self.next()) is not None:
            yield change

    def next(self, within_seconds: float | None = None) -> Change | None:
        """The next change; None where none came within the time, or when the watch is closed.

        Raises:
            Exception: what ended the watch of one of the kinds, such as a refusal.
        """
        try:
            received = self._received.get(timeout=within_seconds)
        except queue.Empty:
            return None
        if isinstance(received, Exception):
            raise received
        return received

    def close(self) -> None:
        """End it; what was received and not read is still read by who iterates."""
        if self._closed.is_set():
            return
        self._closed.set()
        for answer in list(self._answers.values()):
            with contextlib.suppress(Exception):  # an answer that ends by itself meanwhile
                answer.shutdown()
        for thread in self._threads:
            thread.join(5)
        self._received.put(None)

    def _follow(self, path: str, since: str, fields: str) -> None:
        try:
            while not self._closed.is_set():
                since = self._read(path, since, fields)
        except Exception as error:  # noqa: BLE001  # whoever iterates is told, in the thread that can handle it
            if not self._closed.is_set():
                self._received.put(error)

    def _read(self, path: str, since: str, fields: str) -> str:
        query = [("watch", "true"), ("allowWatchBookmarks", "true"), ("resourceVersion", since)]
        if fields:
            query.append(("fieldSelector", fields))
        answer = self._answers[path] = self._request(path, query=query)
        if self._closed.is_set():  # meanwhile, and before this answer was there to be ended
            answer.shutdown()
        try:
            for line in lines(answer):
                since = self._receive(json.loads(line))
        except Exception:
            if not self._closed.is_set():
                raise
        finally:
            answer.close()
        return since

    def _receive(self, event: Mapping[str, Any]) -> str:
        thing = event["object"]
        if event["type"] == "ERROR":
            raise RuntimeError(f"the watch was ended by the server: {thing.get('message') or thing}")
        if event["type"] != "BOOKMARK":
            self._received.put(Change(event["type"], thing, self._clock()))
        return str(thing["metadata"]["resourceVersion"])
