"""What an API server keeps: every object's newest version, one counter of writes, and who is told of each."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, Literal

from spotproof.controller.kinds import (
    JOB,
    JOBSET,
    NODE,
    NODE_CLAIM,
    POD,
    POLICY,
    RAY_CLUSTER,
    RAYJOB,
    RUN,
    Kind,
    Object,
)
from tests.world.clock import Clock
from tests.world.things import leaves, meta, name, namespace, node_of

Change = Literal["ADDED", "MODIFIED", "DELETED"]
Place = tuple[str, str]
Told = Callable[[Change, Object, Object | None], None]
"""Called with the change, the object, and the version before it."""

STATUS_APART: Final = frozenset({RUN, POLICY, JOBSET, RAYJOB, RAY_CLUSTER, JOB, NODE_CLAIM, NODE, POD})
"""Kinds whose status is a subresource: a write to the object leaves it alone, and a write to it all else."""
CLUSTER_WIDE: Final = frozenset({NODE, NODE_CLAIM, POLICY, Kind("v1", "Namespace")})
CORE_EVENT: Final = Kind("v1", "Event")
UNNAMED: Final = "0123456789bcdfghjklmnpqrstvwxz"


class Store:
    """Objects by kind and place. They are never changed in place: a new version shares what has not changed."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.version = 0
        self._things: dict[Kind, dict[Place, Object]] = defaultdict(dict)
        self._owned: dict[str, dict[tuple[Kind, Place], None]] = defaultdict(dict)
        self._on_node: dict[str, dict[Place, None]] = defaultdict(dict)
        self._told: dict[Kind, list[Told]] = defaultdict(list)
        self._told_all: list[Told] = []
        self._counts: dict[str, int] = defaultdict(int)

    def tell(self, kind: Kind | None, told: Told) -> None:
        """Call it with every change of a kind, or of all kinds."""
        (self._told_all if kind is None else self._told[kind]).append(told)

    def get(self, kind: Kind, where: Place) -> Object | None:
        """The object that is there, or None."""
        return self._things[kind].get(where)

    def all(self, kind: Kind) -> list[Object]:
        """All objects of a kind, the oldest first."""
        return list(self._things[kind].values())

    def owned(self, uid: str, kind: Kind) -> list[Object]:
        """Objects of a kind that another one owns, the oldest first."""
        return [self._things[kind][where] for each, where in self._owned.get(uid, ()) if each == kind]

    def dependents(self, uid: str) -> list[Object]:
        """Objects of every kind that another one owns."""
        return [self._things[kind][where] for kind, where in self._owned.get(uid, ())]

    def on_node(self, node: str) -> list[Object]:
        """Pods that are bound to a node, whether it is there or not."""
        return [self._things[POD][where] for where in self._on_node.get(node, ())]

    def unused_name(self, prefix: str) -> str:
        """A name that nobody has had, as `generateName` gives them."""
        self._counts["name"] += 1
        number, letters = self._counts["name"] * 7919 + 810_000, ""
        while number:
            number, digit = divmod(number, len(UNNAMED))
            letters += UNNAMED[digit]
        return f"{prefix}{letters[:5]}"

    def add(self, thing: Object) -> Object:
        """Put a new object there, with the metadata that the API server gives."""
        kind = kind_of(thing)
        self._counts[thing["kind"]] += 1
        given = {
            "uid": f"{thing['kind'].lower()}-{self._counts[thing['kind']]}",
            "creationTimestamp": self.clock.text,
            "generation": 1,
        }
        new = self._stamped(meta(thing, **given))
        self._things[kind][place(new)] = new
        self._link(kind, new)
        self._say(kind, "ADDED", new, None)
        return new

    def write(self, old: Object, new: Object) -> Object:
        """Put the next version of an object there; one without a change is no write.

        An object that has been told to go, has no finalizer and no grace left goes with this write.
        """
        if new is old or new == old:
            return old
        kind, where = kind_of(old), place(old)
        if kind in STATUS_APART and new.get("spec") != old.get("spec"):
            new = meta(new, generation=old["metadata"]["generation"] + 1)
        new = self._stamped(new)
        self._things[kind][where] = new
        if kind == POD and node_of(new) != node_of(old):
            self._on_node[node_of(new)][where] = None
        if leaves(new) and not new["metadata"].get("finalizers") and not new["metadata"]["deletionGracePeriodSeconds"]:
            return self._remove(kind, new)
        self._say(kind, "MODIFIED", new, old)
        return new

    def remove(self, thing: Object) -> Object:
        """Take an object away, whatever holds it."""
        return self._remove(kind_of(thing), self._stamped(thing))

    def _remove(self, kind: Kind, thing: Object) -> Object:
        where = place(thing)
        del self._things[kind][where]
        for each in thing["metadata"].get("ownerReferences", ()):
            self._owned[each["uid"]].pop((kind, where), None)
        if kind == POD:
            self._on_node[node_of(thing)].pop(where, None)
        self._say(kind, "DELETED", thing, thing)
        return thing

    def _link(self, kind: Kind, thing: Object) -> None:
        for each in thing["metadata"].get("ownerReferences", ()):
            self._owned[each["uid"]][kind, place(thing)] = None
        if kind == POD and node_of(thing):
            self._on_node[node_of(thing)][place(thing)] = None

    def _stamped(self, thing: Object) -> Object:
        self.version += 1
        return {**thing, "metadata": {**thing["metadata"], "resourceVersion": str(self.version)}}

    def _say(self, kind: Kind, change: Change, new: Object, old: Object | None) -> None:
        for told in self._told.get(kind, ()):
            told(change, new, old)
        for told in self._told_all:
            told(change, new, old)


def kind_of(thing: Mapping[str, object]) -> Kind:
    """An object's kind."""
    return Kind(str(thing["apiVersion"]), str(thing["kind"]))


def place(thing: Object) -> Place:
    """Namespace and name of an object."""
    return namespace(thing), name(thing)


def copied(value: object) -> object:
    """A value of its own: what somebody hands in may be changed by them later."""
    if isinstance(value, Mapping):
        return {key: copied(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [copied(each) for each in value]
    return value
