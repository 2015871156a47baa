"""What becomes of the pods of a node that is silent, tainted, or gone: taint eviction and PodGC."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from spotproof.controller.kinds import NODE, POD, Object
from tests.world.manager import Manager
from tests.world.scheduler import tolerates
from tests.world.server import Server
from tests.world.store import Change, Place, place
from tests.world.things import DISRUPTED, conditions, ended, leaves, name, namespace, node_of, status

PERIOD_SECONDS: Final = 20.0
QUARANTINE_SECONDS: Final = 40.0
BY_TAINT: Final = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
BY_PODGC: Final = ("DeletionByPodGC", "PodGC: node no longer exists")
ALL: Final[Place] = ("", "")


class TaintEviction(Manager):
    """NoExecute: pods go that do not tolerate it, or when they have tolerated it long enough."""

    def node(self, change: Change, node: Object, old: Object | None) -> None:
        """A node has another taint."""
        if change == "MODIFIED" and old is not None and node["spec"] is not old["spec"] and _executes(node):
            for pod in self.store.on_node(name(node)):
                self.later(place(pod), self._patience(pod, node))

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod has come to a node that has such a taint already."""
        if change == "MODIFIED" and node_of(pod) and old is not None and not node_of(old):
            node = self.store.get(NODE, ("", node_of(pod)))
            if node is not None and _executes(node):
                self.later(place(pod), self._patience(pod, node))

    def sync(self, where: Place) -> None:
        """Evict one pod, if its node is as it was."""
        pod = self.store.get(POD, where)
        node = self.store.get(NODE, ("", node_of(pod))) if pod is not None else None
        if pod is not None and node is not None and _executes(node) and self._patience(pod, node) < _FOREVER:
            self.server.disrupt(pod, *BY_TAINT)

    @staticmethod
    def _patience(pod: Object, node: Object) -> float:
        return min(_tolerated(pod["spec"], taint) for taint in _executes(node))


_FOREVER: Final = 1e12


def _executes(node: Object) -> list[Mapping[str, str]]:
    return [taint for taint in node["spec"].get("taints", ()) if taint["effect"] == "NoExecute"]


def _tolerated(pod_spec: Mapping[str, Any], taint: Mapping[str, str]) -> float:
    found = tolerates(pod_spec, taint)
    return 0.0 if found is None else float(found.get("tolerationSeconds", _FOREVER))


class PodGC(Manager):
    """Every 20 s: pods whose node is gone, 40 s after that was first seen; pods that go and have no node."""

    def __init__(self, server: Server, chance: Random) -> None:
        super().__init__(server, chance)
        self._missing: dict[str, float] = {}

    def node(self, change: Change, node: Object, old: Object | None) -> None:
        """A node is gone."""
        del old
        if change == "DELETED" and self.store.on_node(name(node)):
            self.later(ALL, self._next_round())

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod goes that has no node."""
        del old
        if change == "MODIFIED" and leaves(pod) and not node_of(pod):
            self.later(ALL, self._next_round())

    def _next_round(self) -> float:
        return PERIOD_SECONDS - self.clock.now % PERIOD_SECONDS

    def sync(self, where: Place) -> None:
        """One round."""
        del where
        left = False
        for pod in self.store.all(POD):
            if node_of(pod) and self.store.get(NODE, ("", node_of(pod))) is None:
                since = self._missing.setdefault(node_of(pod), self.clock.now)
                left = True
                if self.clock.now - since >= QUARANTINE_SECONDS:
                    self._collect(pod, BY_PODGC)
            elif leaves(pod) and not node_of(pod):
                self._collect(pod, None)
        if left:
            self.later(ALL, self._next_round())

    def _collect(self, pod: Object, why: tuple[str, str] | None) -> None:
        if not ended(pod):
            marked = conditions(pod, self.clock.text, (DISRUPTED, "True", *why)) if why else pod["status"]["conditions"]
            pod = self.store.write(pod, status(pod, phase="Failed", conditions=marked))
        if self.store.get(POD, place(pod)) is not None:
            self.server.delete("v1", "Pod", name(pod), namespace(pod), grace_seconds=0)
