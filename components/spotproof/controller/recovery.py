"""Fast recovery: pods of a node that is gone are ended at once, as PodGC would 45 to 75 s later.

The kubelet that ran them is gone with the node, so nobody else will say that they ended; meanwhile the whole gang is
idle, and billed. A delete alone would leave a gang hanging whose podReplacementPolicy is Failed, so a pod is marked
Failed first, with the condition PodGC itself writes. A pod that had been told to go, and whose kubelet could still
say that it ended but not take it away, holds its Job just as long (59 s until the gang was whole): it is deleted alone.
Only where a live answer says that the node's object is gone, and under Karpenter its NodeClaim too: silence is never
enough.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from spotproof.controller.api import Api
from spotproof.controller.cache import Cache
from spotproof.controller.kinds import NODE, NODE_CLAIM, POD, Object
from spotproof.controller.pods import has_ended, node_of
from spotproof.controller.watched import project_pod
from spotproof.kube.client import Refused

REASON: Final = "DeletionByPodGC"
MESSAGE: Final = "spotproof: the pod's node is gone"
GONE: Final = frozenset({404, 409})
CONFLICT: Final = frozenset({404, 409, 422})


def recover(api: Api, cache: Cache, pods: Sequence[Object], now: float) -> list[str]:
    """End those of the pods whose nodes are gone; the names of those nodes."""
    found = orphaned(api, cache, pods)
    end(api, cache, found, now)
    return list(found)


def orphaned(api: Api, cache: Cache, pods: Sequence[Object]) -> Mapping[str, Sequence[Object]]:
    """Those of the pods whose nodes are gone, and nobody has ended, by the names of the nodes."""
    orphans = _orphans(cache, pods)
    gone = (name for name in sorted({node_of(pod) for pod in orphans}) if _is_gone(api, cache, name))
    return {name: [pod for pod in orphans if node_of(pod) == name] for name in gone}


def end(api: Api, cache: Cache, orphans: Mapping[str, Sequence[Object]], now: float) -> None:
    """End them, once it is written what their loss means: nothing tells of it when they are gone.

    Of a RayJob whose worker had been ended the replacement was made within the second in which its cluster was whole;
    the next process, for want of a record, took that for the gang as it had been, and charged nobody.
    """
    for pods in orphans.values():
        for pod in pods:
            _end(api, cache, pod, now)


def ended(pod: Object, now: float) -> Object:
    """An orphan as it will be."""
    if has_ended(pod):
        return pod
    conditions = _disrupted(pod["status"].get("conditions", []), now)
    return {**pod, "status": {**pod["status"], "phase": "Failed", "conditions": conditions}}


def _orphans(cache: Cache, pods: Sequence[Object]) -> list[Object]:
    return [pod for pod in pods if node_of(pod) and _waits_for_kubelet(pod) and cache.node(node_of(pod)) is None]


def _waits_for_kubelet(pod: Object) -> bool:
    """Whether it runs, or has been told to go and is there still.

    Its grace is 0 once somebody has deleted it at once: then it stays for a finalizer only.
    """
    return bool(pod["metadata"].get("deletionGracePeriodSeconds")) or not has_ended(pod)


def _is_gone(api: Api, cache: Cache, node: str) -> bool:
    if api.find(NODE.api_version, NODE.kind, node) is not None:
        return False
    claim = _claim(cache, node)
    return claim is None or api.find(NODE_CLAIM.api_version, NODE_CLAIM.kind, claim) is None


def _claim(cache: Cache, node: str) -> str | None:
    """The NodeClaim of a node that is gone: as it is, or as the node named it when it was last seen."""
    if claim := cache.claim_of(node):
        return claim["metadata"]["name"]
    last = cache.departed.node_named(node)
    owners = [] if last is None else last["metadata"].get("ownerReferences", [])
    return next((each["name"] for each in owners if each["kind"] == NODE_CLAIM.kind), None)


def _end(api: Api, cache: Cache, pod: Object, now: float) -> None:
    meta = pod["metadata"]
    name, namespace, uid = meta["name"], meta["namespace"], meta["uid"]
    live = api.find(POD.api_version, POD.kind, name, namespace)
    if live is None or live["metadata"]["uid"] != uid:
        return
    try:
        if not has_ended(live):
            change = _failed(live, now)
            done = api.patch(POD.api_version, POD.kind, name, change, namespace, subresource="status")
            cache.put(POD, project_pod(done.object))
        api.delete(POD.api_version, POD.kind, name, namespace, grace_seconds=0, uid=uid)
    except Refused as refused:
        if refused.status not in CONFLICT:
            raise


def _failed(pod: Object, now: float) -> list[Object]:
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": pod["metadata"]["resourceVersion"]},
        {"op": "add", "path": "/status/phase", "value": "Failed"},
        {"op": "add", "path": "/status/conditions", "value": _disrupted(pod["status"].get("conditions", []), now)},
    ]


def _disrupted(conditions: Sequence[Object], now: float) -> list[Object]:
    made = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": REASON,
        "message": MESSAGE,
        "lastTransitionTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    there = [each for each in conditions if each["type"] == "DisruptionTarget" and each["status"] == "True"]
    kept = [each for each in conditions if each["type"] != "DisruptionTarget"]
    return [*kept, *(there or [made])]
