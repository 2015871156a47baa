"""Records a control plane: every version of every object that a watch delivers, until told to stop."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import CHANGES, Mark, Recording, Version
from spotproof.rehearsal.redaction import HOLDERS, Redaction
from spotproof.vocabulary import API_VERSION

KINDS: Final[Mapping[str, str]] = {
    "Pod": "v1",
    "Node": "v1",
    "Event": "v1",
    "Job": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "RayJob": "ray.io/v1",
    "RayCluster": "ray.io/v1",
    "NodeClaim": "karpenter.sh/v1",
    "TrainingRun": API_VERSION,
}
"""What a story is told from: kind -> apiVersion. A control plane without an operator, or our controller, lacks its
kinds."""

REPEATS: Final = "Status condition transitioned"
"""Events that begin so tell what the next version of their object shows; they would be a third of a recording."""
LOOK_SECONDS: Final = 0.2
"""How long a look into the stream takes at most, so that an end is noticed."""
SETTLE_SECONDS: Final = 0.3
"""After the end: what was written before it has then been delivered, all of it on this machine."""


class Received(Protocol):
    """One delivery of a watch."""

    @property
    def type(self) -> str:
        """`ADDED`, `MODIFIED` or `DELETED`."""
        ...

    @property
    def object(self) -> dict[str, Any]:
        """The version."""
        ...

    @property
    def received_at(self) -> float:
        """When it came, by the clock of the recorder."""
        ...


class Stream(Protocol):
    """Several kinds watched at once."""

    def next(self, within_seconds: float | None = None) -> Received | None:
        """The next delivery; None where none came within the time."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Server(Protocol):
    """What is asked of an API server: `kube.Kube` has it."""

    def resource_version(self) -> str:
        """The state of everything now."""
        ...

    def watch(self, kinds: Iterable[tuple[str, str]], since: str) -> Stream:
        """Every version of every object of kinds that was written after a state."""
        ...

    def list(self, api_version: str, kind: str) -> Sequence[dict[str, Any]]:
        """Every object of a kind that is there now."""
        ...


class Recorder:
    """Keeps every version of every object of some kinds, with the time it was received.

    To be used in a `with`. `raw()` and `recording()` may be asked for at any time, also while it goes on.
    """

    def __init__(
        self,
        kube: Server,
        *,
        kinds: Mapping[str, str] = KINDS,
        hidden: Sequence[str | Path] = (),
        about: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            kube: The API server, as somebody sees it who may list and watch the kinds.
            kinds: Kind to apiVersion; every one of them is served there.
            hidden: Words that must not be found in a file beside the machine's name, such as folders.
            about: What a reader of the file should know.
            now: The clock of `received_at`, in seconds since 1970.

        Raises:
            ValueError: a kind is to be recorded that holds secrets.
        """
        if secret := sorted(HOLDERS & kinds.keys()):
            raise ValueError(f"{', '.join(secret)} cannot be recorded: a file of tests is no place for secrets")
        self._kube, self._now, self._kinds = kube, now, dict(kinds)
        self._hidden = [*_machine(), *map(str, hidden)]
        self._about = dict(about or {})
        self._lock, self._stop, self._news = threading.Lock(), threading.Event(), threading.Event()
        self._zero = float(int(now()))
        self._began = 0
        self._versions: list[Version] = []
        self._seen: set[tuple[str, str, bool]] = set()
        self._marks: list[Mark] = []
        self._failures: list[str] = []
        self._ended: float | None = None
        self._thread = threading.Thread(target=self._follow, name="recorder", daemon=True)

    def __enter__(self) -> Self:
        """Begin: what is there now is recorded as `there`.

        Watched is what is written from this state on, however late a watch is answered. A watch that begins with what
        is there lacks what was written until then: on a full machine that of JobSets once came after the pods, and they
        passed for those of another job.
        """
        began = self._kube.resource_version()
        self._began = int(began)
        for kind, version in self._kinds.items():
            for thing in self._kube.list(version, kind):
                if int(thing["metadata"]["resourceVersion"]) <= self._began:  # what is newer is watched
                    self.receive("added", thing, self._now())
        self._stream = self._kube.watch([(version, kind) for kind, version in self._kinds.items()], began)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()

    def stop(self) -> None:
        """Stop; what was recorded stays."""
        if self._ended is not None:
            return
        self._stop.wait(SETTLE_SECONDS)
        self._ended = self._now()
        self._stop.set()
        self._thread.join()
        self._stream.close()

    @property
    def seconds(self) -> float:
        """Since the start; after the end, up to there."""
        return (self._now() if self._ended is None else self._ended) - self._zero

    @property
    def failures(self) -> list[str]:
        """What ended the watch of a kind, so that the recording has a hole from then on."""
        with self._lock:
            return list(self._failures)

    def mark(self, did: str, to: str = "") -> None:
        """Note what is done from outside, before it is done."""
        with self._lock:
            self._marks.append(Mark(self._now() - self._zero, did, to))

    def wait_for_news(self, at_least_seconds: float, at_most_seconds: float) -> None:
        """Return once something was recorded since the last call, within these bounds; after the end, at the first."""
        time.sleep(at_least_seconds)
        if not self._stop.is_set():
            self._news.wait(at_most_seconds - at_least_seconds)
            self._news.clear()

    def receive(self, change: str, thing: Json, received_at: float) -> None:
        """Take one delivery of a watch; one that comes again after a watch began anew is taken once."""
        meta, known = thing.get("metadata", {}), CHANGES.get(change.lower())
        uid, written = meta.get("uid"), str(meta.get("resourceVersion", ""))
        if known is None or not uid or str(thing.get("message", "")).startswith(REPEATS):
            return
        if known == "added" and written.isdigit() and int(written) <= self._began:
            known = "there"
        with self._lock:
            if (key := (uid, written, known == "deleted")) not in self._seen:
                self._seen.add(key)
                self._versions.append(Version(received_at - self._zero, known, thing))
                self._news.set()

    def raw(self) -> Recording:
        """What was recorded so far as it came, for whoever looks on: not fit for a file."""
        with self._lock:
            versions, marks = list(self._versions), tuple(self._marks)
        return Recording(tuple(_in_order(versions)), marks, self.seconds, self._about)

    def recording(self) -> Recording:
        """What was recorded so far, redacted."""
        return redacted(self.raw(), zero=self._zero, hidden=self._hidden)

    def _follow(self) -> None:
        while not self._stop.is_set():
            try:
                received = self._stream.next(LOOK_SECONDS)
            except Exception as error:  # noqa: BLE001 - one kind's watch has ended; the others go on
                with self._lock:
                    self._failures.append(f"{type(error).__name__}: {error}")
            else:
                if received is not None:
                    self.receive(received.type, received.object, received.received_at)


def _in_order(versions: Sequence[Version]) -> Iterator[Version]:
    """Versions in the order in which they were written, none later than what was written after it.

    Each kind's watch is a stream of its own: on a busy machine a pod was received before the JobSet it is of. One etcd
    ranks the writes of all kinds (KEP-5504: resource versions of one cluster are integers that may be compared).
    """
    until, found = float("inf"), list[Version]()
    for each in sorted(versions, key=_rank, reverse=True):
        until = min(until, each.at)
        found.append(Version(until, each.change, each.object))
    yield from reversed(found)


def _rank(version: Version) -> tuple[int, float]:
    written = str(version.object["metadata"].get("resourceVersion", ""))
    return (int(written) if written.isdigit() else 0, version.at)


def _machine() -> list[str]:
    """The machine's name, where it is one and no word: a machine called `worker` is hidden by no replacing."""
    name = socket.gethostname()
    return [name] if re.search(r"[-.\d]", name) else []


def redacted(recording: Recording, *, zero: float, hidden: Sequence[str] = ()) -> Recording:
    """The recording as it may stand in a file; arguments as those of Redaction."""
    redaction = Redaction((each.object for each in recording.versions), zero=zero, hidden=hidden)
    versions = tuple(_written(recording.versions, redaction))
    about = {key: redaction.text(text) for key, text in sorted(recording.about.items())}
    marks = tuple(Mark(round(each.at, 3), each.did, redaction.text(each.to)) for each in recording.marks)
    return Recording(versions, marks, round(recording.seconds, 3), about)


def _written(versions: Iterable[Version], redaction: Redaction) -> Iterator[Version]:
    """Every version but those that only differ in what a file leaves out."""
    last: dict[str, Json] = {}
    for each in versions:
        thing = redaction.redacted(each.object)
        version = Version(round(each.at, 3), each.change, thing)
        if each.change != "deleted" and _meaning(last.get(version.uid)) == _meaning(thing):
            continue
        last[version.uid] = thing
        yield version


def _meaning(thing: Json | None) -> Json | None:
    """An object without the rank of its write, which alone says nothing."""
    if thing is None:
        return None
    return {**thing, "metadata": {key: each for key, each in thing["metadata"].items() if key != "resourceVersion"}}
