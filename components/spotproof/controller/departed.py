"""What is gone from the cluster and has yet to be understood: how a pod ended, and what kind of node it was on.

An evicted Ray worker is deleted 0.2 s after it has failed, and a node is gone before its last pod is. Bounded, because
what nobody asks for within minutes is not asked for at all; a new process begins with nothing, and goes by what the
TrainingRun remembers.
"""

from collections import OrderedDict
from typing import Final

from spotproof.controller.claims import came_to_nothing, is_refused, pool_of
from spotproof.controller.kinds import Object

MOST_NODES: Final = 5_000
MOST_PODS: Final = 512
"""Of one job."""


class Departed:
    """Nodes by name and pods by job, the newest of each; guarded by the lock of the cache that fills it."""

    def __init__(self) -> None:
        self._nodes: OrderedDict[str, Object] = OrderedDict()
        self._pods: dict[object, OrderedDict[str, Object]] = {}
        self._refused: dict[str, Object] = {}
        self._told: dict[str, Object] = {}
        self._claims: OrderedDict[str, Object] = OrderedDict()

    def node(self, node: Object) -> None:
        """A node is gone; as it was last."""
        self._nodes[node["metadata"]["name"]] = node
        while len(self._nodes) > MOST_NODES:
            self._nodes.popitem(last=False)

    def pod(self, key: object, pod: Object) -> None:
        """A pod of a job is gone; as it was last."""
        pods = self._pods.setdefault(key, OrderedDict())
        pods[pod["metadata"]["uid"]] = pod
        while len(pods) > MOST_PODS:
            pods.popitem(last=False)

    def claim(self, claim: Object) -> None:
        """A NodeClaim is gone; one that was never launched says that its pool had no room."""
        pool = pool_of(claim)
        if pool and came_to_nothing(claim):
            self._refused[pool] = claim
            if is_refused(claim):
                self._told[pool] = claim
        if node := claim.get("status", {}).get("nodeName"):
            self._claims[node] = claim
            while len(self._claims) > MOST_NODES:
                self._claims.popitem(last=False)

    def claim_of(self, node: str) -> Object | None:
        """The NodeClaim that had become a node."""
        return self._claims.get(node)

    def refused_at(self, pool: str) -> str:
        """When the newest NodeClaim of the pool was made that came to nothing; RFC 3339, empty where none was seen."""
        claim = self._refused.get(pool)
        return "" if claim is None else claim["metadata"].get("creationTimestamp", "")

    def refused(self, pool: str) -> list[Object]:
        """The newest one that said why: the watch may miss the word of the next, which is gone in a second."""
        return [self._told[pool]] if pool in self._told else []

    def node_named(self, name: str) -> Object | None:
        """A node that is gone."""
        return self._nodes.get(name)

    def pods_of(self, key: object) -> list[Object]:
        """Pods of a job that are gone and have not been forgotten."""
        return list(self._pods[key].values()) if key in self._pods else []

    def forget(self, key: object, uids: set[str] | None = None) -> None:
        """These pods of a job are accounted for; all of them without `uids`."""
        if uids is None:
            self._pods.pop(key, None)
        elif key in self._pods:
            for uid in uids:
                self._pods[key].pop(uid, None)
            if not self._pods[key]:
                del self._pods[key]
