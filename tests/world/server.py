"""An API server in the process: what `controller.api.Api` asks, answered as the real one answers."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

from spotproof.controller.kinds import NODE, POD, Kind, Object
from spotproof.kube.client import Refused
from tests.world.admission import admit
from tests.world.clock import Clock
from tests.world.patches import PatchError, merged, patched
from tests.world.selectors import by_fields, by_labels
from tests.world.store import CLUSTER_WIDE, STATUS_APART, Place, Store, copied, kind_of
from tests.world.things import DISRUPTED, FOREGROUND, conditions, ended, leaves, meta, node_of, status, uid

GRACE_SECONDS: Final = 30
"""terminationGracePeriodSeconds of a pod that does not say."""


class Written(NamedTuple):
    """An object as it is stored now."""

    object: Object


class Server:
    """Fits `controller.api.Api`. `unserved` are kinds whose operator the cluster lacks."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self.clock = clock
        self.store = store
        self.unserved: set[Kind] = set()

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None."""
        self._served(of := Kind(api_version, kind))
        return self.store.get(of, _where(of, name, namespace))

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """Objects that fit the selectors."""
        self._served(of := Kind(api_version, kind))
        fits, holds = by_labels(labels), by_fields(fields)
        return [
            each
            for each in self.store.all(of)
            if (namespace is None or each["metadata"].get("namespace") == namespace) and fits(each) and holds(each)
        ]

    def create(self, thing: Mapping[str, Any], field_manager: str = "spotproof-controller") -> Written:
        """Make it."""
        del field_manager
        self._served(of := kind_of(thing))
        new = cast("Object", copied(thing))
        if "name" not in new["metadata"]:
            new = meta(new, name=self.store.unused_name(new["metadata"]["generateName"]))
        where = _where(of, new["metadata"]["name"], new["metadata"].get("namespace"))
        if self.store.get(of, where) is not None:
            raise Refused(409, f'{of.kind} "{where[1]}" already exists', "AlreadyExists")
        if of == POD:
            new = {**new, "status": {"phase": "Pending"}}
        elif of in STATUS_APART and of != NODE:
            new = _without_status(new)
        admit(of, None, new)
        return Written(self.store.add(new))

    def patch(  # noqa: PLR0913  # what names an object
        self,
        api_version: str,
        kind: str,
        name: str,
        change: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        namespace: str | None = None,
        *,
        subresource: str = "",
        field_manager: str = "spotproof-controller",
    ) -> Written:
        """A merge patch (a mapping) or a JSON patch (operations)."""
        del field_manager
        old = self._there(of := Kind(api_version, kind), _where(of, name, namespace))
        if isinstance(change, Mapping):
            change = cast("Object", copied(change))
            asked = change.get("metadata", {}).get("resourceVersion", old["metadata"]["resourceVersion"])
            if asked != old["metadata"]["resourceVersion"]:
                raise Refused(409, f'Operation cannot be fulfilled on {of.kind} "{name}"', "Conflict")
            new = merged(old, change)
        else:
            try:
                new = patched(old, [cast("Object", copied(each)) for each in change])
            except PatchError:
                # as the real one answers, which names neither the operation nor the path
                raise Refused(422, "", "Invalid") from None
        if subresource == "status":
            new = {**old, "status": new.get("status", {})}
        elif of in STATUS_APART:
            new = {**new, "status": old["status"]} if "status" in old else _without_status(new)
        if uid(new) != uid(old):
            raise Refused(409, "Precondition failed: UID in precondition", "Conflict")
        if not subresource:
            admit(of, old, new)
        return Written(self.store.write(old, new))

    def delete(  # noqa: PLR0913  # what names an object
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        grace_seconds: int | None = None,
        propagation: str = "Background",
        uid: str | None = None,
    ) -> None:
        """Ask for its end."""
        thing = self._there(of := Kind(api_version, kind), _where(of, name, namespace))
        if uid is not None and thing["metadata"]["uid"] != uid:
            raise Refused(409, f"Precondition failed: UID in precondition: {uid}", "Conflict")
        grace = _grace(thing, grace_seconds) if of == POD else 0
        finalizers = list(thing["metadata"].get("finalizers", ()))
        if propagation == "Foreground" and FOREGROUND not in finalizers:
            finalizers.append(FOREGROUND)
        if leaves(thing):
            grace = min(grace, thing["metadata"]["deletionGracePeriodSeconds"])
        at = thing["metadata"].get("deletionTimestamp") or self.clock.text
        told = {"deletionTimestamp": at, "deletionGracePeriodSeconds": grace, "finalizers": finalizers or None}
        if not grace and not finalizers:
            self.store.remove(meta(thing, **told) if of == POD else thing)
        else:
            self.store.write(thing, meta(thing, **told))

    def evict(self, pod: Object) -> None:
        """Through the Eviction API, as a drain does it: the pod is marked, then told to go."""
        self.disrupt(pod, "EvictionByEvictionAPI", "Eviction API: evicting")

    def disrupt(self, pod: Object, reason: str, message: str, *, grace_seconds: int | None = None) -> None:
        """Mark a pod as the target of a disruption and tell it to go, unless it goes already."""
        if leaves(pod) or ended(pod):
            return
        marked = conditions(pod, self.clock.text, (DISRUPTED, "True", reason, message))
        pod = self.store.write(pod, status(pod, conditions=marked))
        self.delete("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace_seconds=grace_seconds)

    def update(self, kind: Kind, where: Place, change: Callable[[Object], Object]) -> Object | None:
        """A write of one of the world's own controllers; None where the object is gone."""
        old = self.store.get(kind, where)
        return None if old is None else self.store.write(old, change(old))

    def _there(self, kind: Kind, where: Place) -> Object:
        self._served(kind)
        found = self.store.get(kind, where)
        if found is None:
            raise Refused(404, f'{kind.kind} "{where[1]}" not found', "NotFound")
        return found

    def _served(self, kind: Kind) -> None:
        if kind in self.unserved:
            raise Refused(404, f"the server has no kind {kind.kind} in {kind.api_version}", "NotFound")


def _where(kind: Kind, name: str, namespace: str | None) -> Place:
    if kind not in CLUSTER_WIDE and not namespace:
        raise ValueError(f"{kind.kind} {name} lives in a namespace, and names none")
    return namespace or "", name


def _grace(pod: Object, asked: int | None) -> int:
    if not node_of(pod) or ended(pod):
        return 0
    own = pod["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    return int(own if asked is None else asked)


def _without_status(thing: Object) -> Object:
    return {key: value for key, value in thing.items() if key != "status"}
