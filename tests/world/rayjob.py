"""KubeRay's RayJobs (1.6): attempts on clusters of their own, retries, suspension, and the way into the dead end."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final, Literal

from spotproof.controller.kinds import JOB, RAY_CLUSTER, RAYJOB, Object
from tests.world.manager import Manager
from tests.world.server import Server
from tests.world.store import Change, Place, place
from tests.world.things import is_true, labels, leaves, meta, name, namespace, owned_by, owner, status, without

LOOK_SECONDS: Final = 0.05
FINALIZER: Final = "ray.io/rayjob-finalizer"
SUBMITTER: Final = "ray-job-submitter"
KEPT: Final = "a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended"
OVER: Final = frozenset({"Complete", "Failed", "ValidationFailed"})

Program = Literal["RUNNING", "FAILED", "SUCCEEDED"]


class RayJobs(Manager):
    """One RayJob at a time, each status word by a method of its own."""

    def __init__(self, server: Server, chance: Random, programs: Mapping[str, Program]) -> None:
        super().__init__(server, chance)
        self._programs = programs

    def rayjob(self, change: Change, rayjob: Object, old: Object | None) -> None:
        """A RayJob has changed."""
        if change != "DELETED" and rayjob is not old:
            self.later(place(rayjob), LOOK_SECONDS)

    def owned(self, change: Change, thing: Object, old: Object | None) -> None:
        """A cluster or a submitter's Job has changed."""
        del change, old
        if of := owner(thing, "RayJob"):
            self.later((namespace(thing), of["name"]), LOOK_SECONDS)

    def sync(self, where: Place) -> None:
        """Look at one RayJob."""
        rayjob = self.store.get(RAYJOB, where)
        if rayjob is None:
            return
        finalizers = rayjob["metadata"].get("finalizers", [])
        if leaves(rayjob):
            self.store.write(rayjob, meta(rayjob, finalizers=without(finalizers, FINALIZER)))
            return
        if FINALIZER not in finalizers:
            rayjob = self.store.write(rayjob, meta(rayjob, finalizers=[*finalizers, FINALIZER]))
        self._advance(rayjob)

    def _advance(self, rayjob: Object) -> None:
        word = str(rayjob.get("status", {}).get("jobDeploymentStatus", ""))
        if word in OVER:
            return
        if rayjob["spec"].get("suspend") and not rayjob["spec"].get("shutdownAfterJobFinishes"):
            self._become(
                rayjob, "ValidationFailed", reason="ValidationFailed", message=f"The RayJob spec is invalid: {KEPT}"
            )
            return
        match word:
            case "":
                self._begin(rayjob)
            case "Initializing":
                self._initializing(rayjob)
            case "Running":
                self._running(rayjob)
            case "Suspended":
                if not rayjob["spec"].get("suspend"):
                    self._become(rayjob, None)
            case _:
                self._clear(rayjob, word)

    def _begin(self, rayjob: Object) -> None:
        at = self.clock.text
        job, cluster = (self.store.unused_name(f"{name(rayjob)}-") for _ in range(2))
        counters = {each: rayjob.get("status", {}).get(each, 0) for each in ("failed", "succeeded")}
        self._become(rayjob, "Initializing", jobId=job, rayClusterName=cluster, startTime=at, **counters)

    def _initializing(self, rayjob: Object) -> None:
        if rayjob["spec"].get("suspend"):
            self._become(rayjob, "Suspending")
            return
        cluster = self._cluster(rayjob)
        if cluster is None:
            self.server.create(_cluster(rayjob))
        elif cluster.get("status", {}).get("state") == "ready":
            if self.store.get(JOB, place(rayjob)) is None:
                self.server.create(_submitter(rayjob))
            self._become(rayjob, "Running")

    def _running(self, rayjob: Object) -> None:
        if rayjob["spec"].get("suspend"):
            self._become(rayjob, "Suspending")
            return
        program = self._programs.get(rayjob["status"]["jobId"], "RUNNING")
        if rayjob["status"].get("jobStatus") != program:
            self._become(rayjob, "Running", jobStatus=program)
            return
        submitter = self.store.get(JOB, place(rayjob))
        followed = submitter is not None and (is_true(submitter, "Complete") or is_true(submitter, "Failed"))
        if program == "RUNNING" or not followed:
            return
        if program == "SUCCEEDED":
            self._become(rayjob, "Complete", succeeded=rayjob["status"]["succeeded"] + 1, endTime=self.clock.text)
            self._delete_cluster(rayjob)
            return
        failed = rayjob["status"]["failed"] + 1
        if failed <= rayjob["spec"].get("backoffLimit", 0):
            self._become(rayjob, "Retrying", failed=failed, reason="AppFailed")
        else:
            self._become(rayjob, "Failed", failed=failed, reason="AppFailed", endTime=self.clock.text)
            self._delete_cluster(rayjob)

    def _clear(self, rayjob: Object, word: str) -> None:
        """Retrying or Suspending: the cluster and the submitter go; their pods are not waited for."""
        cluster, submitter = self._cluster(rayjob), self.store.get(JOB, place(rayjob))
        if cluster is not None:
            self._delete_cluster(rayjob)
        if submitter is not None:
            self.server.delete("batch/v1", "Job", name(rayjob), namespace(rayjob))
        if cluster is None and submitter is None:
            gone = dict.fromkeys(("jobId", "rayClusterName", "jobStatus", "reason", "message"))
            self._become(rayjob, "Suspended" if word == "Suspending" else None, **gone)

    def _cluster(self, rayjob: Object) -> Object | None:
        return self.store.get(RAY_CLUSTER, (namespace(rayjob), rayjob["status"].get("rayClusterName", "")))

    def _delete_cluster(self, rayjob: Object) -> None:
        if self._cluster(rayjob) is not None:
            self.server.delete("ray.io/v1", "RayCluster", rayjob["status"]["rayClusterName"], namespace(rayjob))

    def _become(self, rayjob: Object, word: str | None, **changes: Any) -> None:
        self.store.write(rayjob, status(rayjob, jobDeploymentStatus=word, **changes))
        self.later(place(rayjob), LOOK_SECONDS)


def _cluster(rayjob: Object) -> Object:
    own = {"ray.io/originated-from-cr-name": name(rayjob), "ray.io/originated-from-crd": "RayJob"}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {
            "name": rayjob["status"]["rayClusterName"],
            "namespace": namespace(rayjob),
            "labels": {**labels(rayjob), **own},
            "ownerReferences": owned_by(rayjob),
        },
        "spec": rayjob["spec"]["rayClusterSpec"],
    }


def _submitter(rayjob: Object) -> Object:
    head = rayjob["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    fallback = {"spec": {"nodeSelector": head.get("nodeSelector", {}), "containers": [{"name": SUBMITTER}]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name(rayjob),
            "namespace": namespace(rayjob),
            "labels": {"ray.io/originated-from-cr-name": name(rayjob)},
            "ownerReferences": owned_by(rayjob),
        },
        "spec": {
            "backoffLimit": rayjob["spec"].get("submitterConfig", {}).get("backoffLimit", 2),
            "completions": 1,
            "parallelism": 1,
            "completionMode": "NonIndexed",
            "podReplacementPolicy": "TerminatingOrFailed",
            "suspend": False,
            "template": rayjob["spec"].get("submitterPodTemplate", fallback),
        },
    }
