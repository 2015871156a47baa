"""What is looked at: which kinds, which of their objects, and what a look into a cluster has found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from spotproof.controller.kinds import JOB, NODE, POD, POLICY, RUN, Kind
from spotproof.controller.relations import MANAGED
from spotproof.fallback.run import Instant
from spotproof.status.reading import Object, name_of, text

EVENT: Final = Kind("v1", "Event")
"""Of the core API: it can be asked for by the kind of what an event is about."""

NODE_POOL: Final = Kind("karpenter.sh/v1", "NodePool")

COMMON: Final = ("Scheduled", "Pulling", "Pulled", "Created", "Started", "Killing", "BackOff", "Unhealthy", "Nominated")
"""Reasons of events of pods that have nothing to do with waiting for a node, and are most of them."""


class Looked(NamedTuple):
    """A kind that is looked at. `fields` selects among its objects, `lost` is what is missing without it.

    Without `lost` it is no more than a help: who may not list it, as most members of a workspace, is not told of it.
    """

    kind: Kind
    lost: str
    fields: str = ""
    namespaced: bool = True


LOOKED: Final = (
    Looked(RUN, "what the fallback controller does is not shown"),
    *(Looked(each, f"{each.kind}s on spot without a policy are not shown") for each in (*MANAGED.values(), JOB)),
    Looked(POD, "what jobs without a policy wait for is not shown", "status.phase=Pending"),
    Looked(
        EVENT,
        "the autoscaler's words are not shown",
        ",".join(("involvedObject.kind=Pod", *(f"reason!={reason}" for reason in COMMON))),
    ),
    *(Looked(each, "", namespaced=False) for each in (NODE, NODE_POOL)),
    Looked(POLICY, "which policy would move a job is not known", namespaced=False),
)


CLAIM_EVENTS: Final = "involvedObject.kind=NodeClaim"
"""Karpenter's refusals, which Kubernetes keeps in namespace `default`: who may not read them is not told of it."""


@dataclass(frozen=True)
class World:
    """What there is, by kind, at a moment.

    `notes` say what could not be looked at, one sentence each, and `unseen` are those kinds. `refusals` are events of
    NodeClaims.
    """

    objects: Mapping[Kind, tuple[Object, ...]]
    at: Instant = 0
    notes: tuple[str, ...] = ()
    unseen: frozenset[Kind] = frozenset()
    refusals: tuple[Object, ...] = ()

    def all(self, kind: Kind) -> tuple[Object, ...]:
        """All objects of a kind."""
        return self.objects.get(kind, ())


class Store:
    """What watches have delivered: the newest of each object."""

    def __init__(self, notes: tuple[str, ...] = (), unseen: frozenset[Kind] = frozenset()) -> None:
        """Nothing so far; `notes` and `unseen` as a World has them."""
        self.notes = notes
        self.unseen = unseen
        self.refusals: tuple[Object, ...] = ()
        self._objects: dict[Kind, dict[tuple[str, str], Object]] = {}

    @classmethod
    def of(cls, world: World) -> Self:
        """What a world has."""
        made = cls(world.notes, world.unseen)
        made.refusals = world.refusals
        for kind, things in world.objects.items():
            made.replace(kind, things)
        return made

    def has_all(self, other: "Store") -> bool:
        """Whether everything that another one has is here too, in whatever version."""
        return all(self._objects.get(kind, {}).keys() >= known.keys() for kind, known in other._objects.items())  # noqa: SLF001

    def replace(self, kind: Kind, things: Iterable[Object]) -> None:
        """All there is of a kind."""
        self._objects[kind] = {name_of(each): each for each in things}

    def take(self, change: str, thing: Object) -> bool:
        """One version of an object, or its end; whether anything is new."""
        kind = Kind(text(thing, "apiVersion"), text(thing, "kind"))
        known, place = self._objects.setdefault(kind, {}), name_of(thing)
        before = known.get(place)
        if before is not None and _version(thing) <= _version(before):
            return False
        if change == "DELETED":
            return known.pop(place, None) is not None
        known[place] = thing
        return True

    def world(self, at: Instant) -> World:
        """What there is now."""
        found = {kind: tuple(each for _, each in sorted(things.items())) for kind, things in self._objects.items()}
        return World(found, at, self.notes, self.unseen, self.refusals)


def _version(thing: Object) -> int:
    """Versions rank the writes of one API server (KEP-5504)."""
    written = text(thing, "metadata", "resourceVersion")
    return int(written) if written.isdecimal() else 0
