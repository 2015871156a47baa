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
MOST_PODS_IN_ALL: Final = 20_000
"""Some 20 MB. Who leads forgets what is accounted for; a replica that waits for the lease never does."""


class Departed:
    """Nodes by name and pods by job, the newest of each; guarded by the lock of the cache that fills it."""

    def __init__(self) -> None:
        self._nodes: OrderedDict[str, Object] = OrderedDict()
        self._pods: OrderedDict[object, OrderedDict[str, Object]] = OrderedDict()
        """The job that lost one last is the last."""
        self._count = 0
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
        self._pods.move_to_end(key)
        self._count += pod["metadata"]["uid"] not in pods
        pods[pod["metadata"]["uid"]] = pod
        while len(pods) > MOST_PODS:
            pods.popitem(last=False)
            self._count -= 1
        while self._count > MOST_PODS_IN_ALL:
            _, oldest = self._pods.popitem(last=False)
            self._count -= len(oldest)

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
        pods = self._pods.get(key)
        if pods is None:
            return
        for uid in [*pods] if uids is None else uids:
            self._count -= pods.pop(uid, None) is not None
        if not pods:
            del self._pods[key]
