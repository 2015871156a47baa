"""A move as a person makes it who has read how the operators work; the fallback controller is to do the same."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from spotproof.kube.client import Refused
from spotproof.vocabulary import POOL_LABEL
from tests.e2e.stage import Object, Stage

Operation = Mapping[str, Any]
SUSPENDED: Final[Operation] = {"op": "add", "path": "/spec/suspend", "value": True}
GONE: Final = (404, 409)
"""What a delete by uid gets where nothing of that name is there, or another object."""
RESUMED: Final[Operation] = {"op": "add", "path": "/spec/suspend", "value": False}


def pointer(*parts: object) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def as_read(job: Mapping[str, Any], operations: Iterable[Operation]) -> list[Operation]:
    """A JSON patch that holds only for the version of the job that was read."""
    version = job["metadata"]["resourceVersion"]
    return [{"op": "test", "path": "/metadata/resourceVersion", "value": version}, *operations]


def selectors(job: Mapping[str, Any], value: Mapping[str, str]) -> list[Operation]:
    """Operations that give every template that moves another node selector: all but heads and submitters."""
    if job["kind"] == "JobSet":
        paths = [
            pointer("spec", "replicatedJobs", index, "template", "spec", "template", "spec", "nodeSelector")
            for index in range(len(job["spec"]["replicatedJobs"]))
        ]
    else:
        paths = [
            pointer("spec", "rayClusterSpec", "workerGroupSpecs", index, "template", "spec", "nodeSelector")
            for index in range(len(job["spec"]["rayClusterSpec"]["workerGroupSpecs"]))
        ]
    return [{"op": "replace", "path": path, "value": dict(value)} for path in paths]


def patch(stage: Stage, kind: str, did: str, operations: Callable[[Object], Iterable[Operation]]) -> None:
    """Change the stage's job as it was read; where it has changed meanwhile, it is read again."""
    stage.recorder.mark(did, f"{kind}/{stage.job(kind)['metadata']['name']}")

    def once() -> bool:
        job = stage.job(kind)
        change = as_read(job, operations(job))
        try:
            stage.kube.patch(job["apiVersion"], kind, job["metadata"]["name"], change, stage.namespace)
        except Refused:
            if stage.job(kind)["metadata"]["resourceVersion"] == job["metadata"]["resourceVersion"]:
                raise
            return False
        return True

    assert stage.wait(once, f"the {kind} to stay as it was read for a moment")


def suspend(stage: Stage, kind: str, selector: Mapping[str, str]) -> None:
    """One patch: suspended, and the templates' new selector."""
    patch(stage, kind, "suspend and select", lambda job: [SUSPENDED, *selectors(job, selector)])


def resume(stage: Stage, kind: str) -> None:
    """One patch: no longer suspended."""
    patch(stage, kind, "resume", lambda _: [RESUMED])


def no_pod_left(stage: Stage) -> None:
    """Wait until the old gang is gone: two at once would write to one checkpoint."""
    stage.wait(lambda: not stage.pods(), "no pod to be left")


def replace_jobs(stage: Stage) -> None:
    """Delete the suspended child Jobs, by uid, and wait until JobSet has made them again from the new template.

    One that failed while it was suspended may be gone already: JobSet has then made it again by itself.
    """
    old = stage.jobs()
    stage.recorder.mark("delete the child Jobs")
    for name, job in old.items():
        try:
            stage.kube.delete("batch/v1", "Job", name, stage.namespace, uid=job["metadata"]["uid"])
        except Refused as refused:
            if refused.status not in GONE:
                raise

    def again() -> bool:
        new = stage.jobs()
        return new.keys() == old.keys() and all(
            job["metadata"]["uid"] != old[name]["metadata"]["uid"] for name, job in new.items()
        )

    stage.wait(again, "JobSet to make its Jobs again")


def move_jobset(stage: Stage, pool: str) -> None:
    """Suspend and select, wait, delete the child Jobs, resume."""
    suspend(stage, "JobSet", {POOL_LABEL: pool})
    no_pod_left(stage)
    replace_jobs(stage)
    resume(stage, "JobSet")


def move_rayjob(stage: Stage, pool: str) -> None:
    """Suspend and select, wait for Suspended and for the old cluster's pods, resume."""
    suspend(stage, "RayJob", {POOL_LABEL: pool})
    stage.wait(lambda: stage.status("RayJob").get("jobDeploymentStatus") == "Suspended", "the RayJob to be Suspended")
    no_pod_left(stage)
    resume(stage, "RayJob")
