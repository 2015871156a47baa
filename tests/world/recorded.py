"""A world's writes as a recording: the form in which real control planes were recorded."""

from spotproof.controller.kinds import Object
from spotproof.rehearsal.recording import CHANGES, Recording, Version
from tests.world.store import Change
from tests.world.world import World


class Recorded:
    """Every write to a world from now on."""

    def __init__(self, world: World) -> None:
        self._clock = world.clock
        self._began = world.clock.now
        self._versions: list[Version] = []
        world.store.tell(None, self._take)

    def _take(self, change: Change, thing: Object, old: Object | None) -> None:
        del old
        self._versions.append(Version(self._clock.now - self._began, CHANGES[change.lower()], thing))

    def recording(self) -> Recording:
        """What was written so far."""
        return Recording(tuple(self._versions), seconds=self._clock.now - self._began)
