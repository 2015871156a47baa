"""Objects as the controller's cache holds them, in one line each."""

from typing import Any

from spotproof.controller.cache import Cache
from spotproof.controller.gang import Gang
from spotproof.controller.jobs.contract import JobState
from spotproof.controller.kinds import NODE, NODE_CLAIM, Object
from spotproof.fallback.record import render_instant
from spotproof.vocabulary import CAPACITY_LABEL, ON_DEMAND, POOL_LABEL, SPOT

NOW = 1_795_000_000


def at(seconds: float = 0) -> str:
    """A moment, so many seconds after the tests' own."""
    return render_instant(NOW + int(seconds))


def pod(  # noqa: PLR0913
    name: str,
    *,
    node: str = "node-1",
    phase: str = "Running",
    disrupted: str = "",
    disrupted_at: int | None = None,
    exit_code: int | None = None,
    why: str = "Error",
    leaving: bool = False,
    attempt: str = "0",
    waits: bool = False,
    waits_since: int = 0,
) -> Object:
    """A pod of a JobSet's gang."""
    conditions: list[Object] = []
    if disrupted:
        since = {} if disrupted_at is None else {"lastTransitionTime": at(disrupted_at)}
        conditions.append({"type": "DisruptionTarget", "status": "True", "reason": disrupted, **since})
    if phase == "Running":
        conditions.append({"type": "Ready", "status": "True"})
    if waits:
        conditions.append(
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "lastTransitionTime": at(waits_since),
            }
        )
    meta: Object = {
        "name": name,
        "namespace": "team",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": at(-600),
        "labels": {"jobset.sigs.k8s.io/restart-attempt": attempt},
    }
    ended = [] if exit_code is None else [{"name": "train", "exitCode": exit_code, "reason": why, "finishedAt": at()}]
    return {
        "metadata": {**meta, **({"deletionTimestamp": at(30), "deletionGracePeriodSeconds": 30} if leaving else {})},
        "spec": {"nodeSelector": {POOL_LABEL: "spot"}, **({} if waits else {"nodeName": node})},
        "status": {
            "phase": "Pending" if waits else phase,
            "conditions": conditions,
            **({"ended": ended} if ended else {}),
        },
    }


def node(name: str = "node-1", *, capacity: str = SPOT, leaving: bool = False, **more: Any) -> Object:
    """A node; `more` are its taints, by key, or `preempted`."""
    meta: Object = {"name": name, "resourceVersion": "1", "uid": f"uid-{name}", "labels": {CAPACITY_LABEL: capacity}}
    conditions = [{"type": "PreemptionScheduled", "status": "True"}] if more.get("preempted") else []
    return {
        "metadata": {**meta, **({"deletionTimestamp": at()} if leaving else {})},
        "spec": {"taints": [{"key": key, "effect": "NoExecute"} for key in more.get("taints", ())]},
        "status": {"conditions": conditions},
    }


def claim(name: str, node_name: str, *, leaving: bool = False, chosen: str = "", version: int = 1) -> Object:
    """A NodeClaim that became a node."""
    conditions: list[Object] = [{"type": "Launched", "status": "True"}]
    if chosen:
        conditions.append({"type": "DisruptionReason", "status": "True", "reason": chosen})
    meta: Object = {
        "name": name,
        "resourceVersion": str(version),
        "uid": f"uid-{name}",
        "labels": {POOL_LABEL: "spot"},
        "creationTimestamp": at(-600),
    }
    return {
        "metadata": {**meta, **({"deletionTimestamp": at()} if leaving else {})},
        "status": {"nodeName": node_name, "conditions": conditions},
    }


def cached(*things: Object) -> Cache:
    """A cache with these nodes and claims."""
    cache = Cache()
    for each in things:
        cache.put(NODE_CLAIM if "nodeName" in each["status"] else NODE, each)
    return cache


def on_demand(name: str = "node-1", **more: Any) -> Object:
    """A node that nobody takes away."""
    return node(name, capacity=ON_DEMAND, **more)


def gang(*pods: Object, size: int = 2, older: tuple[Object, ...] = (), gone: tuple[Object, ...] = ()) -> Gang:
    """A gang of these pods."""
    waiting = tuple(each for each in pods if "nodeName" not in each["spec"])
    return Gang(size, pods, (), older, gone, waiting)


def state(restarts: int = 0, errors: int = 0) -> JobState:
    """A JobSet with these counters."""
    return JobState(attempt=str(restarts), restarts=restarts, errors=errors)
