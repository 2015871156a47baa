"""A cluster in the process: an API server, the controllers that a training job meets, and virtual time.

Held to recordings of a real control plane by test_held_to_recordings.py. It imitates what the fallback controller
sees of Jobs, JobSets, RayJobs, pods, nodes and NodeClaims, and nothing else: zones, processors and memory, images,
services and budgets are not there. Its controllers see each object as it is at that moment; theirs are a little behind.
"""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, Final

from spotproof.controller.kinds import JOB, JOBSET, NODE, NODE_CLAIM, POD, RAY_CLUSTER, RAYJOB, Kind, Object
from spotproof.vocabulary import POOL_LABEL
from tests.world.clock import Clock
from tests.world.garbage import Garbage
from tests.world.job import Jobs
from tests.world.jobset import JobSets
from tests.world.karpenter import Karpenter, Pool, bare_node
from tests.world.kubelet import EXIT_CODE, REASON, Kubelet
from tests.world.nodes import PodGC, TaintEviction
from tests.world.raycluster import RayClusters
from tests.world.rayjob import Program, RayJobs
from tests.world.scheduler import Scheduler
from tests.world.server import Server
from tests.world.store import Change, Store, kind_of, place
from tests.world.things import annotations, conditions, ended, is_true, labels, meta, name, namespace, spec, status

NAMESPACE: Final = "research"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNREACHABLE_AFTER_SECONDS: Final = 4.0


class World:
    """One cluster. `seed` is the chance in it: how long a controller waits for more news, no more."""

    def __init__(self, pools: Iterable[Pool] = (), *, seed: int = 0) -> None:
        self.clock = Clock()
        self.store = Store(self.clock)
        self.server = Server(self.clock, self.store)
        self.pools = {pool.name: pool for pool in pools}
        self.programs: dict[str, Program] = {}
        self.namespace = NAMESPACE
        self._nodes_of: dict[str, list[str]] = {}
        chance = Random(seed)  # noqa: S311  # no secret
        self._wire(chance)

    def _wire(self, chance: Random) -> None:
        its = (self.server, chance)
        kubelet, scheduler, karpenter = Kubelet(*its), Scheduler(*its), Karpenter(*its, self.pools)
        jobs, jobsets, clusters, rayjobs = Jobs(*its), JobSets(*its), RayClusters(*its), RayJobs(*its, self.programs)
        taints, pod_gc = TaintEviction(*its), PodGC(*its)
        self.scheduler = scheduler
        tell = self.store.tell
        for told in (jobs.pod, clusters.pod, scheduler.pod, kubelet.pod, karpenter.pod, taints.pod, pod_gc.pod):
            tell(POD, told)
        for told in (self._node, scheduler.node, kubelet.node, karpenter.node, taints.node, pod_gc.node):
            tell(NODE, told)
        for told in (jobs.job, jobsets.job, rayjobs.owned):
            tell(JOB, told)
        tell(JOBSET, jobsets.jobset)
        tell(RAYJOB, rayjobs.rayjob)
        tell(RAY_CLUSTER, clusters.cluster)
        tell(RAY_CLUSTER, rayjobs.owned)
        tell(NODE_CLAIM, karpenter.claim)
        tell(None, Garbage(self.server).thing)

    # time

    @property
    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self.clock.now

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        self.clock.run_to(self.clock.now + seconds)

    def run_until(self, holds: Callable[[], object], within: float = 120.0) -> float:
        """Let time pass until something holds; the seconds that took.

        Raises:
            AssertionError: it did not hold in that time.
        """
        began = self.clock.now
        while not holds():
            at = self.clock.next_at()
            if at is None or at > began + within:
                raise AssertionError(f"not seen within {within:g} s, at {self.clock.text}\n{self.picture()}")
            self.clock.step()
        return self.clock.now - began

    # looks

    def all(self, kind: Kind) -> list[Object]:
        """All objects of a kind."""
        return self.store.all(kind)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """An object of the world's namespace, or of none."""
        return self.store.get(kind, (self.namespace if namespace is None else namespace, name))

    def nodes_of(self, pool: str) -> list[str]:
        """Every node that a pool has had, in the order in which they came."""
        return self._nodes_of.get(pool, [])

    def _node(self, change: Change, node: Object, old: Object | None) -> None:
        del old
        if change == "ADDED":
            self._nodes_of.setdefault(labels(node)[POOL_LABEL], []).append(name(node))

    def pods(self, **wanted: str) -> list[Object]:
        """Pods that have all of these labels, a label's dots and slashes as in Python: by their last part."""
        return [
            pod
            for pod in self.store.all(POD)
            if all(
                any(key.endswith(last) and each == value for key, each in labels(pod).items())
                for last, value in wanted.items()
            )
        ]

    def picture(self) -> str:
        """What is there, a line an object, for whoever reads a failure."""
        return "\n".join(
            _line(thing)
            for kind in (JOBSET, RAYJOB, JOB, RAY_CLUSTER, POD, NODE_CLAIM, NODE)
            for thing in self.all(kind)
        )

    # what is done from outside

    def submit(self, job: Mapping[str, Any]) -> Object:
        """Make a job, or anything else."""
        return self.server.create(job).object

    def add_nodes(self, pool: str, count: int) -> list[str]:
        """Nodes that nobody bought, there at once."""
        first = len(self.nodes_of(pool)) + 1
        made = [bare_node(f"{pool}-{index}", self.pools[pool]) for index in range(first, first + count)]
        return [name(self.server.create(node).object) for node in made]

    def reclaim(self, node: str) -> None:
        """With notice: the NodeClaim is deleted, and with it the node is drained and goes.

        Of a node that nobody bought its owner deletes the Node.
        """
        claims = [each for each in self.all(NODE_CLAIM) if each.get("status", {}).get("nodeName") == node]
        kind, there = (NODE_CLAIM, name(claims[0])) if claims else (NODE, node)
        self.server.delete(*kind, there)

    def vanish(self, node: str) -> None:
        """Without a word: the node and its claim are gone, its pods stay as they were."""
        there = self.store.get(NODE, ("", node))
        claims = [each for each in self.all(NODE_CLAIM) if each.get("status", {}).get("nodeName") == node]
        for thing in (*claims, *([there] if there else [])):
            self.store.remove(thing)

    def drain(self, node: str) -> None:
        """By a person: the node takes no more pods, those it has are evicted, and it stays."""
        self.server.update(NODE, ("", node), lambda it: spec(it, unschedulable=True))
        for pod in self.store.on_node(node):
            self.server.evict(pod)

    def evict(self, pod: Object) -> None:
        """One pod, through the Eviction API."""
        self.server.evict(pod)

    def silence(self, node: str) -> None:
        """Its kubelet is not heard of any more: unreachable, and its pods neither start nor end."""
        shut, out = ({"key": UNREACHABLE, "effect": effect} for effect in ("NoSchedule", "NoExecute"))
        lost = ("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
        self.server.update(NODE, ("", node), lambda it: status(it, conditions=conditions(it, self.clock.text, lost)))
        self.server.update(NODE, ("", node), lambda it: _tainted(it, shut))
        self.clock.after(
            UNREACHABLE_AFTER_SECONDS,
            lambda: self.server.update(NODE, ("", node), lambda it: it if is_true(it, "Ready") else _tainted(it, out)),
        )

    def wake(self, node: str) -> None:
        """A silent kubelet is heard of again, and a node that was drained takes pods again."""
        there = self.store.get(NODE, ("", node))
        if there is not None:
            taints = [each for each in there["spec"]["taints"] if each["key"] != UNREACHABLE]
            said = conditions(there, self.clock.text, ("Ready", "True", "KubeletReady", ""))
            self.store.write(there, status(spec(there, unschedulable=False, taints=taints), conditions=said))

    def exit(self, pod: Object, code: int, reason: str = "") -> None:
        """A pod's program ends by itself."""
        self.annotate(pod, {EXIT_CODE: str(code), **({REASON: reason} if reason else {})})

    def annotate(self, thing: Object, notes: Mapping[str, str]) -> None:
        """Annotations on something that is there."""
        now = self.store.get(kind_of(thing), place(thing))
        if now is not None:
            self.store.write(now, meta(now, annotations={**annotations(now), **notes}))

    def finish(self, rayjob: str, how: Program, namespace: str | None = None) -> None:
        """A RayJob's program ends so; the submitter, which has followed its log, ends with 0."""
        there = self.get(RAYJOB, rayjob, namespace)
        if there is None:
            return
        self.programs[there["status"]["jobId"]] = how
        submitter = self.get(JOB, rayjob, namespace)
        for pod in self.store.owned(submitter["metadata"]["uid"], POD) if submitter else ():
            if not ended(pod):
                self.exit(pod, 0)


def _tainted(node: Object, taint: Mapping[str, str]) -> Object:
    taints = node["spec"]["taints"]
    return node if taint in taints else spec(node, taints=[*taints, taint])


def _line(thing: Object) -> str:
    found = thing.get("status", {})
    said = " ".join(f"{each['type']}={each['status']}/{each.get('reason', '')}" for each in found.get("conditions", ()))
    keys = ("phase", "restarts", "restartsCountTowardsMax", "terminalState", "jobDeploymentStatus", "jobStatus")
    keys += ("failed", "active", "ready", "terminating", "succeeded")
    rest = " ".join(f"{key}={found[key]}" for key in keys if key in found)
    going = " leaving" if "deletionTimestamp" in thing["metadata"] else ""
    about = thing.get("spec", {})
    where = " ".join(f"{key}={about[key]}" for key in ("suspend", "nodeName", "nodeSelector") if key in about)
    return f"{thing['kind']} {namespace(thing)}/{name(thing)}{going} {where} {rest} {said}"
