"""A RayJob of these tests: started, read, and what its Ray cluster is made of."""

from typing import Final

from spotproof.rehearsal.dashboard import Status
from spotproof.rehearsal.history import is_leaving, node_of, works
from tests.e2e.jobs import HEAD_POOL, SPOT_POOL, WORKERS, rendered
from tests.e2e.stage import Object, Stage

RAY: Final = "ray.io/v1"
CLUSTER: Final = "ray.io/cluster"
TYPE: Final = "ray.io/node-type"


def start(stage: Stage) -> Object:
    """Submit the RayJob and wait until it runs, whole, on spot; its status."""
    stage.submit(rendered("ray", stage.namespace))
    return runs(stage, SPOT_POOL)


def runs(stage: Stage, pool: str, *, not_as: str = "") -> Object:
    """The status of the RayJob, as soon as its program runs with a head, a submitter and all workers on the pool.

    Args:
        stage: Where.
        pool: The workers' pool.
        not_as: An attempt (its jobId) that is over.
    """

    def seen() -> Object | None:
        status = stage.status("RayJob")
        is_running = (status.get("jobDeploymentStatus"), status.get("jobStatus")) == ("Running", "RUNNING")
        whole = is_running and status["jobId"] != not_as and _is_whole(stage, status["rayClusterName"], pool)
        return status if whole else None

    return stage.wait(seen, f"the RayJob to run with {WORKERS} workers on {pool}, and not as {not_as or 'before'}")


def _is_whole(stage: Stage, cluster: str, pool: str) -> bool:
    spot, beside = stage.nodes(pool), stage.nodes(HEAD_POOL)
    ready = [pod for pod in stage.pods(**{CLUSTER: cluster, TYPE: "worker"}) if works(pod) and node_of(pod) in spot]
    return len(ready) == WORKERS and all(
        works(pod) and node_of(pod) in beside for pod in (head(stage), submitter(stage))
    )


def head(stage: Stage) -> Object:
    """The head's pod that is to stay; empty while there is none."""
    return _staying(stage.pods(**{TYPE: "head"}))


def submitter(stage: Stage) -> Object:
    """The submitter's pod that is to stay; empty while there is none."""
    return _staying(stage.pods(**{"job-name": stage.job("RayJob")["metadata"]["name"]}))


def workers(stage: Stage) -> list[Object]:
    """Pods of workers, whatever their state."""
    return stage.pods(**{TYPE: "worker"})


def ends(stage: Stage, submission: str, status: Status) -> None:
    """The program ends so; its submitter, which has followed the log to its end (`ray job logs`), exits with 0.

    KubeRay asks the dashboard every 3 s. It is let see the one before the other: where it finds both at once, it passes
    over the status in which the program has ended and the RayJob runs.
    """
    stage.finish(submission, status)
    stage.wait(lambda: stage.status("RayJob").get("jobStatus") == status, f"KubeRay to see {status}")
    stage.turn([submitter(stage)], "exit-code", 0)


def _staying(pods: list[Object]) -> Object:
    return next((pod for pod in pods if not is_leaving(pod)), {})
