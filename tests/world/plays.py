"""The recorded stories, played in a world by the same triggers, each in the state in which it was pulled there."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from spotproof.controller.kinds import JOB, NODE_CLAIM, POD, RAY_CLUSTER, Object
from spotproof.rehearsal.history import History, works
from spotproof.rehearsal.recording import Recording
from spotproof.vocabulary import POOL_LABEL
from tests.recordings.stories import ON_DEMAND, OTHER_KEY, OTHER_SPOT, SPOT, TO_ON_DEMAND
from tests.world.karpenter import Pool
from tests.world.kubelet import ON_TERM
from tests.world.raycluster import HEAD, NODE_TYPE
from tests.world.recorded import Recorded
from tests.world.scheduler import waits
from tests.world.store import kind_of, place
from tests.world.things import (
    condition,
    ended,
    is_true,
    labels,
    leaves,
    meta,
    name,
    namespace,
    node_of,
    uid,
    without,
)
from tests.world.world import World

GANG: Final = 8
HELD: Final = "rehearsal.spotproof.dev/held"
SAVED: Final = {ON_TERM: "1"}
"""A program that saves when it is told to go, and ends with 1."""


class Play:
    """A world with the pools of the recordings, the job of one of them, and what people did to it."""

    def __init__(self, recording: Recording, *, static: Mapping[str, int] = MappingProxyType({})) -> None:
        pools = [
            Pool(SPOT, "spot"),
            Pool(OTHER_SPOT, "spot"),
            Pool(ON_DEMAND, "on-demand"),
            Pool("cpu", "on-demand", 0),
        ]
        self.world = World(pools)
        self.recorded = Recorded(self.world)
        for pool, count in static.items():
            self.world.add_nodes(pool, count)
        self.world.scheduler.choose = _Places(recording, self.world).choose
        first = next(each.object for each in recording.versions if each.kind in {"JobSet", "RayJob"})
        kept = ("name", "namespace", "labels", "annotations")
        about = {key: first["metadata"][key] for key in kept if key in first["metadata"]}
        self._job = self.world.submit({**first, "metadata": about})

    @property
    def job(self) -> Object:
        """The job as it is now."""
        return self.world.store.get(kind_of(self._job), place(self._job)) or self._job

    @property
    def pods(self) -> list[Object]:
        """Pods that are there."""
        return self.world.all(POD)

    @property
    def jobs(self) -> list[Object]:
        """Jobs that are there."""
        return self.world.all(JOB)

    def until(self, holds: Callable[[], object], within: float = 60.0) -> None:
        """Wait."""
        self.world.run_until(holds, within)

    def gang_runs(self, pool: str = SPOT) -> list[Object]:
        """Wait for the whole JobSet; its pods."""
        self.until(lambda: sum(works(pod) and self._pool(pod) == pool for pod in self.pods) == GANG)
        return self.pods

    def ray_runs(self) -> None:
        """Wait for the whole RayJob: head, submitter and workers."""
        self.until(lambda: self.job.get("status", {}).get("jobStatus") == "RUNNING")
        self.until(lambda: len(self.pods) == 6 and all(works(pod) for pod in self.pods))

    def _pool(self, pod: Object) -> str:
        node = self.world.get(kind_of({"apiVersion": "v1", "kind": "Node"}), node_of(pod), "")
        return labels(node)[POOL_LABEL] if node else ""

    def restarts(self, within: float = 60.0) -> None:
        """Wait until the JobSet restarts."""
        self.until(lambda: self.job["status"].get("restarts") == 1, within)

    def settles(self, within: float = 10.0) -> None:
        """Wait until the JobSet says that all Jobs are ready."""
        self.until(lambda: condition(self.job, "RestartingJobSet").get("reason") == "JobsReady", within)

    def patch(self, *operations: Mapping[str, Any]) -> None:
        """A JSON patch of the job as it is."""
        job = self.job
        test = {"op": "test", "path": "/metadata/resourceVersion", "value": job["metadata"]["resourceVersion"]}
        self.world.server.patch(job["apiVersion"], job["kind"], name(job), [test, *operations], namespace(job))

    def suspend(self, selector: Mapping[str, str]) -> None:
        """One patch: suspended, and the templates' new selector."""
        if self.job["kind"] == "JobSet":
            roles = range(len(self.job["spec"]["replicatedJobs"]))
            paths = [f"/spec/replicatedJobs/{index}/template/spec/template/spec/nodeSelector" for index in roles]
        else:
            paths = ["/spec/rayClusterSpec/workerGroupSpecs/0/template/spec/nodeSelector"]
        self.patch(
            {"op": "add", "path": "/spec/suspend", "value": True},
            *({"op": "replace", "path": path, "value": dict(selector)} for path in paths),
        )

    def resume(self) -> None:
        """One patch: no longer suspended."""
        self.patch({"op": "add", "path": "/spec/suspend", "value": False})

    def no_pod_left(self) -> None:
        """Wait until the old gang is gone."""
        self.until(lambda: not self.pods)

    def replace_jobs(self) -> None:
        """Delete the child Jobs by uid, and wait until there are others."""
        old = {name(job): uid(job) for job in self.jobs}
        for each, job in old.items():
            self.world.server.delete("batch/v1", "Job", each, namespace(self.job), uid=job)
        self.until(
            lambda: {name(job) for job in self.jobs} == set(old) and not {uid(j) for j in self.jobs} & {*old.values()}
        )

    def a_node(self, pod: Object | None = None) -> str:
        """The node of a pod, of the first one where none is named."""
        return node_of(pod or self.pods[0])


class _Places:
    """Pods are placed as they were there: the n-th pod of a rank on the node that came as the same one of its pool."""

    def __init__(self, recording: Recording, world: World) -> None:
        self._nodes = world.nodes_of
        history = History(recording)
        places: dict[str, int] = {}
        for pool in {labels(life.last)[POOL_LABEL] for life in history.of("Node")}:
            mine = (life.name for life in history.of("Node") if labels(life.last)[POOL_LABEL] == pool)
            places |= {node: place for place, node in enumerate(mine)}
        self._wanted: dict[str, list[int]] = {}
        for life in history.of("Pod"):
            self._wanted.setdefault(_rank(life.last), []).append(places.get(node_of(life.last), -1))
        self._seen: dict[str, str] = {}

    def choose(self, pod: Object, fits: list[str]) -> str:
        """The node that stands for the one it had there, if it fits."""
        rank = _rank(pod)
        if self._wanted.get(rank) and uid(pod) not in self._seen:
            self._seen[uid(pod)] = str(self._wanted[rank].pop(0))
        place = int(self._seen.get(uid(pod), "-1"))
        came = self._nodes(pod["spec"]["nodeSelector"].get(POOL_LABEL, ""))
        return came[place] if 0 <= place < len(came) and came[place] in fits else ""


def _rank(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"]["name"]).rpartition("-")[0]


def reclaim(recording: Recording) -> Play:
    play = Play(recording)
    play.gang_runs()
    play.world.reclaim(play.a_node())
    play.restarts()
    play.gang_runs()
    play.settles()
    return play


def killed(recording: Recording) -> Play:
    play = Play(recording, static={SPOT: 2})
    play.world.exit(play.gang_runs()[0], 137)
    play.restarts()
    play.gang_runs()
    play.settles()
    return play


def error(recording: Recording) -> Play:
    play = Play(recording, static={SPOT: 2})
    play.world.exit(play.gang_runs()[0], 1)
    play.restarts()
    for pod in play.gang_runs():
        play.world.exit(pod, 0)
    play.until(lambda: play.job["status"].get("terminalState"))
    return play


def exit_zero(recording: Recording) -> Play:
    play = Play(recording, static={SPOT: 2})
    evicted, other = play.gang_runs()[:2]
    play.world.annotate(evicted, {ON_TERM: "0"})
    play.world.evict(play.pods[0])
    play.until(lambda: any(job["status"].get("succeeded") == 1 for job in play.jobs))
    play.until(lambda: len(play.pods) == GANG - 1)
    play.world.exit(other, 1)
    play.restarts()
    play.gang_runs()
    return play


def node_vanished(recording: Recording) -> Play:
    play = Play(recording, static={OTHER_SPOT: 3})
    play.gang_runs(OTHER_SPOT)
    play.world.vanish(play.a_node())
    play.restarts(within=150)
    play.gang_runs(OTHER_SPOT)
    play.settles()
    return play


def dry_market(recording: Recording) -> Play:
    play = Play(recording)
    nodes = {node_of(pod) for pod in play.gang_runs()}
    play.world.pools[SPOT].dry = True
    for node in sorted(nodes):
        play.world.reclaim(node)
    play.until(lambda: sum(waits(pod) for pod in play.pods) == GANG)
    play.until(lambda: any(leaves(claim) and not claim.get("status") for claim in play.world.all(NODE_CLAIM)))
    play.world.pools[SPOT].dry = False
    play.gang_runs()
    play.settles()
    return play


def move(recording: Recording) -> Play:
    play = Play(recording)
    lost = play.a_node(play.gang_runs()[0])
    play.world.pools[SPOT].dry = True
    play.world.reclaim(lost)
    play.restarts()
    play.until(lambda: any(waits(pod) for pod in play.pods))
    play.world.run(1.0)
    play.suspend(TO_ON_DEMAND)
    play.no_pod_left()
    play.replace_jobs()
    play.resume()
    play.gang_runs(ON_DEMAND)
    play.settles()
    return play


def stale_selector(recording: Recording) -> Play:
    play = Play(recording, static={SPOT: 2, ON_DEMAND: 2})
    play.gang_runs()
    play.suspend(OTHER_KEY)
    play.no_pod_left()
    play.resume()
    play.until(lambda: sum(waits(pod) for pod in play.pods) == GANG)
    play.suspend(TO_ON_DEMAND)
    play.no_pod_left()
    play.replace_jobs()
    play.resume()
    play.gang_runs(ON_DEMAND)
    return play


def killed_while_suspended(recording: Recording) -> Play:
    play = Play(recording, static={SPOT: 2, ON_DEMAND: 2})
    held = play.gang_runs()[0]
    play.world.store.write(held, meta(held, finalizers=[*held["metadata"]["finalizers"], HELD]))
    play.suspend(TO_ON_DEMAND)
    play.until(lambda: any(is_true(job, "FailureTarget") for job in play.jobs))
    there = next(pod for pod in play.pods if uid(pod) == uid(held))
    play.world.store.write(there, meta(there, finalizers=without(there["metadata"]["finalizers"], HELD)))
    play.until(lambda: not play.pods)
    play.resume()
    play.restarts()
    play.gang_runs(ON_DEMAND)
    return play


def _cluster_spec(recording: Recording) -> Object:
    """The Ray cluster of a recorded RayJob, as it was submitted."""
    return next(each.object["spec"]["rayClusterSpec"] for each in recording.versions if each.kind == "RayJob")


def _word(world: World, rayjob: Object) -> str:
    now = world.store.get(kind_of(rayjob), place(rayjob))
    return str(now["status"].get("jobDeploymentStatus")) if now and "status" in now else ""


def _worker(play: Play) -> Object:
    return next(pod for pod in play.pods if labels(pod).get(NODE_TYPE) == "worker")


def ray_reclaim(recording: Recording) -> Play:
    play = Play(recording)
    play.ray_runs()
    play.world.reclaim(play.a_node(_worker(play)))
    play.until(lambda: any(waits(pod) for pod in play.pods))
    play.ray_runs()
    play.world.run(1.0)
    return play


def ray_head(recording: Recording) -> Play:
    play = Play(recording)
    play.ray_runs()
    play.world.reclaim(play.a_node(next(pod for pod in play.pods if labels(pod).get(NODE_TYPE) == HEAD)))
    play.until(lambda: any(ended(pod) for pod in play.pods))
    play.ray_runs()
    play.world.run(2.0)
    return play


def ray_retry(recording: Recording) -> Play:
    play = Play(recording)
    play.ray_runs()
    play.world.finish("ray", "FAILED", namespace(play.job))
    play.until(lambda: play.job["status"].get("failed") == 1)
    play.ray_runs()
    play.world.run(1.0)
    play.world.finish("ray", "SUCCEEDED", namespace(play.job))
    play.until(lambda: not play.world.all(RAY_CLUSTER))
    play.world.run(0.1)
    return play


def ray_move(recording: Recording) -> Play:
    play = Play(recording)
    play.ray_runs()
    play.world.pools[SPOT].dry = True
    play.world.reclaim(play.a_node(_worker(play)))
    play.until(lambda: any(waits(pod) for pod in play.pods))
    play.suspend(TO_ON_DEMAND)
    play.until(lambda: play.job["status"].get("jobDeploymentStatus") == "Suspended")
    play.no_pod_left()
    play.resume()
    play.until(lambda: play.job["status"].get("jobDeploymentStatus") == "Initializing")
    play.ray_runs()
    return play


def ray_dead_end(recording: Recording) -> Play:
    play = Play(recording)
    play.ray_runs()
    play.patch({"op": "add", "path": "/spec/shutdownAfterJobFinishes", "value": False})
    play.suspend(TO_ON_DEMAND)
    play.until(lambda: play.job["status"].get("jobDeploymentStatus") == "ValidationFailed")
    play.patch(
        {"op": "add", "path": "/spec/shutdownAfterJobFinishes", "value": True},
        {"op": "add", "path": "/spec/suspend", "value": False},
    )
    later = {**play.job, "metadata": {"name": "later", "namespace": namespace(play.job)}}
    later["spec"] = {**play.job["spec"], "rayClusterSpec": _cluster_spec(recording), "suspend": True}
    made = play.world.submit(later)
    play.until(lambda: _word(play.world, made) == "Suspended")
    play.world.server.delete(made["apiVersion"], made["kind"], name(made), namespace(made))
    play.world.run(30.0)
    return play


PLAYS: Final[Mapping[str, Callable[[Recording], Play]]] = MappingProxyType(
    {
        "jobset-reclaim": reclaim,
        "jobset-killed": killed,
        "jobset-error": error,
        "jobset-exit-zero": exit_zero,
        "jobset-node-vanished": node_vanished,
        "jobset-dry-market": dry_market,
        "jobset-move": move,
        "jobset-stale-selector": stale_selector,
        "jobset-killed-while-suspended": killed_while_suspended,
        "rayjob-reclaim": ray_reclaim,
        "rayjob-head": ray_head,
        "rayjob-retry": ray_retry,
        "rayjob-move": ray_move,
        "rayjob-dead-end": ray_dead_end,
    }
)
