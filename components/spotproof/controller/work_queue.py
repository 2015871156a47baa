"""Which job is looked at next: each by one worker at a time, again where news came meanwhile, and later where asked.

Nothing in it waits by itself except `next`, and all time comes from the clock it is given, so that a simulation can
take what is due at a virtual instant, one key after the other, with the same outcome every time.
"""

import heapq
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)

LONGEST_WAIT_SECONDS: Final = 5.0
"""A worker looks at the clock at least so often: a wall clock that is set forward makes jobs due that nobody wakes."""
MOST_RETRY_AFTER_SECONDS: Final = 300.0
"""Of a server that asks for more; the API server itself says 1 to 30."""
MOST_HASTY: Final = 3
"""Failures in a row after which news waits for the backoff too: a conflict is over by then."""
MOST_RESTING: Final = 1024
"""Keys of which it is known until when they rest, before those whose rest is over are forgotten."""
URGENT_IN_A_ROW: Final = 3
"""So many urgent keys at most are taken while another one is ready."""
STALE: Final = 64
"""Entries of the heap that may be outdated before it is made anew, beside as many as there are valid ones."""


class Backoff(NamedTuple):
    """How long a job that failed waits: doubled each time, at random between half of that and all of it."""

    first_seconds: float = 0.25
    most_seconds: float = 60.0

    def seconds(self, failures: int, jitter: float) -> float:
        """After so many failures in a row, 1 being the first; `jitter` is from 0 to 1."""
        doubled = self.first_seconds * 2.0 ** min(failures - 1, 62)
        return min(doubled, self.most_seconds) * (0.5 + 0.5 * jitter)


class Again(NamedTuple):
    """When a key that failed comes again without news, and for how many times in a row it has failed."""

    seconds: float
    failures: int


class Depth(NamedTuple):
    """How much there is to do."""

    ready: int
    later: int
    at_work: int
    oldest_seconds: float
    """How long the one that has waited longest has been ready."""


class WorkQueue(Generic[K]):
    """Keys to be looked at.

    A key is with one worker at a time: what is added while it is at work is ready again when it is done. Of several
    instants to look again the earliest counts, and taking the key settles them all. A failed key comes again by its
    backoff, or at once where news comes; not before the instant that a server named by Retry-After, and not before its
    backoff once it has failed several times in a row: news of a busy job came 50 times a second. One that was looked at
    rests for a moment, so that a gang that starts again, whose pods are news 40 times in some seconds, is looked at
    now and then. Keys with urgent news come before the others, but for one in four: when a zone goes, what was lost is
    counted first, and what comes of it afterwards.

    Args:
        clock: Seconds; every instant given to the queue is of this clock.
        jitter: A number from 0 to 1, anew at each call.
        backoff: How long failed keys wait.
        rest_seconds: How long a key that was looked at rests, whatever news comes.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        jitter: Callable[[], float],
        backoff: Backoff | None = None,
        rest_seconds: float = 0.0,
    ) -> None:
        self._clock = clock
        self._jitter = jitter
        self._backoff = backoff or Backoff()
        self._rest_seconds = rest_seconds
        self._changed = threading.Condition()
        self._urgent: OrderedDict[K, float] = OrderedDict()
        self._ready: OrderedDict[K, float] = OrderedDict()
        self._hurried: set[K] = set()
        self._in_a_row = 0
        self._working: set[K] = set()
        self._again: dict[K, float] = {}
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._pushed = 0
        self._failures: dict[K, int] = {}
        self._not_before: dict[K, float] = {}
        self._done_at: dict[K, float] = {}
        self._stopped = False

    def add(self, key: K, *, urgent: bool = False) -> None:
        """There is news of this key."""
        with self._changed:
            if urgent:
                self._hurry(key)
            if key in self._not_before and self._not_before[key] > self._clock():
                self._later(key, self._not_before[key])
            elif key in self._working:
                self._again.setdefault(key, self._clock())
            elif (until := self._rests_until(key)) is not None:
                self._later(key, until)
            else:
                self._make_ready(key, self._clock())

    def add_at(self, key: K, instant: float) -> None:
        """Look at it at this instant, unless an earlier one is asked for too."""
        with self._changed:
            self._later(key, max(instant, self._not_before.get(key, instant)))

    def take(self) -> K | None:
        """A key that is due now, of its line the one that has waited longest; at work until it is `done` or `failed`.

        None where nothing is due, and once the queue is stopped.
        """
        with self._changed:
            self._ripen()
            if self._stopped or not (self._urgent or self._ready):
                return None
            key, _ = self._next_line().popitem(last=False)
            self._working.add(key)
            self._hurried.discard(key)
            self._due.pop(key, None)
            self._not_before.pop(key, None)
            return key

    def next(self) -> K | None:
        """As `take`, but waits until something is due; None only once the queue is stopped."""
        with self._changed:
            while not self._stopped:
                if (key := self.take()) is not None:
                    return key
                at = self._next_at()
                wait = LONGEST_WAIT_SECONDS if at is None else max(0.0, at - self._clock())
                self._changed.wait(min(wait, LONGEST_WAIT_SECONDS))
            return None

    def done(self, key: K, again_at: float | None = None) -> None:
        """It was looked at; to be looked at again at that instant, or on news alone."""
        with self._changed:
            self._failures.pop(key, None)
            if again_at is not None:
                self._later(key, again_at)
            self._rest(key)
            self._leave(key)

    def failed(self, key: K, retry_after_seconds: float | None = None) -> Again:
        """It could not be looked at to the end.

        Args:
            key: The key.
            retry_after_seconds: What the server said, which holds for news too.
        """
        with self._changed:
            self._failures[key] = self._failures.get(key, 0) + 1
            seconds = self._backoff.seconds(self._failures[key], self._jitter())
            held = seconds if self._failures[key] > MOST_HASTY else 0.0
            if retry_after_seconds is not None:
                held = max(held, min(retry_after_seconds, MOST_RETRY_AFTER_SECONDS))
            if held:
                seconds = max(seconds, held)
                self._not_before[key] = self._clock() + held
                self._again.pop(key, None)
            self._later(key, self._clock() + seconds)
            self._leave(key)
            return Again(seconds, self._failures[key])

    def next_at(self) -> float | None:
        """The instant at which something is due; None where nothing will be without news."""
        with self._changed:
            return self._next_at()

    def depth(self) -> Depth:
        """How much there is to do."""
        with self._changed:
            self._ripen()
            since = [*self._urgent.values(), *self._ready.values()]
            waited = max(0.0, self._clock() - min(since)) if since else 0.0
            return Depth(len(since), len(self._due), len(self._working), waited)

    def stop(self) -> None:
        """Give nothing out any more; whoever waits in `next` gets None."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _next_line(self) -> OrderedDict[K, float]:
        """Urgent keys, unless it is another one's turn."""
        other = bool(self._ready) and (not self._urgent or self._in_a_row >= URGENT_IN_A_ROW)
        self._in_a_row = self._in_a_row + 1 if self._ready and not other else 0
        return self._ready if other else self._urgent

    def _hurry(self, key: K) -> None:
        """Whenever it is ready, it is so in the line of those that are urgent; also where it waits in the other one."""
        self._hurried.add(key)
        if key in self._ready:
            self._urgent[key] = self._ready.pop(key)

    def _make_ready(self, key: K, since: float) -> None:
        """In its line, as long as it is in none."""
        if key not in self._urgent and key not in self._ready:
            line = self._urgent if key in self._hurried else self._ready
            line[key] = since
            self._changed.notify()

    def _later(self, key: K, instant: float) -> None:
        if key in self._due and self._due[key] <= instant:
            return
        self._due[key] = instant
        self._pushed += 1
        heapq.heappush(self._heap, (instant, self._pushed, key))
        if len(self._heap) > 2 * len(self._due) + STALE:
            self._heap = [entry for entry in self._heap if self._due.get(entry[2]) == entry[0]]
            heapq.heapify(self._heap)
        self._changed.notify()

    def _rest(self, key: K) -> None:
        if not self._rest_seconds:
            return
        now = self._clock()
        if len(self._done_at) > MOST_RESTING:
            self._done_at = {each: at for each, at in self._done_at.items() if 0 <= now - at < self._rest_seconds}
        self._done_at[key] = now
        if self._again.pop(key, None) is not None:
            self._later(key, now + self._rest_seconds)

    def _rests_until(self, key: K) -> float | None:
        """The end of its rest; None where it has none, or the clock was set back meanwhile."""
        at = self._done_at.get(key, -math.inf)
        return at + self._rest_seconds if 0 <= self._clock() - at < self._rest_seconds else None

    def _leave(self, key: K) -> None:
        self._working.discard(key)
        if key in self._again:
            self._make_ready(key, self._again.pop(key))
        if key in self._due:
            self._changed.notify()

    def _ripen(self) -> None:
        """What is due becomes ready, in the order of its instants."""
        now = self._clock()
        while self._heap and self._heap[0][0] <= now:
            instant, _, key = heapq.heappop(self._heap)
            if self._due.get(key) != instant:
                continue
            if key in self._working:
                self._again.setdefault(key, instant)
            else:
                self._make_ready(key, instant)
            del self._due[key]

    def _next_at(self) -> float | None:
        if self._urgent or self._ready:
            return self._clock()
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None
