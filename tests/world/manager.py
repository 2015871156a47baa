"""What the world's controllers have in common: a key is looked at some time after something of it has changed."""

from abc import ABC, abstractmethod
from random import Random

from spotproof.controller.kinds import Kind
from tests.world.server import Server
from tests.world.store import Place


class Manager(ABC):
    """One controller. It looks at one object at a time, and sees everything as it is at that moment."""

    def __init__(self, server: Server, chance: Random) -> None:
        self.server = server
        self.store = server.store
        self.clock = server.clock
        self.chance = chance
        self._due: dict[Place, float] = {}

    @abstractmethod
    def sync(self, where: Place) -> None:
        """Look at one object and do what is to be done."""

    def later(self, where: Place, seconds: float) -> None:
        """Look at it in so many seconds, or sooner where that is due already."""
        at = self.clock.now + seconds
        if self._due.get(where, at + 1) <= at:
            return
        self._due[where] = at
        self.clock.after(seconds, lambda: self._run(where, at))

    def _run(self, where: Place, at: float) -> None:
        if self._due.get(where) == at:
            del self._due[where]
            self.sync(where)

    def there(self, kind: Kind, where: Place) -> bool:
        """Whether an object is there."""
        return self.store.get(kind, where) is not None
