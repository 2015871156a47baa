"""What a watch delivers, taken into the cache, and who is told of it."""

import threading
from collections.abc import Sequence
from typing import Protocol

from spotproof.controller.cache import Cache, Key
from spotproof.controller.kinds import POD, Object, Watched
from spotproof.controller.pods import is_to_stay
from spotproof.controller.relations import place
from spotproof.controller.shared import Shared


class Changed(Protocol):
    """Who is told of the jobs that news may concern; it is urgent where one of their pods is lost."""

    def __call__(self, keys: set[Key], *, urgent: bool = False) -> None:
        """Have them looked at."""
        ...


class Intake:
    """Keeps the cache of one watch as the API server is. Used by one thread, but for `listed`.

    Args:
        watched: Which objects.
        cache: Where they go.
        changed: Told of the jobs that a change may concern.
    """

    def __init__(self, watched: Watched, cache: Cache, changed: Changed) -> None:
        self.watched = watched
        self.listed = threading.Event()
        """Set once everything was listed for the first time, or the server was found not to have the kind."""
        self._cache = cache
        self._changed = changed
        self._shared = Shared()
        self._pages: list[Object] = []

    def begin(self) -> None:
        """A list begins; one before it that was not ended is nothing."""
        self._pages = []

    def page(self, things: Sequence[Object]) -> None:
        """Some objects of the list."""
        self._pages += (self._shared.of(each, self._known(each)) for each in things)

    def end(self, at: int) -> None:
        """The list, of this resource version, is whole; what is not in it is gone."""
        things, self._pages = self._pages, []
        concerned = self._cache.replace(self.watched.kind, things, self.watched.labels, at)
        self.listed.set()
        self._changed(concerned)

    def take(self, thing: Object, *, deleted: bool) -> None:
        """A version of an object, the last one where it is deleted."""
        kind, known = self.watched.kind, self._known(thing)
        news = self._shared.of(thing, known)
        stayed = kind == POD and known is not None and is_to_stay(known)
        concerned = (self._cache.drop if deleted else self._cache.put)(kind, news)
        self._changed(concerned, urgent=stayed and (deleted or not is_to_stay(news)))

    def withdraw(self) -> None:
        """The API server does not have the kind, or not any more."""
        self._changed(self._cache.withdraw(self.watched.kind))
        self.listed.set()

    def _known(self, thing: Object) -> Object | None:
        return self._cache.get(self.watched.kind, *place(thing))
