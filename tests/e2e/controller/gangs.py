"""The two kinds of job, as one thing to a test: submitted, seen whole, interrupted, ended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spotproof.rehearsal.history import node_of, works
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, POOL_LABEL
from tests.e2e.jobs import PODS, SPOT_POOL, WORKERS, rendered, with_controller
from tests.e2e.moves import selectors
from tests.e2e.ray import submitter
from tests.e2e.stage import Object, Stage

SECONDS: Final = 90.0
Words = Mapping[str, str]


@dataclass(frozen=True)
class Gang:
    """One kind of job on two nodes: four pods of a JobSet or four workers of a Ray cluster, or eight of either."""

    kind: str
    experiment: str
    name: str
    pods: int
    labels: str
    """By which the pods that move are found."""

    def __str__(self) -> str:
        """As pytest writes it."""
        return self.kind.lower()

    def job(
        self,
        stage: Stage,
        policy: str,
        *,
        pool: str = SPOT_POOL,
        knobs: Words | None = None,
        notes: Words | None = None,
    ) -> Object:
        """The job under a policy of the test's.

        Args:
            stage: Where.
            policy: Name of the FallbackPolicy.
            pool: Where it starts.
            knobs: Annotations of the pods that move, for kwok.
            notes: Annotations of the job.
        """
        job = rendered(self.experiment, stage.namespace, with_controller(), name=self.name)
        job["metadata"]["labels"][FALLBACK_POLICY_LABEL] = policy
        job["metadata"].setdefault("annotations", {}).update(notes or {})
        for template in _templates(job):
            template["spec"]["nodeSelector"] = {POOL_LABEL: pool}
            template["metadata"].setdefault("annotations", {}).update(knobs or {})
        return job

    def moving(self, stage: Stage) -> list[Object]:
        """Pods that move, whatever their state."""
        return stage.kube.list("v1", "Pod", stage.namespace, labels=self.labels)

    def runs(self, stage: Stage, pool: str, *, without: Iterable[Object] = ()) -> list[Object]:
        """The pods that move, as soon as all are ready on a pool, and no other is there.

        Args:
            stage: Where.
            pool: Of whose nodes.
            without: Pods that are to be gone by then.
        """
        old = {pod["metadata"]["uid"] for pod in without}

        def look() -> list[Object] | None:
            pods, nodes = self.moving(stage), stage.nodes(pool)
            whole = len(pods) == self.pods and all(works(pod) and node_of(pod) in nodes for pod in pods)
            return pods if whole and old.isdisjoint(pod["metadata"]["uid"] for pod in pods) else None

        return stage.wait(look, f"{self.pods} pods of the {self.kind} ready on {pool}, and no other", SECONDS)

    def set(self, stage: Stage, *operations: Mapping[str, Any]) -> None:
        """Change the job by a JSON patch, as somebody does it who has not read it."""
        stage.kube.patch(stage.kinds[self.kind], self.kind, self.name, operations, stage.namespace)

    def finish(self, stage: Stage) -> None:
        """Its program ends as it should."""
        if self.kind == "JobSet":
            stage.turn(self.moving(stage), "exit-code", 0)
            return
        stage.finish(stage.status("RayJob")["jobId"], "SUCCEEDED")
        stage.turn([submitter(stage)], "exit-code", 0)

    def is_finished(self, stage: Stage) -> bool:
        """Whether its operator says so."""
        status = stage.kube.get(stage.kinds[self.kind], self.kind, self.name, stage.namespace).get("status", {})
        return "Completed" in {status.get("terminalState"), status.get("jobStatus")} or (
            status.get("jobDeploymentStatus") == "Complete"
        )


def _templates(job: Object) -> list[Object]:
    """Templates that move."""
    found: list[Object] = []
    for operation in selectors(job, {}):
        thing: Any = job
        for part in operation["path"].strip("/").split("/")[:-2]:
            thing = thing[int(part)] if isinstance(thing, list) else thing[part]
        found.append(thing)
    return found


def jobset(experiment: str, name: str, pods: int) -> Gang:
    """A JobSet of an experiment file, by a name of its own."""
    return Gang("JobSet", experiment, name, pods, f"jobset.sigs.k8s.io/jobset-name={name}")


JOBSET: Final = jobset("four", "gang", 4)
EIGHT: Final = jobset("gang", "gang", PODS)
"""Where the controller dies while pods end with 0: of the smaller one a role may be on one node, and is then complete
before anybody has written down that it was evicted."""
APART: Final = jobset("apart", "apart", 2)
"""A role a node: where its pod is evicted and ends with 0, its Job is complete."""
RAYJOB: Final = Gang("RayJob", "ray", "ray", WORKERS, "ray.io/node-type=worker")
RAY_EIGHT: Final = Gang("RayJob", "ray-eight", "ray", 2 * WORKERS, "ray.io/node-type=worker")
GANGS: Final = (JOBSET, RAYJOB)
