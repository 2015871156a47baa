"""The fallback controller as one process in a world: its watches, its cache, its queue. It can die at any call."""

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final

from spotproof.controller.cache import Cache, Key
from spotproof.controller.kinds import Kind, Object
from spotproof.controller.metrics import Unobserved
from spotproof.controller.projecting import Watched
from spotproof.controller.reconcile import Reconciler
from spotproof.controller.watched import WATCHED
from spotproof.kube.client import Refused, Unreachable
from tests.world.line import Killed, Line
from tests.world.store import Change
from tests.world.things import labels
from tests.world.world import World

DELIVERY_SECONDS: Final = 0.01
FIRST_BACKOFF_SECONDS: Final = 0.5
LAST_BACKOFF_SECONDS: Final = 30.0
OFTEN: Final = 300
"""Looks at one job within one second: more is a loop that nothing outside drives."""


class Watch:
    """One watch: what has happened and was not delivered yet, in order. `held` delivers nothing."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.held = False
        self.waiting: deque[tuple[Change, Object]] = deque()

    def fits(self, thing: Object) -> bool:
        """Whether an object is watched."""
        return not self.watched.labels or self.watched.labels in labels(thing)


class Counts(Unobserved):
    """What is counted for whoever reads the metrics, over all processes."""

    def __init__(self) -> None:
        self.moves: list[tuple[str, str]] = []
        self.interruptions: list[tuple[str, str]] = []

    def moved(self, kind: str, reason: str) -> None:
        """A job was moved."""
        self.moves.append((kind, reason))

    def interrupted(self, kind: str, cause: str) -> None:
        """An interruption was counted."""
        self.interruptions.append((kind, cause))


class Process:
    """One process after the other: what it knew is lost when it dies, the TrainingRuns stay."""

    def __init__(self, world: World, *, seed: int = 0) -> None:
        self._world = world
        self.line = Line(world.server)
        self._skew = 0.0
        self.drift = 0.0
        """Seconds by which the process's clock has jumped in all, forward or back."""
        self.unsure_at = world.now
        """When it last began, ended, or lost or found again something that it hears."""
        self.up = False
        self.looks = 0
        self.counts = Counts()
        self._life = 0
        self._chance = Random(seed)  # noqa: S311  # no secret
        self._watches: list[Watch] = []
        self._due: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._often: dict[Key, tuple[int, int]] = {}
        for watched in WATCHED:
            world.store.tell(watched.kind, self._teller(len(self._watches)))
            self._watches.append(Watch(watched))

    @property
    def skew(self) -> float:
        """Seconds by which the process's clock is off."""
        return self._skew

    @skew.setter
    def skew(self, seconds: float) -> None:
        self.drift += abs(seconds - self._skew)
        self._skew = seconds

    # life

    def start(self) -> None:
        """A new process lists everything, in the order of WATCHED, and looks at every job."""
        self._life += 1
        self.up, self.unsure_at = True, self._world.now
        self.cache = Cache()
        self._due.clear()
        self._failures.clear()
        self._watches = [Watch(each.watched) for each in self._watches]
        self._reconciler = Reconciler(
            self.line,
            self.cache,
            clock=lambda: self._world.now + self.skew,
            jitter=self._chance.random,
            observer=self.counts,
        )
        for watch in self._watches:
            self._list(watch)
        # who waits for the lease hears all of this and does nothing about it
        self._due.clear()
        for key in sorted(self.cache.everything()):
            self._add(key, 0.0)

    def kill(self) -> None:
        """The process is gone, and with it all it knew."""
        self._life += 1
        self.up, self.unsure_at = False, self._world.now
        self._due.clear()

    @property
    def is_watching(self) -> bool:
        """Whether it is up, hears everything, and nothing is about to go wrong for it."""
        return self.up and not self.line.troubles and not any(watch.held for watch in self._watches)

    def was_watching(self, seconds: float) -> bool:
        """Whether it has been so for that long."""
        unsure_at = max(self.unsure_at, self.line.went_wrong_at)
        return self.is_watching and self._world.now - unsure_at >= seconds

    def hears_of(self, kind: Kind) -> bool:
        """Whether a watch of that kind delivers."""
        return not any(watch.held for watch in self._watches if watch.watched.kind == kind)

    # watches

    def hold(self, place: int) -> None:
        """Deliver nothing of one watch any more, until it is released."""
        self._watches[place].held, self.unsure_at = True, self._world.now

    def release(self) -> None:
        """Deliver all that was held."""
        self.unsure_at = self._world.now
        for watch in self._watches:
            watch.held = False
            self._deliver(watch)

    def expire(self, place: int) -> None:
        """410 Gone: the watch has lost its place, what was not delivered is lost, and everything is listed again."""
        watch, self.unsure_at = self._watches[place], self._world.now
        watch.waiting.clear()
        watch.held = False
        if self.up:
            self._list(watch)

    def _list(self, watch: Watch) -> None:
        watched = watch.watched
        try:
            found = self._world.server.list(*watched.kind, labels=watched.labels)
        except Refused:
            return
        for key in self.cache.replace(watched.kind, map(watched.project, found), watched.labels):
            self._add(key, 0.0)

    def _teller(self, place: int) -> Callable[[Change, Object, Object | None], None]:
        def told(change: Change, thing: Object, old: Object | None) -> None:
            watch = self._watches[place]
            was, fits = old is not None and watch.fits(old), watch.fits(thing)
            if not self.up or not (was or fits):
                return
            watch.waiting.append(("DELETED" if change == "DELETED" or not fits else "MODIFIED", thing))
            self._world.clock.after(DELIVERY_SECONDS, lambda: self._deliver(watch))

        return told

    def _deliver(self, watch: Watch) -> None:
        if watch.held or not self.up or watch not in self._watches:
            return
        while watch.waiting:
            change, thing = watch.waiting.popleft()
            seen = watch.watched.project(thing)
            take = self.cache.drop if change == "DELETED" else self.cache.put
            for key in take(watch.watched.kind, seen):
                self._add(key, 0.0)

    # queue

    def _add(self, key: Key, seconds: float) -> None:
        at = self._world.now + max(seconds, 0.0)
        if self._due.get(key, at + 1) <= at:
            return
        self._due[key] = at
        life = self._life
        self._world.clock.after(seconds, lambda: self._look(key, at, life))

    def _look(self, key: Key, at: float, life: int) -> None:
        if life != self._life or self._due.get(key) != at:
            return
        del self._due[key]
        self.looks += 1
        self._count(key)
        try:
            again = self._reconciler.reconcile(key)
        except Killed:
            self.kill()
        except (Refused, Unreachable):
            self._failures[key] = self._failures.get(key, 0) + 1
            backoff = min(FIRST_BACKOFF_SECONDS * 2 ** (self._failures[key] - 1), LAST_BACKOFF_SECONDS)
            self._add(key, backoff * (1 + self._chance.random()))
        else:
            self._failures.pop(key, None)
            if again is not None:
                self._add(key, again - self._world.now - self.skew)

    def _count(self, key: Key) -> None:
        second, count = self._often.get(key, (0, 0))
        now = int(self._world.now)
        self._often[key] = (now, count + 1 if second == now else 1)
        assert self._often[key][1] < OFTEN, f"{key} is looked at without end\n{self._world.picture()}"
