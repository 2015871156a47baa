"""The garbage collector: what an object owned goes after it, or before it where that was asked."""

from collections.abc import Callable, Mapping

from spotproof.controller.kinds import Kind, Object
from tests.world.server import Server
from tests.world.store import Change, kind_of, place
from tests.world.things import FOREGROUND, leaves, meta, uid, without


class Garbage:
    """Acts at once: the real one takes some hundredths of a second."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def thing(self, change: Change, thing: Object, old: Object | None) -> None:
        """Any object has changed."""
        del old
        if change == "DELETED":
            self._soon(lambda: self._after(thing))
        elif leaves(thing) and FOREGROUND in thing["metadata"].get("finalizers", ()):
            self._soon(lambda: self._before(thing))

    def _soon(self, act: Callable[[], None]) -> None:
        self._server.clock.after(0.01, act)

    def _after(self, owner: Object) -> None:
        for each in self._server.store.dependents(uid(owner)):
            self._go(each)
        for reference in owner["metadata"].get("ownerReferences", ()):
            self._unblock(reference, owner)

    def _before(self, owner: Object) -> None:
        now = self._server.store.get(kind_of(owner), place(owner))
        if now is None or uid(now) != uid(owner):
            return
        for each in self._server.store.dependents(uid(owner)):
            self._go(each)
        if not self._server.store.dependents(uid(owner)):
            self._release(now)

    def _unblock(self, reference: Mapping[str, str], gone: Object) -> None:
        """Let the owner of what has gone go too, where it waited for this."""
        where = (gone["metadata"].get("namespace", ""), reference["name"])
        owner = self._server.store.get(Kind(reference["apiVersion"], reference["kind"]), where)
        if owner is not None and leaves(owner) and uid(owner) == reference["uid"]:
            self._before(owner)

    def _go(self, thing: Object) -> None:
        if not leaves(thing):
            where = thing["metadata"]
            self._server.delete(thing["apiVersion"], thing["kind"], where["name"], where.get("namespace"))

    def _release(self, owner: Object) -> None:
        finalizers = owner["metadata"].get("finalizers", ())
        if FOREGROUND in finalizers:
            self._server.store.write(owner, meta(owner, finalizers=without(finalizers, FOREGROUND)))
