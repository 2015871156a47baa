"""A reflector turn by turn, and a server that answers it as a test says, in time that the test sets."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from urllib3.exceptions import ReadTimeoutError

from spotproof.controller.cache import Cache, Key
from spotproof.controller.intake import Intake
from spotproof.controller.kinds import JOBSET, NODE, POD, Kind, Object
from spotproof.controller.metrics import Unobserved, WatchEnd
from spotproof.controller.projecting import Watched
from spotproof.controller.reflector import END_SECONDS, Reflector
from spotproof.controller.watched import WATCHED
from spotproof.kube.streaming import Page, Stream

A = Key("JobSet", "team", "a")
POLICY_LABEL = {"spotproof.dev/fallback-policy": "standard"}
OF_JOBSETS = next(each for each in WATCHED if each.kind == JOBSET)
OF_PODS = next(each for each in WATCHED if each.kind == POD)
OF_NODES = next(each for each in WATCHED if each.kind == NODE)
SILENCE = ReadTimeoutError(None, "", "read timed out")  # pyright: ignore[reportArgumentType]


def jobset(at: int, name: str = "a", **spec: Any) -> Object:
    meta = {"name": name, "namespace": "team", "resourceVersion": str(at), "labels": POLICY_LABEL}
    return {"metadata": meta, "spec": spec}


def event(what: str, thing: Object) -> Object:
    return {"type": what, "object": thing}


def bookmark(at: int) -> Object:
    return event("BOOKMARK", {"metadata": {"resourceVersion": str(at)}})


def error(code: int, **details: Any) -> Object:
    return event("ERROR", {"kind": "Status", "code": code, "message": "no", "details": details})


def listed(at: int, *items: Object, go_on: str = "") -> Page:
    return Page(list(items), str(at), go_on)


class Answer:
    """The body of a watch: what came, and how it ended."""

    def __init__(self, events: Sequence[Object], end: Exception | None) -> None:
        self.events = events
        self.end = end
        self.closed = False
        self.meanwhile: Callable[[], None] = lambda: None

    def stream(self, _: int) -> Iterator[bytes]:
        self.meanwhile()
        whole = b"".join(json.dumps(each).encode() + b"\n" for each in self.events)
        yield whole[: len(whole) // 2]  # pieces are not lines
        yield whole[len(whole) // 2 :]
        if self.end is not None:
            raise self.end

    def close(self) -> None:
        self.closed = True

    def shutdown(self) -> None:
        """Nothing: nobody waits."""


class Coming(Answer):
    """One whose events come one by one, each so many seconds after the one before it."""

    later: Iterator[float]
    passes: Callable[[float], None]

    def stream(self, _: int) -> Iterator[bytes]:
        for each in self.events:
            self.passes(next(self.later))
            yield json.dumps(each).encode() + b"\n"


Said: TypeAlias = Page | Answer | Exception


class Server:
    """Gives what it was told to, in this order, and keeps what it was asked."""

    def __init__(self, *said: Said, seconds_a_watch: float = 100.0) -> None:
        self.said = list(said)
        self.asked: list[tuple[Any, ...]] = []
        self.now = 0.0
        self.seconds_a_watch = seconds_a_watch

    def page(  # noqa: PLR0913  # what names a list
        self,
        api_version: str,
        kind: str,
        *,
        labels: str = "",
        limit: int = 0,
        go_on: str = "",
        decode: Callable[[bytes], Object] = json.loads,
    ) -> Page:
        assert decode(b'{"metadata": {}, "items": []}') == {"metadata": {}, "items": []}
        self.asked.append(("list", api_version, kind, labels, limit, go_on))
        said = self._next()
        assert isinstance(said, Page)
        return said

    def stream(  # noqa: PLR0913  # what names a watch
        self,
        api_version: str,
        kind: str,
        since: str,
        *,
        labels: str = "",
        end_seconds: int = 300,
        silence_seconds: float = 90.0,
        decode: Callable[[bytes], Object] = json.loads,
    ) -> Stream:
        assert (api_version, kind, labels) in {(*each.kind, each.labels) for each in (OF_JOBSETS, OF_PODS, OF_NODES)}
        assert end_seconds >= END_SECONDS > silence_seconds
        self.asked.append(("watch", kind, since))
        said = self._next()
        assert isinstance(said, Answer)
        self.now += self.seconds_a_watch
        return Stream(said, decode)

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def _next(self) -> Page | Answer:
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


class Seen(Unobserved):
    """What was told of watches and lists."""

    def __init__(self) -> None:
        self.ends: list[WatchEnd] = []
        self.lists: list[int] = []

    def watch_ended(self, kind: Kind, why: WatchEnd) -> None:  # noqa: ARG002  # the protocol's
        self.ends.append(why)

    def listed(self, kind: Kind, objects: int, seconds: float) -> None:  # noqa: ARG002  # the protocol's
        self.lists.append(objects)


class Played:
    """A reflector, turn by turn."""

    def __init__(self, *said: Said, watched: Watched = OF_JOBSETS, seconds_a_watch: float = 100.0) -> None:
        self.server = Server(*said, seconds_a_watch=seconds_a_watch)
        self.cache = Cache()
        self.seen = Seen()
        self.woken: list[set[Key]] = []
        self.urgent: list[set[Key]] = []
        self.pauses: list[float] = []
        self.reflector = Reflector(
            self.server,
            watched,
            Intake(watched, self.cache, self.wake),
            observer=self.seen,
            seconds=lambda: self.server.now,
            jitter=lambda: 0.0,
            pause=self.pauses.append,
        )

    def wake(self, keys: set[Key], *, urgent: bool = False) -> None:
        (self.urgent if urgent else self.woken).append(keys)

    def turns(self, count: int) -> list[float]:
        return [self.reflector.turn() for _ in range(count)]

    @property
    def verbs(self) -> list[str]:
        return [each[0] for each in self.server.asked]


def watch(*events: Object, end: Exception | None = None) -> Answer:
    return Answer(events, end)
