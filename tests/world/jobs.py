"""Jobs and policies of random worlds: as `spotproof render` makes them, made small."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from spotproof.controller.kinds import POLICY, Object
from spotproof.vocabulary import (
    BACKOFF_LIMIT_ANNOTATION,
    FALLBACK_POLICY_LABEL,
    GPU_RESOURCE,
    POOL_LABEL,
    SPOT_TOLERATIONS,
    Capacity,
)
from tests.e2e.jobs import rendered, with_controller
from tests.world.karpenter import Pool
from tests.world.world import NAMESPACE

WHOLE_NODE: Final = "8"
"""Accelerators of a pod: one pod a node, so that a node lost is a pod lost."""


class Tier(NamedTuple):
    """A tier of a policy, short."""

    pool: str
    max_failures: int = 1
    pending_timeout: str = "15m"
    capacity: Capacity = "spot"
    usd: float = 10.0


def policy(name: str, tiers: Sequence[Tier], **more: Any) -> Object:
    """A FallbackPolicy, resolved; `more` are fields of its spec as the object has them."""
    return {
        "apiVersion": POLICY.api_version,
        "kind": POLICY.kind,
        "metadata": {"name": name},
        "spec": {"tiers": [_resolved(each) for each in tiers], **more},
    }


def _resolved(tier: Tier) -> Object:
    return {
        "pool": tier.pool,
        "maxFailures": tier.max_failures,
        "pendingTimeout": tier.pending_timeout,
        "capacity": tier.capacity,
        "nodeSelector": {POOL_LABEL: tier.pool},
        "tolerations": [*SPOT_TOLERATIONS, {"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}],
        "accelerator": {"type": "nvidia-a100-40gb", "count": 8, "memoryGib": 40},
        "usdPerNodeHour": tier.usd,
        "priceSource": "a test",
    }


def pools(tiers: Sequence[Tier], *, most: int = 100) -> list[Pool]:
    """The pools of some tiers, and one for heads."""
    return [*(Pool(each.pool, each.capacity, most=most) for each in tiers), Pool("cpu", "on-demand", 0)]


def jobset(  # noqa: PLR0913  # what the jobs of worlds differ in
    name: str,
    policy: str,
    pool: str,
    *,
    pods: int = 2,
    roles: int = 1,
    annotations: Mapping[str, str] | None = None,
    knobs: Mapping[str, str] | None = None,
) -> Object:
    """A JobSet; `pods` are those of a role, `knobs` annotations of theirs."""
    job = _jobset()
    made: list[Object] = []
    for role in job["spec"]["replicatedJobs"][:roles]:
        inner = role["template"]["spec"]
        template = _template(inner["template"], pool)
        about = template["metadata"]
        noted = {**about, "annotations": {**about.get("annotations", {}), **(knobs or {})}}
        small = {**inner, "parallelism": pods, "completions": pods, "template": {**template, "metadata": noted}}
        made.append({**role, "template": {**role["template"], "spec": small}})
    spec = {**job["spec"], "replicatedJobs": made}
    return {**job, "metadata": _metadata(job, name, policy, annotations), "spec": spec}


def rayjob(
    name: str, policy: str, pool: str, *, workers: int = 2, annotations: Mapping[str, str] | None = None
) -> Object:
    """A RayJob with one group of workers, its head on-demand."""
    job = _rayjob()
    cluster = job["spec"]["rayClusterSpec"]
    (group, *_) = cluster["workerGroupSpecs"]
    sizes = dict.fromkeys(("replicas", "minReplicas", "maxReplicas"), workers)
    small = {**group, **sizes, "template": _template(group["template"], pool)}
    spec = {**job["spec"], "rayClusterSpec": {**cluster, "workerGroupSpecs": [small]}}
    return {**job, "metadata": _metadata(job, name, policy, annotations), "spec": spec}


JOBS: Final[Mapping[str, Callable[..., Object]]] = {"JobSet": jobset, "RayJob": rayjob}
"""How a job of each kind is made."""


def sized(kind: str, pods: int) -> Mapping[str, int]:
    """What a job of a kind is made with, for so many pods that move."""
    return {"pods": pods} if kind == "JobSet" else {"workers": pods}


@cache
def _jobset() -> Object:
    return rendered("gang", NAMESPACE, with_controller())


@cache
def _rayjob() -> Object:
    return rendered("ray", NAMESPACE, with_controller())


def _metadata(job: Object, name: str, policy: str, annotations: Mapping[str, str] | None) -> Object:
    about = job["metadata"]
    labels = {**about["labels"], FALLBACK_POLICY_LABEL: policy, "spotproof.dev/run": name}
    notes = {**about.get("annotations", {}), BACKOFF_LIMIT_ANNOTATION: "2", **(annotations or {})}
    return {**about, "name": name, "labels": labels, "annotations": notes}


def _template(template: Object, pool: str) -> Object:
    spec = template["spec"]
    (container, *rest) = spec["containers"]
    resources = container["resources"]
    whole = {part: {**resources[part], GPU_RESOURCE: WHOLE_NODE} for part in ("requests", "limits")}
    containers = [{**container, "resources": whole}, *rest]
    return {**template, "spec": {**spec, "containers": containers, "nodeSelector": {POOL_LABEL: pool}}}
