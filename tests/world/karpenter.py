"""Karpenter and its market: NodeClaims for pods that find no node, refusals, interruptions, empty nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final

from spotproof.controller.kinds import NODE, NODE_CLAIM, POD, Object
from spotproof.vocabulary import (
    CAPACITY_LABEL,
    GPU_RESOURCE,
    GPU_TAINT,
    KARPENTER_CAPACITY_LABEL,
    POOL_LABEL,
    SPOT,
    SPOT_TAINT,
    Capacity,
)
from tests.world.manager import Manager
from tests.world.scheduler import accelerators, tolerates, waits
from tests.world.server import Server
from tests.world.store import Change, Place
from tests.world.things import (
    conditions,
    ended,
    is_true,
    labels,
    leaves,
    meta,
    name,
    owned_by,
    owner,
    spec,
    status,
    without,
)

BATCH_SECONDS: Final = 0.5
LAUNCH_SECONDS: Final = 0.05
REGISTER_SECONDS: Final = 2.0
STARTED_SECONDS: Final = 0.2
INITIALIZED_SECONDS: Final = 1.0
REFUSED_SECONDS: Final = 1.0
"""How long a NodeClaim that was refused is there."""
RETRY_SECONDS: Final = 10.0
DRAIN_SECONDS: Final = 5.0
"""How often a node that is drained is looked at."""
EMPTY_SECONDS: Final = 30.0
TERMINATION: Final = "karpenter.sh/termination"
DISRUPTED_TAINT: Final = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
NOT_READY_TAINT: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
DRY: Final = "insufficient capacity, the market has no capacity for any offering of this claim"


@dataclass
class Pool:
    """A node pool; `dry` while its market refuses, `most` is its limit of nodes, `extra` are more labels."""

    name: str
    capacity: Capacity
    accelerators: int = 8
    most: int = 100
    dry: bool = False
    extra: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def labels(self) -> dict[str, str]:
        """Labels of its nodes and claims."""
        own = {POOL_LABEL: self.name, CAPACITY_LABEL: self.capacity, KARPENTER_CAPACITY_LABEL: self.capacity}
        return {**own, "karpenter.sh/nodepool": self.name, **self.extra}

    @property
    def taints(self) -> list[Mapping[str, str]]:
        """Taints of its nodes."""
        return [*([SPOT_TAINT] if self.capacity == SPOT else []), *([GPU_TAINT] if self.accelerators else [])]


class Karpenter(Manager):
    """All pools."""

    def __init__(self, server: Server, chance: Random, pools: Mapping[str, Pool]) -> None:
        super().__init__(server, chance)
        self._pools = pools

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod waits, or has left a node."""
        if waits(pod) and (old is None or not waits(old)):
            self.later(("pool", self._pool_of(pod["spec"])), BATCH_SECONDS)
        elif change == "DELETED" and (node := pod["spec"].get("nodeName")):
            self.later(("node", node), EMPTY_SECONDS)

    def claim(self, change: Change, claim: Object, old: Object | None) -> None:
        """A claim has been told to go, or is gone: then what still waits is looked at."""
        if change == "DELETED":
            self.later(("pool", labels(claim)[POOL_LABEL]), BATCH_SECONDS)
        elif leaves(claim) and old is not None and not leaves(old):
            self.clock.after(0.01, lambda: self._terminate(name(claim)))

    def node(self, change: Change, node: Object, old: Object | None) -> None:
        """A node has been told to go, so its claim is, or is gone."""
        claim = owner(node, "NodeClaim")
        if claim is None or not (change == "DELETED" or (leaves(node) and old is not None and not leaves(old))):
            return
        there = self.store.get(NODE_CLAIM, ("", claim["name"]))
        if there is not None and not leaves(there):
            self.server.delete(*NODE_CLAIM, claim["name"])

    def sync(self, where: Place) -> None:
        """Buy what a pool's pods need, or give back a node without any."""
        what, about = where
        if what == "node":
            self._consolidate(about)
        elif pool := self._pools.get(about):
            self._provision(pool)

    def _pool_of(self, pod_spec: Mapping[str, Any]) -> str:
        """The pool that a pod's selector and tolerations admit; empty where none does."""
        selector = pod_spec.get("nodeSelector", {})
        fits = (
            pool
            for pool in self._pools.values()
            if all(pool.labels.get(key) == value for key, value in selector.items())
            and all(tolerates(pod_spec, taint) for taint in pool.taints)
        )
        return next((pool.name for pool in fits), "")

    def _provision(self, pool: Pool) -> None:
        pods = [pod for pod in self.store.all(POD) if waits(pod) and self._pool_of(pod["spec"]) == pool.name]
        if not pods:
            return
        claims = [claim for claim in self.store.all(NODE_CLAIM) if labels(claim)[POOL_LABEL] == pool.name]
        coming = [claim for claim in claims if not leaves(claim) and not self._takes_pods(claim)]
        wanted = _packed((accelerators(pod["spec"]) for pod in pods), pool.accelerators)
        for _ in range(min(wanted - len(coming), pool.most - len(claims))):
            made = name(self.server.create(_claim(pool)).object)
            self.clock.after(LAUNCH_SECONDS, partial(self._launch, pool, made))
        self.later(("pool", pool.name), RETRY_SECONDS)

    def _takes_pods(self, claim: Object) -> bool:
        node = self.store.get(NODE, ("", claim.get("status", {}).get("nodeName", "")))
        return node is not None and NOT_READY_TAINT not in node["spec"]["taints"]

    def _launch(self, pool: Pool, claim: str) -> None:
        there = self.store.get(NODE_CLAIM, ("", claim))
        if there is None or leaves(there):
            return
        there = self.store.write(there, meta(there, finalizers=[TERMINATION]))
        if pool.dry:
            self._refuse(there)
            return
        launched = (("Launched", "True", "Launched", ""), ("Registered", "Unknown", "NodeNotFound", ""))
        self.store.write(there, status(there, conditions=conditions(there, self.clock.text, *launched)))
        self.clock.after(REGISTER_SECONDS, lambda: self._register(pool, claim))

    def _refuse(self, claim: Object) -> None:
        said = {"reason": "InsufficientCapacityError", "message": f"NodeClaim {name(claim)} event: {DRY}"}
        about = {"kind": "NodeClaim", "name": name(claim), "uid": claim["metadata"]["uid"]}
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "event-", "namespace": "default"}}
        self.server.create({**event, **said, "type": "Warning", "involvedObject": about})
        self.server.delete(*NODE_CLAIM, name(claim))

    def _register(self, pool: Pool, claim: str) -> None:
        there = self.store.get(NODE_CLAIM, ("", claim))
        if there is None or leaves(there):
            return
        node = self.server.create(_node(pool, there)).object
        new = (("Registered", "True", "Registered", ""), ("Initialized", "Unknown", "NodeNotReady", ""))
        said = conditions(there, self.clock.text, *new)
        self.store.write(there, status(there, nodeName=name(node), conditions=said))
        self.clock.after(STARTED_SECONDS, lambda: self._started(name(node)))
        self.clock.after(INITIALIZED_SECONDS, lambda: self._initialized(claim))

    def _started(self, node: str) -> None:
        self.server.update(
            NODE, ("", node), lambda it: spec(it, taints=[t for t in it["spec"]["taints"] if t != NOT_READY_TAINT])
        )
        self.later(("node", node), EMPTY_SECONDS)

    def _initialized(self, claim: str) -> None:
        new = (("Initialized", "True", "Initialized", ""), ("Ready", "True", "Ready", ""))
        self.server.update(
            NODE_CLAIM, ("", claim), lambda it: status(it, conditions=conditions(it, self.clock.text, *new))
        )

    def _terminate(self, claim: str) -> None:
        """Drain its node through the Eviction API, end the instance, let both go."""
        there = self.store.get(NODE_CLAIM, ("", claim))
        if there is None:
            return
        node = self.store.get(NODE, ("", there.get("status", {}).get("nodeName", "")))
        if node is None:
            self.clock.after(REFUSED_SECONDS, lambda: self._gone(claim))
            return
        if not leaves(node):
            self.server.delete(*NODE, name(node))
        self.server.update(NODE, ("", name(node)), _disrupted)
        left = [pod for pod in self.store.on_node(name(node)) if not ended(pod)]
        for pod in left:
            self.server.evict(pod)
        self.clock.after(DRAIN_SECONDS, lambda: self._drained(claim, name(node)))

    def _drained(self, claim: str, node: str) -> None:
        if any(not ended(pod) for pod in self.store.on_node(node)) and self._is_up(node):
            self.clock.after(DRAIN_SECONDS, lambda: self._drained(claim, node))
            return
        for kind, what in ((NODE, node), (NODE_CLAIM, claim)):
            self.server.update(kind, ("", what), _finished)

    def _is_up(self, node: str) -> bool:
        there = self.store.get(NODE, ("", node))
        return there is not None and is_true(there, "Ready")

    def _gone(self, claim: str) -> None:
        self.server.update(NODE_CLAIM, ("", claim), _finished)

    def _consolidate(self, node: str) -> None:
        """WhenEmpty: a node without pods is given back."""
        there = self.store.get(NODE, ("", node))
        claim = owner(there, "NodeClaim") if there is not None else None
        if there is None or leaves(there) or claim is None or self.store.on_node(node):
            return
        why = ("DisruptionReason", "True", "Empty", "")
        self.server.update(
            NODE_CLAIM, ("", claim["name"]), lambda it: status(it, conditions=conditions(it, self.clock.text, why))
        )
        self.server.delete(*NODE_CLAIM, claim["name"])


def _packed(sizes: Iterable[int], room: int) -> int:
    """Nodes that pods of these sizes need, first fit."""
    nodes: list[int] = []
    for size in sizes:
        place = next((index for index, left in enumerate(nodes) if left >= size), None)
        if place is None:
            nodes.append(room - size)
        else:
            nodes[place] -= size
    return len(nodes)


def _disrupted(node: Object) -> Object:
    taints = node["spec"]["taints"]
    return node if DISRUPTED_TAINT in taints else spec(node, taints=[*taints, DISRUPTED_TAINT])


def _finished(thing: Object) -> Object:
    finalizers = thing["metadata"].get("finalizers", ())
    return meta(thing, finalizers=without(finalizers, TERMINATION))


def _claim(pool: Pool) -> Object:
    return {
        "apiVersion": NODE_CLAIM.api_version,
        "kind": NODE_CLAIM.kind,
        "metadata": {"generateName": f"{pool.name}-", "labels": pool.labels},
        "spec": {"taints": pool.taints},
    }


def _node(pool: Pool, claim: Object) -> Object:
    thing = bare_node(f"node-{name(claim)}", pool)
    about = {**thing["metadata"], "finalizers": [TERMINATION], "ownerReferences": owned_by(claim)}
    return {**thing, "metadata": about, "spec": {"taints": [*pool.taints, NOT_READY_TAINT]}}


def bare_node(node: str, pool: Pool) -> Object:
    """A node of a pool that nobody bought: it is there at once, and Karpenter leaves it alone."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node, "labels": {**pool.labels, "kubernetes.io/hostname": node}},
        "spec": {"taints": pool.taints},
        "status": {
            "allocatable": {GPU_RESOURCE: str(pool.accelerators), "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }
