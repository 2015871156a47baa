"""KubeRay's clusters: a head and workers, each replaced in place by another pod when it has ended."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spotproof.controller.kinds import POD, RAY_CLUSTER, RAY_CLUSTER_NAME, Object
from tests.world.manager import Manager
from tests.world.store import Change, Place, place
from tests.world.things import (
    conditions,
    ended,
    is_true,
    labels,
    leaves,
    name,
    namespace,
    owned_by,
    owner,
    phase,
    ready,
    status,
    uid,
)

LOOK_SECONDS: Final = 0.05
REPLACE_SECONDS: Final = 0.4
GROUP: Final = "ray.io/group"
NODE_TYPE: Final = "ray.io/node-type"
HEAD: Final = "head"
WORKER: Final = "worker"
HEAD_GROUP: Final = "headgroup"


class RayClusters(Manager):
    """One RayCluster at a time."""

    def cluster(self, change: Change, cluster: Object, old: Object | None) -> None:
        """A cluster has been made."""
        if change == "ADDED" and old is None:
            self.later(place(cluster), LOOK_SECONDS)

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod of a cluster has changed."""
        if of := owner(pod, "RayCluster"):
            if change == "DELETED":
                self.later((namespace(pod), of["name"]), REPLACE_SECONDS)
            elif old is None or phase(old) != phase(pod) or ready(pod) != ready(old):
                self.later((namespace(pod), of["name"]), LOOK_SECONDS)

    def sync(self, where: Place) -> None:
        """Take away what has ended, make what is missing, and say how many are ready."""
        cluster = self.store.get(RAY_CLUSTER, where)
        if cluster is None or leaves(cluster):
            return
        for pod in self.store.owned(uid(cluster), POD):
            if ended(pod) and not leaves(pod):
                self.server.delete("v1", "Pod", name(pod), namespace(pod))
        pods = self.store.owned(uid(cluster), POD)
        if not any(labels(pod)[NODE_TYPE] == HEAD for pod in pods):
            self.server.create(_pod(cluster, HEAD_GROUP, HEAD, cluster["spec"]["headGroupSpec"]["template"]))
        for group in cluster["spec"].get("workerGroupSpecs", ()):
            there = sum(labels(pod)[GROUP] == group["groupName"] for pod in pods)
            for _ in range(_workers(group) - there):
                self.server.create(_pod(cluster, group["groupName"], WORKER, group["template"]))
        self._say(cluster, self.store.owned(uid(cluster), POD))

    def _say(self, cluster: Object, pods: Sequence[Object]) -> None:
        up = sum(ready(pod) for pod in pods if labels(pod)[NODE_TYPE] == WORKER)
        head = next(pod for pod in pods if labels(pod)[NODE_TYPE] == HEAD)
        said = ("HeadPodReady", "True", "HeadPodRunningAndReady", "")
        if not ready(head):
            said = ("HeadPodReady", "False", "PodFailed" if ended(head) else "Unknown", "")
        workers = sum(_workers(group) for group in cluster["spec"].get("workerGroupSpecs", ()))
        provisioned = is_true(cluster, "RayClusterProvisioned") or (ready(head) and up == workers)
        why = "AllPodRunningAndReadyFirstTime" if provisioned else "RayClusterPodsProvisioning"
        whole = ("RayClusterProvisioned", "True" if provisioned else "False", why, "")
        changed = status(
            cluster,
            conditions=conditions(cluster, self.clock.text, said, whole),
            desiredWorkerReplicas=workers,
            readyWorkerReplicas=up or None,
            state="ready" if provisioned else None,
        )
        self.store.write(cluster, changed)


def _workers(group: Mapping[str, Any]) -> int:
    """GetWorkerGroupDesiredReplicas, of groups of one host a worker."""
    least, most, asked = group.get("minReplicas", 0), group.get("maxReplicas"), group.get("replicas")
    if group.get("suspend"):
        return 0
    if asked is None or asked < least:
        return int(least)
    return int(asked if most is None else min(asked, most))


def _pod(cluster: Object, group: str, node_type: str, template: Mapping[str, Any]) -> Object:
    about = template.get("metadata", {})
    own = {RAY_CLUSTER_NAME: name(cluster), GROUP: group, NODE_TYPE: node_type, "ray.io/is-ray-node": "yes"}
    part = HEAD if node_type == HEAD else f"{group}-{node_type}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{name(cluster)}-{part}-",
            "namespace": namespace(cluster),
            "labels": {**about.get("labels", {}), **own},
            "annotations": dict(about.get("annotations", {})),
            "ownerReferences": owned_by(cluster),
        },
        "spec": template["spec"],
    }
