"""Objects as the watches deliver them to the cache, in one line each."""

from collections.abc import Mapping
from typing import Any

from spotproof.controller.cache import Key
from spotproof.controller.kinds import (
    JOBSET,
    JOBSET_NAME,
    NODE_CLAIM,
    POD,
    RAY_CLUSTER,
    RAY_CLUSTER_NAME,
    RAYJOB,
    RUN,
    Kind,
    Object,
)
from spotproof.vocabulary import (
    FALLBACK_POLICY_LABEL,
    POOL_LABEL,
    PROBE_LABEL,
    PROBE_OF_ANNOTATION,
    SYSTEM_NAMESPACE,
)

SPACES = ("team", SYSTEM_NAMESPACE)
NAMES = ("a", "b")
NODES = ("n1", "n2")
POOLS = ("spot", "od")


def thing_of(kind: Kind, namespace: str, name: str, at: int, **meta: Any) -> Object:
    where = {"namespace": namespace} if namespace else {}
    return {"kind": kind.kind, "metadata": {"name": name, **where, "uid": name, "resourceVersion": str(at), **meta}}


def jobset(name: str = "a", at: int = 1, policy: str = "standard", namespace: str = "team", **more: Any) -> Object:
    return thing_of(JOBSET, namespace, name, at, labels={FALLBACK_POLICY_LABEL: policy}) | more


def rayjob(name: str = "a", at: int = 1, policy: str = "standard", namespace: str = "team") -> Object:
    return thing_of(RAYJOB, namespace, name, at, labels={FALLBACK_POLICY_LABEL: policy})


def pod(carried: Mapping[str, str], name: str = "p", at: int = 1, node: str = "n1") -> Object:
    return thing_of(POD, "team", name, at, labels=dict(carried)) | {"spec": {"nodeName": node} if node else {}}


def of_jobset(jobset: str) -> dict[str, str]:
    return {JOBSET_NAME: jobset}


def of_cluster(cluster: str) -> dict[str, str]:
    return {RAY_CLUSTER_NAME: cluster}


def probe(job: str = "JobSet/team/a", at: int = 1, pool: str = "spot", node: str = "") -> Object:
    meta = {"labels": {PROBE_LABEL: pool}, "annotations": {PROBE_OF_ANNOTATION: job}}
    return thing_of(POD, SYSTEM_NAMESPACE, "probe", at, **meta) | {"spec": {"nodeName": node} if node else {}}


def cluster(name: str = "c", at: int = 1, owner: str = "a", namespace: str = "team") -> Object:
    owners = [{"kind": "RayJob", "name": owner, "uid": "1"}] if owner else []
    return thing_of(RAY_CLUSTER, namespace, name, at, ownerReferences=owners)


def claim(name: str = "k", at: int = 1, node: str = "", pool: str = "spot", **conditions: str) -> Object:
    told = [{"type": each, "status": status, "reason": "Because"} for each, status in conditions.items()]
    status = {"conditions": told, **({"nodeName": node} if node else {})}
    return thing_of(NODE_CLAIM, "", name, at, labels={POOL_LABEL: pool}) | {"status": status}


def waiting_run(at: int = 1, pool: str = "spot") -> Object:
    return _run(at, {"tier": pool, "waitingSince": "2026-11-01T00:00:00Z"})


def interrupted_run(node: str, finding: str = "undecided", at: int = 1) -> Object:
    return _run(at, {"interruption": {"finding": finding, "nodes": [node]}})


def _run(at: int, status: Object) -> Object:
    return thing_of(RUN, "team", "a", at) | {"spec": {"job": {"kind": "JobSet", "name": "a"}}, "status": status}


A = Key("JobSet", "team", "a")
RAY = Key("RayJob", "team", "a")
