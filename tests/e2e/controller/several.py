"""Gangs of which a workspace has several, and their jobs as somebody writes them by hand."""

from collections.abc import Iterator
from dataclasses import dataclass

from spotproof.rehearsal.history import is_leaving, works
from spotproof.vocabulary import RUN_LABEL
from tests.e2e.controller.gangs import Gang, jobset
from tests.e2e.stage import Object, Stage


@dataclass(frozen=True)
class OneOfRay(Gang):
    """A RayJob beside others."""

    def finish(self, stage: Stage) -> None:
        """Its program ends as it should."""
        stage.recorder.mark("finish SUCCEEDED", f"RayJob/{self.name}")
        job = stage.wait(lambda: self._running(stage), f"the program of {self.name} to be under way")
        stage.plane.dashboard.finish(job["status"]["jobId"], "SUCCEEDED")
        # the program may be under way before its submitter's pod is there, and a pod that is not there cannot be turned
        stage.turn(stage.wait(lambda: self._submitters(stage), f"the submitter of {self.name}"), "exit-code", 0)

    def _submitters(self, stage: Stage) -> list[Object]:
        return [pod for pod in stage.pods(**{"job-name": self.name}) if not is_leaving(pod)]

    def _running(self, stage: Stage) -> Object | None:
        job = stage.kube.get(stage.kinds[self.kind], self.kind, self.name, stage.namespace)
        return job if job.get("status", {}).get("jobStatus") == "RUNNING" else None


def one_of(kind: str, experiment: str, name: str, pods: int) -> Gang:
    """A gang of a kind, by a name of its own; so many of its pods move."""
    if kind == "JobSet":
        return jobset(experiment, name, pods)
    return OneOfRay(kind, experiment, name, pods, f"ray.io/node-type=worker,{RUN_LABEL}={name}")


def moving_specs(job: Object) -> Iterator[Object]:
    """Pod specs of the templates that move, to be changed in place."""
    spec = job["spec"]
    if job["kind"] == "JobSet":
        yield from (each["template"]["spec"]["template"]["spec"] for each in spec["replicatedJobs"])
    else:
        yield from (each["template"]["spec"] for each in spec["rayClusterSpec"]["workerGroupSpecs"])


def is_whole(stage: Stage, gang: Gang) -> bool:
    """Whether all its pods that move run, and no other is there."""
    pods = gang.moving(stage)
    return len(pods) == gang.pods and all(map(works, pods))
