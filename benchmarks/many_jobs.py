"""Many jobs at once under the controller on the real control plane, whose nodes vanish one after the other."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spotproof.rehearsal.history import JOBSET_NAME, node_of, works
from tests.e2e.controller.gangs import Gang, jobset
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.stage import Controlled
from tests.e2e.jobs import SPOT_POOL
from tests.soak.play import Theatre

JOBS: Final = 300
EVICTIONS: Final = 120
A_SECOND: Final = 2
PODS: Final = 2
"""Of a gang, on a node of its own."""
SECONDS: Final = 900.0


@dataclass
class Seen:
    """When each gang was whole, from the watch of pods alone."""

    pods: dict[str, dict[str, tuple[bool, str]]] = field(default_factory=dict[str, dict[str, tuple[bool, str]]])
    """By gang and uid: whether it is ready, and its node."""
    whole_since: dict[str, float] = field(default_factory=dict[str, float])

    def take(self, change: str, pod: Mapping[str, Any], at: float) -> None:
        """One more version of a pod."""
        meta = pod["metadata"]
        gang = meta["labels"][JOBSET_NAME]
        pods = self.pods.setdefault(gang, {})
        if change == "DELETED":
            pods.pop(meta["uid"], None)
        else:
            pods[meta["uid"]] = (works(pod), node_of(pod))
        if len(pods) == PODS and all(ready for ready, _ in pods.values()):
            self.whole_since.setdefault(gang, at)
        else:
            self.whole_since.pop(gang, None)

    def nodes(self, gang: str) -> set[str]:
        """Where its pods are."""
        return {node for _, node in self.pods[gang].values()}


def many_jobs(theatre: Theatre, jobs: int) -> tuple[str, str, str, str]:
    """A row: jobs, nodes that vanish, seconds to a whole gang, and how many of the jobs were counted wrongly."""
    gangs = [jobset("pair", f"pair-{number}", PODS) for number in range(jobs)]
    theatre.alone.kill()  # it asks through a proxy that keeps every call
    Controller(theatre.plane).start()
    with Controlled(theatre.plane, "many", bought=False) as here:
        here.recorder.stop()  # it would keep every version of 600 pods
        here.add_nodes(SPOT_POOL, jobs)
        policy = here.policy(spot(max_failures=50), on_demand())
        seen, since = Seen(), here.kube.resource_version()
        with here.kube.watch([("v1", "Pod")], since, here.namespace) as watch:
            threading.Thread(
                target=lambda: [seen.take(each.type, each.object, each.received_at) for each in watch], daemon=True
            ).start()
            for gang in gangs:
                here.submit(_on_a_node_of_its_own(gang.job(here, policy)))
            here.wait(lambda: len(seen.whole_since) == jobs, f"{jobs} gangs to be whole", SECONDS)
            here.wait(lambda: _all_run(here, gangs), f"{jobs} TrainingRuns to say so", SECONDS)
            lost = gangs[: min(EVICTIONS, jobs)]
            began = time.monotonic()
            gone = {
                gang.name: _vanishes(here, seen, gang, began + number / A_SECOND) for number, gang in enumerate(lost)
            }
            here.wait(lambda: all(_is_back(seen, *each) for each in gone.items()), "all to be whole again", SECONDS)
        outages = sorted(seen.whole_since[name] - at for name, at in gone.items())
        here.wait(lambda: _all_run(here, gangs), "all TrainingRuns to say so", SECONDS)
        wrong = sum(here.run(gang.name).get("evictions", 0) != (gang in lost) for gang in gangs)
    parts = [outages[int(len(outages) * rank)] for rank in (0.5, 0.99)]
    said = f"{parts[0]:.1f}, 99th percentile {parts[1]:.1f}, slowest {outages[-1]:.1f}"
    took = max(gone.values()) - min(gone.values())
    rate = f", {(len(lost) - 1) / took:.1f} a second" if took else ""
    return (str(jobs), f"{len(lost)}{rate}", said, str(wrong))


def _on_a_node_of_its_own(job: Any) -> Any:
    """The job, its pods beside each other and beside nobody else's: a node that vanishes is then one gang's loss."""
    ours = {"key": JOBSET_NAME, "operator": "In", "values": [job["metadata"]["name"]]}
    others = [{"key": JOBSET_NAME, "operator": "Exists"}, {**ours, "operator": "NotIn"}]
    for each in job["spec"]["replicatedJobs"]:
        each["template"]["spec"]["template"]["spec"]["affinity"] = {
            "podAffinity": _required([ours]),
            "podAntiAffinity": _required(others),
        }
    return job


def _required(expressions: Sequence[Any]) -> Any:
    term = {"labelSelector": {"matchExpressions": [*expressions]}, "topologyKey": "kubernetes.io/hostname"}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _vanishes(here: Controlled, seen: Seen, gang: Gang, due: float) -> float:
    """Its node is gone, and there is another one, at that time of the monotonic clock. Returns when, since 1970."""
    time.sleep(max(due - time.monotonic(), 0))
    (node,) = seen.nodes(gang.name)
    here.add_nodes(SPOT_POOL, 1)
    at = time.time()
    here.delete_node(node)
    return at


def _is_back(seen: Seen, gang: str, gone_at: float) -> bool:
    return seen.whole_since.get(gang, 0.0) > gone_at


def _all_run(here: Controlled, gangs: list[Gang]) -> bool:
    runs = here.kube.list(here.kinds["TrainingRun"], "TrainingRun", here.namespace)
    return sum(each.get("status", {}).get("phase") == "Running" for each in runs) == len(gangs)
