"""What the watches have delivered, as plain mappings, with the few looks from one object to another that are needed.

Thread-safe by one lock; what it hands out is never changed in place, so a reader needs none.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from spotproof.controller.departed import Departed
from spotproof.controller.kinds import (
    JOB,
    JOBSET,
    JOBSET_NAME,
    NODE,
    NODE_CLAIM,
    POD,
    POLICY,
    RAY_CLUSTER,
    RAY_CLUSTER_NAME,
    RAYJOB,
    RUN,
    Kind,
    Object,
)
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, PROBE_LABEL, PROBE_OF_ANNOTATION


class Key(NamedTuple):
    """A job, as the work queue knows it."""

    kind: str
    namespace: str
    name: str


MANAGED: Final[Mapping[str, Kind]] = {JOBSET.kind: JOBSET, RAYJOB.kind: RAYJOB}
"""Kinds of job, by name."""

Place = tuple[str, str]
"""Namespace and name."""


def place(thing: Object) -> Place:
    """Where an object is."""
    meta = thing["metadata"]
    return meta.get("namespace", ""), meta["name"]


def labels(thing: Object) -> Mapping[str, str]:
    """Its labels."""
    return thing["metadata"].get("labels", {})


def version(thing: Object) -> int:
    """Its resourceVersion, which ranks the writes of one API server (KEP-5504)."""
    return int(thing["metadata"].get("resourceVersion", "0"))


class Cache:
    """Every watched object, the newest that was seen of each."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._objects: dict[Kind, dict[Place, Object]] = defaultdict(dict)
        self._pods: dict[Key, dict[Place, Object]] = defaultdict(dict)
        self._jobs: dict[Key, dict[Place, Object]] = defaultdict(dict)
        self._on_node: dict[str, set[Place]] = defaultdict(set)
        self._of_policy: dict[str, set[Key]] = defaultdict(set)
        self._claims: dict[str, Place] = {}
        self._probes: dict[str, dict[Place, Object]] = defaultdict(dict)
        self.departed: Final = Departed()
        """What is gone and may still have to be looked at: pods of jobs, and nodes."""

    def put(self, kind: Kind, thing: Object) -> set[Key]:
        """Take a version of an object; an older one than is there changes nothing. Returns the jobs it may concern."""
        with self._lock:
            known = self._objects[kind].get(place(thing))
            if known is not None and version(thing) < version(known):
                return set()
            before = set() if known is None else self._concerned(kind, known)
            if known is not None:
                self._unlink(kind, known)
            self._objects[kind][place(thing)] = thing
            self._link(kind, thing)
            return before | self._concerned(kind, thing)

    def drop(self, kind: Kind, thing: Object) -> set[Key]:
        """An object is gone. Returns the jobs it may concern."""
        with self._lock:
            known = self._objects[kind].get(place(thing))
            if known is None or version(thing) < version(known):
                return set()
            concerned = self._concerned(kind, known)
            if kind == NODE:
                self.departed.node(known)
            elif kind == NODE_CLAIM:
                self.departed.claim(thing)
            elif kind == POD and (key := self._gang_of(known)):
                self.departed.pod(key, thing)
            self._unlink(kind, known)
            del self._objects[kind][place(thing)]
            return concerned

    def replace(self, kind: Kind, things: Iterable[Object], selected: str = "") -> set[Key]:
        """A list of everything there is of one watch; what is not in it is gone. Returns the jobs it may concern.

        Args:
            kind: The kind.
            things: Its objects.
            selected: The label that every object of this watch has, where several watches share a kind.
        """
        with self._lock:
            listed = {place(thing): thing for thing in things}
            gone = [
                thing
                for where, thing in self._objects[kind].items()
                if where not in listed and (not selected or selected in labels(thing))
            ]
            concerned: set[Key] = set()
            for thing in gone:
                concerned |= self.drop(kind, thing)
            for thing in listed.values():
                concerned |= self.put(kind, thing)
            return concerned

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """An object, or None where none was seen."""
        with self._lock:
            return self._objects[kind].get((namespace, name))

    def all(self, kind: Kind) -> list[Object]:
        """All objects of a kind."""
        with self._lock:
            return list(self._objects[kind].values())

    def job(self, key: Key) -> Object | None:
        """A managed job."""
        return self.get(MANAGED[key.kind], key.namespace, key.name)

    def run(self, key: Key) -> Object | None:
        """The TrainingRun of that name, whichever job it is of."""
        return self.get(RUN, key.namespace, key.name)

    def policy(self, name: str) -> Object | None:
        """A FallbackPolicy."""
        return self.get(POLICY, "", name)

    def keys(self) -> list[Key]:
        """All jobs with the label."""
        return [Key(kind, *place(thing)) for kind in MANAGED for thing in self.all(MANAGED[kind])]

    def pods(self, key: Key) -> list[Object]:
        """Pods of a job's gang: of its JobSet, or of its Ray clusters, heads included."""
        with self._lock:
            return list(self._pods[key].values()) if key in self._pods else []

    def jobs(self, key: Key) -> list[Object]:
        """Child Jobs of a JobSet."""
        with self._lock:
            return list(self._jobs[key].values()) if key in self._jobs else []

    def node(self, name: str) -> Object | None:
        """A node."""
        return self.get(NODE, "", name)

    def claim_of(self, node: str) -> Object | None:
        """The NodeClaim that became a node, whether the node is there or not."""
        with self._lock:
            where = self._claims.get(node)
            return None if where is None else self._objects[NODE_CLAIM].get(where)

    def probes(self, pool: str) -> list[Object]:
        """Probe pods of a pool."""
        with self._lock:
            return list(self._probes[pool].values()) if pool in self._probes else []

    def probes_of(self, key: Key) -> list[Object]:
        """Probe pods that a job has sent out."""
        asked = "/".join(key)
        with self._lock:
            return [
                each
                for pods in self._probes.values()
                for each in pods.values()
                if each["metadata"].get("annotations", {}).get(PROBE_OF_ANNOTATION) == asked
            ]

    def _concerned(self, kind: Kind, thing: Object) -> set[Key]:
        match kind.kind:
            case "JobSet" | "RayJob" | "TrainingRun" | "RayCluster" | "Job":
                return set(self._jobs_of(kind, thing))
            case "Pod":
                key = self._gang_of(thing)
                return {key} if key else set()
            case "Node":
                return self._on(thing["metadata"]["name"])
            case "NodeClaim":
                node = thing.get("status", {}).get("nodeName", "")
                return self._on(node) if node else set()
            case "FallbackPolicy":
                return set(self._of_policy.get(thing["metadata"]["name"], ()))
            case "Namespace":
                return {key for key in self.keys() if thing["metadata"]["name"] == key.namespace}
            case _:
                return set()

    def _jobs_of(self, kind: Kind, thing: Object) -> Iterator[Key]:
        namespace, name = place(thing)
        if kind.kind in MANAGED:
            yield Key(kind.kind, namespace, name)
        elif kind == RUN:
            job = thing.get("spec", {}).get("job", {})
            if job.get("kind") in MANAGED:
                yield Key(job["kind"], namespace, job["name"])
        elif kind == JOB:
            yield Key(JOBSET.kind, namespace, labels(thing)[JOBSET_NAME])
        else:
            yield from (Key(RAYJOB.kind, namespace, one["name"]) for one in _owners(thing, RAYJOB.kind))

    def _on(self, node: str) -> set[Key]:
        pods = (self._objects[POD].get(where) for where in self._on_node.get(node, ()))
        return {key for pod in pods if pod is not None and (key := self._gang_of(pod))}

    def _gang_of(self, pod: Object) -> Key | None:
        namespace = pod["metadata"].get("namespace", "")
        if name := labels(pod).get(JOBSET_NAME):
            return Key(JOBSET.kind, namespace, name)
        cluster = self._objects[RAY_CLUSTER].get((namespace, labels(pod).get(RAY_CLUSTER_NAME, "")))
        return next((Key(RAYJOB.kind, namespace, one["name"]) for one in _owners(cluster, RAYJOB.kind)), None)

    def _link(self, kind: Kind, thing: Object) -> None:
        where = place(thing)
        match kind.kind:
            case "Pod":
                if node := thing["spec"].get("nodeName"):
                    self._on_node[node].add(where)
                if pool := labels(thing).get(PROBE_LABEL):
                    self._probes[pool][where] = thing
                elif key := self._gang_of(thing):
                    self._pods[key][where] = thing
            case "Job":
                for key in self._jobs_of(kind, thing):
                    self._jobs[key][where] = thing
            case "RayCluster":
                # pods may have come before the cluster they name
                for pod in self._objects[POD].values():
                    if labels(pod).get(RAY_CLUSTER_NAME) == where[1] and (key := self._gang_of(pod)):
                        self._pods[key][place(pod)] = pod
            case "NodeClaim":
                if node := thing["status"].get("nodeName"):
                    self._claims[node] = where
            case "JobSet" | "RayJob":
                self._of_policy[labels(thing).get(FALLBACK_POLICY_LABEL, "")].add(Key(kind.kind, *where))
            case _:
                pass

    def _unlink(self, kind: Kind, thing: Object) -> None:
        where = place(thing)
        match kind.kind:
            case "Pod":
                self._on_node[thing["spec"].get("nodeName", "")].discard(where)
                self._probes[labels(thing).get(PROBE_LABEL, "")].pop(where, None)
                if key := self._gang_of(thing):
                    self._forget(self._pods, key, where)
            case "Job":
                for key in self._jobs_of(kind, thing):
                    self._forget(self._jobs, key, where)
            case "NodeClaim":
                self._claims.pop(thing["status"].get("nodeName", ""), None)
            case "JobSet" | "RayJob":
                self._of_policy[labels(thing).get(FALLBACK_POLICY_LABEL, "")].discard(Key(kind.kind, *where))
            case _:
                pass

    @staticmethod
    def _forget(index: dict[Key, dict[Place, Object]], key: Key, where: Place) -> None:
        index[key].pop(where, None)
        if not index[key]:
            del index[key]


def _owners(thing: Object | None, kind: str) -> list[Object]:
    return [] if thing is None else [one for one in thing["metadata"].get("ownerReferences", []) if one["kind"] == kind]
