"""RayJobs: any change of the spec is taken up by the next Ray cluster, which has another name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from spotproof.controller import shapes
from spotproof.controller.api import Api
from spotproof.controller.jobs.contract import Childless, Find, JobState, Members
from spotproof.controller.jobs.template import Template
from spotproof.controller.kinds import JOB, POD, RAY_CLUSTER, RAY_CLUSTER_NAME, RAYJOB, Kind, Object
from spotproof.controller.pods import condition, has_ended, is_true
from spotproof.controller.projecting import Watched, conditions, metadata, of_status
from spotproof.fallback.record import Counted, Move, parse_instant
from spotproof.fallback.run import Instant
from spotproof.vocabulary import FALLBACK_POLICY_LABEL

HEAD: Final = "head"
SUBMITTER: Final = "submitter"
NODE_TYPE: Final = "ray.io/node-type"
PROVISIONED: Final = "RayClusterProvisioned"
"""Condition of a Ray cluster: all its pods have been ready once; it stays True (KubeRay 1.3 and newer)."""
MADE_FROM: Final = "ray.io/originated-from-cr-name"
"""Label of every Ray cluster that KubeRay has made for another object. Those of the RayJob itself are copied as the
cluster is made, so that one which is put under a policy later does not say so."""
STATUS: Final = "jobDeploymentStatus"
SUSPENDED: Final = "Suspended"
SUSPENDABLE: Final = frozenset({"Initializing", "Running"})
"""KubeRay heeds `suspend` in these alone (rayjob_controller.go, v1.6.2 and v1.7.0)."""
SUBMITTER_LABEL: Final = "batch.kubernetes.io/job-name"
DEAD_END: Final = "ValidationFailed"
ENDED: Final = frozenset({"Complete", "Failed"})
"""Its cluster goes with these. ValidationFailed is none of them: its cluster goes on."""


def project_rayjob(rayjob: Mapping[str, Any]) -> Object:
    """All that somebody wrote; of its status how it is, its cluster's name, and how often its program failed."""
    return of_status(rayjob, "jobDeploymentStatus", "jobStatus", "failed", "rayClusterName", "message", "reason")


def project_cluster(cluster: Mapping[str, Any]) -> Object:
    """Whose it is: pods name their cluster, and the cluster its RayJob; and since when all its pods have been ready."""
    told = conditions(cluster.get("status", {}), (PROVISIONED,), ("type", "status", "lastTransitionTime"))
    return {"metadata": metadata(cluster), "status": {"conditions": told}}


class RayJobKind(Childless):
    """KubeRay 1.2 and newer (ray.io/v1)."""

    kind = RAYJOB
    watched = (
        Watched(RAYJOB, project_rayjob, FALLBACK_POLICY_LABEL, optional=True),
        Watched(RAY_CLUSTER, project_cluster, MADE_FROM, optional=True, shape=shapes.RayCluster),
    )
    members = Members(RAY_CLUSTER, RAY_CLUSTER_NAME, read=frozenset({NODE_TYPE}))
    manager = "ray.io/kuberay-operator"
    """KubeRay 1.7."""
    roles = "spec.rayClusterSpec.workerGroupSpecs"
    suspend = "/spec/suspend"
    replaces_alone = True
    """KubeRay makes a worker again that has failed or succeeded."""

    def templates(self, spec: Mapping[str, Any]) -> Iterator[Template]:
        """The head's, one a group of workers, and the submitter's where somebody wrote one."""
        cluster = spec.get("rayClusterSpec") or {}
        head = cluster.get("headGroupSpec", {}).get("template", {})
        yield Template(HEAD, ("spec", "rayClusterSpec", "headGroupSpec", "template"), head, 1, stays=True)
        for index, each in enumerate(cluster.get("workerGroupSpecs", [])):
            path = ("spec", "rayClusterSpec", "workerGroupSpecs", index, "template")
            yield Template(each.get("groupName", f"workers-{index}"), path, each.get("template", {}), _workers(each))
        if submitter := spec.get("submitterPodTemplate"):
            yield Template(SUBMITTER, ("spec", "submitterPodTemplate"), submitter, 1, stays=True)

    def has_ended(self, job: Object) -> bool:
        """Its cluster is gone, or about to go."""
        return (job.get("status") or {}).get(STATUS) in ENDED

    def state(self, job: Object) -> JobState:
        """`status.failed` counts attempts whose program failed; a lost worker is in no counter."""
        status = job.get("status", {})
        word = status.get(STATUS, "")
        failed = int(status.get("failed", 0))
        over = "Succeeded" if word == "Complete" and status.get("jobStatus") == "SUCCEEDED" else None
        if word in {"Failed", DEAD_END} or (word == "Complete" and over is None):
            over = "Failed"
        return JobState(
            attempt=status.get("rayClusterName", ""),
            restarts=failed,
            errors=failed,
            suspended=bool(job["spec"].get("suspend")),
            retrying=word == "Retrying",
            can_suspend=word in SUSPENDABLE,
            over=over,
            message=status.get("message", "") or status.get("reason", ""),
        )

    def first_whole(self, job: Object, find: Find) -> Instant | None:
        """Since when its Ray cluster is provisioned."""
        cluster = find(RAY_CLUSTER, job["metadata"]["namespace"], self.state(job).attempt)
        if cluster is None or not is_true(cluster, PROVISIONED):
            return None
        return parse_instant(condition(cluster, PROVISIONED)["lastTransitionTime"])

    def attempt_of(self, pod: Object) -> str:
        """The name of its Ray cluster."""
        return pod["metadata"].get("labels", {}).get(RAY_CLUSTER_NAME, "")

    def stays(self, pod: Object) -> bool:
        """The head, which may be on a pool that is a tier too."""
        return pod["metadata"].get("labels", {}).get(NODE_TYPE) == HEAD

    def size(self, job: Object) -> int:
        """The head and all workers."""
        return sum(each.pods for each in self.templates(job["spec"]) if each.role != SUBMITTER)

    def leftovers(self, api: Api, job: Object, move: Move) -> Sequence[Object]:
        """Pods of the old cluster, which is `Suspended` before they are gone, of those before it, and submitters.

        A cluster is gone before a pod on a node that vanished is: then its name alone says whose it was. One that is
        there says it itself: another's may have a name like the job's own.
        """
        name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
        submitters = _alive(api, namespace, f"{SUBMITTER_LABEL}={name}")
        if submitters and _is_anothers(api, JOB, name, job):
            submitters = []
        known = {move.cluster, self.state(job).attempt}
        own = re.compile(rf"{re.escape(name)}-[a-z0-9]{{5}}")
        rays = _alive(api, namespace, RAY_CLUSTER_NAME)
        alike = {cluster for cluster in map(self.attempt_of, rays) if own.fullmatch(cluster)} - known
        mine = known | {cluster for cluster in alike if not _is_anothers(api, RAY_CLUSTER, cluster, job)}
        return [*submitters, *(pod for pod in rays if self.attempt_of(pod) in mine)]

    def is_quiet(self, job: Object, children: Iterable[Object]) -> bool:  # noqa: ARG002 - the contract's
        """KubeRay says so once the cluster's object is gone."""
        return job.get("status", {}).get(STATUS) == SUSPENDED

    def baseline(self, job: Object) -> Counted:
        """The next attempt's cluster has no name yet."""
        state = self.state(job)
        return Counted(attempt="", restarts=state.restarts, errors=state.errors)


def _alive(api: Api, namespace: str, labels: str) -> list[Object]:
    return [pod for pod in api.list(*POD, namespace, labels=labels) if not has_ended(pod)]


def _is_anothers(api: Api, kind: Kind, name: str, job: Object) -> bool:
    """Whether what has the name is there, and not the job's."""
    thing = api.find(*kind, name, job["metadata"]["namespace"])
    owners = [] if thing is None else thing["metadata"].get("ownerReferences", [])
    return thing is not None and all(each["uid"] != job["metadata"]["uid"] for each in owners)


def _workers(group: Mapping[str, Any]) -> int:
    """As many as KubeRay makes: GetWorkerGroupDesiredReplicas (1.6), within the bounds whatever `replicas` says."""
    if group.get("suspend"):
        return 0
    least, most = int(group.get("minReplicas") or 0), group.get("maxReplicas")
    wanted = int(group.get("replicas") or 0)
    if wanted < least:
        wanted = least
    elif most is not None:
        wanted = min(wanted, int(most))
    return wanted * int(group.get("numOfHosts", 1))
