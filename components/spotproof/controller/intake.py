"""What a watch delivers, taken into the cache, and who is told of it."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, Protocol

from spotproof.controller.cache import Cache, Key
from spotproof.controller.kinds import POD, Object
from spotproof.controller.pods import is_to_stay
from spotproof.controller.projecting import Watched
from spotproof.controller.relations import Place, place
from spotproof.controller.shared import Shared

MOST_APART: Final = 4_096
"""Objects of a watch that may have parts of their own, some 3 kB each, before the oldest must share them. Sharing was
half the work of taking in a gang that starts again, and of its pods' five versions only the last one stays."""


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
        self._apart: OrderedDict[Place, Object | None] = OrderedDict()
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
        kind, where, known = self.watched.kind, place(thing), self._known(thing)
        stayed = kind == POD and known is not None and is_to_stay(known)
        concerned = (self._cache.drop if deleted else self._cache.put)(kind, thing)
        self._changed(concerned, urgent=stayed and (deleted or not is_to_stay(thing)))
        if deleted:
            self._apart.pop(where, None)
        else:
            self._apart.setdefault(where, known)
            self.share(len(self._apart) - MOST_APART)

    def renew(self, namespace: str, name: str, version: str) -> None:
        """Of an object nothing but the resource version is new; one that is not known was not kept, and comes again."""
        if (known := self._cache.get(self.watched.kind, namespace, name)) is not None:
            self.take({**known, "metadata": {**known["metadata"], "resourceVersion": version}}, deleted=False)

    def share(self, most: int) -> int:
        """Have so many objects, those that came first, share their parts with others; returns how many there were."""
        shared = 0
        while shared < most and self._apart:
            where, before = self._apart.popitem(last=False)
            if (thing := self._cache.get(self.watched.kind, *where)) is not None:
                self._cache.exchange(self.watched.kind, thing, self._shared.of(thing, before))
            shared += 1
        return shared

    def withdraw(self) -> None:
        """The API server does not have the kind, or not any more."""
        self._changed(self._cache.withdraw(self.watched.kind))
        self.listed.set()

    def _known(self, thing: Object) -> Object | None:
        return self._cache.get(self.watched.kind, *place(thing))
