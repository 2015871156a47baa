"""The stories that are recorded here, each as the sequence that its recording has: a fact a step, in this order.

Tests on a real control plane hold what they see against it (tests/e2e) and write the recordings with `--record`.
A step says what was seen at some moment after the step before it; how long that took is said by the recording alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from spotproof.rehearsal.recording import Recording
from spotproof.vocabulary import CAPACITY_LABEL, POOL_LABEL
from tests.recordings.world import (
    Holds,
    both,
    either,
    ended,
    event,
    evicted,
    has,
    leaving,
    left,
    made,
    resumed,
    running,
    selects,
    some,
    status,
    succeeded,
    suspended,
    told,
    waiting,
)

EVICTION: Final = "EvictionByEvictionAPI"
POD_GC: Final = "DeletionByPodGC"
SPOT: Final = "a100-spot-a"
OTHER_SPOT: Final = "h100-spot-a"
ON_DEMAND: Final = "a100"
TO_SPOT: Final = {POOL_LABEL: SPOT}
TO_ON_DEMAND: Final = {POOL_LABEL: ON_DEMAND}
OTHER_KEY: Final = {CAPACITY_LABEL: "on-demand"}

Step = tuple[str, Holds]

GANG_ON_SPOT: Final[Step] = ("8 pods ready on spot", running(8, SPOT))
GANG_ON_OTHER_SPOT: Final[Step] = ("8 pods ready on spot", running(8, OTHER_SPOT))
GANG_ON_DEMAND: Final[Step] = ("8 pods ready on on-demand", running(8, ON_DEMAND))
JOBS_AGAIN: Final[Step] = ("both Jobs made again", both(made("Job", 4), left("Job", 2)))
JOBS_READY: Final[Step] = ("JobSet RestartingJobSet False JobsReady", has("JobSet", "!RestartingJobSet/JobsReady"))
RAY_RUNS: Final[Step] = (
    "RayJob Running, RUNNING",
    status("RayJob", jobDeploymentStatus="Running", jobStatus="RUNNING"),
)


def restarting(rule: str, *, counted: int | None) -> Step:
    """The JobSet restarts once, by this rule of its failure policy."""
    return (
        f"JobSet RestartingJobSet {rule}, restarts 1, counted {counted or 0}",
        both(has("JobSet", f"RestartingJobSet/{rule}"), status("JobSet", restarts=1, restartsCountTowardsMax=counted)),
    )


def failing(reason: str) -> tuple[Step, Step]:
    """A Job is to fail, and has failed once all of its pods have ended."""
    return (
        (f"a Job FailureTarget {reason}", has("Job", f"FailureTarget/{reason}")),
        (f"a Job Failed {reason}", has("Job", f"Failed/{reason}")),
    )


@dataclass(frozen=True)
class Story:
    """A story: one sentence, and its steps, each a fact in words with the look that sees it."""

    about: str
    steps: tuple[Step, ...]


STORIES: Final[Mapping[str, Story]] = MappingProxyType(
    {
        "jobset-reclaim": Story(
            "A JobSet of 2 x 4 pods on two spot nodes loses one of them with notice",
            (
                GANG_ON_SPOT,
                ("a NodeClaim deleted", leaving("NodeClaim")),
                (f"4 pods DisruptionTarget {EVICTION} and told to go", evicted(4, EVICTION)),
                ("4 of them Failed, exit 143", ended(4, 143, EVICTION)),
                *failing("PodFailurePolicy"),
                restarting("FailurePolicy_evicted", counted=None),
                JOBS_AGAIN,
                # for the pods that the lost node has Karpenter may have made another before JobSet has made new ones
                ("4 pods Unschedulable, or room for them already", either(waiting(4), made("NodeClaim", 3))),
                ("a third NodeClaim", made("NodeClaim", 3)),
                GANG_ON_SPOT,
                JOBS_READY,
            ),
        ),
        "jobset-killed": Story(
            "A pod of a JobSet ends with 137 and no DisruptionTarget, and no controller is there to tell why",
            (
                GANG_ON_SPOT,
                ("a pod Failed, exit 137, no DisruptionTarget", ended(1, 137)),
                *failing("PodFailurePolicy"),
                restarting("FailurePolicy_killed", counted=1),
                JOBS_AGAIN,
                GANG_ON_SPOT,
                JOBS_READY,
            ),
        ),
        "jobset-error": Story(
            "A pod of a JobSet ends with an error, and after the restart all end well",
            (
                GANG_ON_SPOT,
                ("a pod Failed, exit 1", ended(1, 1)),
                *failing("BackoffLimitExceeded"),
                restarting("DefaultFailurePolicy", counted=1),
                JOBS_AGAIN,
                GANG_ON_SPOT,
                ("8 pods Succeeded", succeeded(8)),
                ("both Jobs Complete", has("Job", "Complete", 2)),
                (
                    "JobSet Completed",
                    both(has("JobSet", "Completed/AllJobsCompleted"), status("JobSet", terminalState="Completed")),
                ),
            ),
        ),
        "jobset-exit-zero": Story(
            "An evicted pod of a JobSet ends with 0: nothing restarts, until another pod ends with an error",
            (
                GANG_ON_SPOT,
                (f"a pod DisruptionTarget {EVICTION} and told to go", evicted(1, EVICTION)),
                ("it Succeeded", succeeded(1)),
                (
                    "its Job succeeded 1, JobSet restarts 0",
                    both(some("Job", succeeded=1), status("JobSet", restarts=None)),
                ),
                ("another pod Failed, exit 1", ended(1, 1)),
                restarting("DefaultFailurePolicy", counted=1),
                GANG_ON_SPOT,
            ),
        ),
        "jobset-node-vanished": Story(
            "A node of a JobSet is gone without a word",
            (
                GANG_ON_OTHER_SPOT,
                ("one of three nodes gone", left("Node", 2)),
                (f"its pods Failed, no exit code, DisruptionTarget {POD_GC}", ended(1, None, POD_GC)),
                *failing("PodFailurePolicy"),
                restarting("FailurePolicy_evicted", counted=None),
                JOBS_AGAIN,
                GANG_ON_OTHER_SPOT,
                JOBS_READY,
            ),
        ),
        "jobset-dry-market": Story(
            "A JobSet loses all of its spot nodes while none can be had, until the market opens",
            (
                GANG_ON_SPOT,
                ("both NodeClaims deleted", leaving("NodeClaim", 2)),
                (f"8 pods DisruptionTarget {EVICTION} and told to go", evicted(8, EVICTION)),
                (
                    "JobSet RestartingJobSet FailurePolicy_evicted",
                    has("JobSet", "RestartingJobSet/FailurePolicy_evicted"),
                ),
                ("8 pods Unschedulable", waiting(8)),
                ("a NodeClaim refused, InsufficientCapacityError", event("InsufficientCapacityError", "NodeClaim")),
                ("a refused NodeClaim deleted", both(leaving("NodeClaim", 3), waiting(8))),
                GANG_ON_SPOT,
                JOBS_READY,
            ),
        ),
        "jobset-move": Story(
            "A JobSet that waits for spot is moved to on-demand by hand",
            (
                GANG_ON_SPOT,
                ("a NodeClaim deleted", leaving("NodeClaim")),
                restarting("FailurePolicy_evicted", counted=None),
                ("pods Unschedulable", waiting(1)),
                (
                    "JobSet suspended, its templates on on-demand",
                    both(suspended("JobSet"), selects("JobSet", TO_ON_DEMAND)),
                ),
                (
                    "JobSet Suspended, Jobs Suspended and on spot still",
                    both(has("JobSet", "Suspended"), has("Job", "Suspended", 2), selects("Job", TO_SPOT)),
                ),
                ("no pod left", left("Pod", 0)),
                (
                    "both Jobs made again, suspended, on on-demand",
                    both(made("Job", 6), left("Job", 2), suspended("Job"), selects("Job", TO_ON_DEMAND)),
                ),
                ("JobSet resumed", both(resumed("JobSet"), resumed("Job"))),
                (
                    "8 pods ready on on-demand, restarts 1, counted 0",
                    both(running(8, ON_DEMAND), status("JobSet", restarts=1, restartsCountTowardsMax=None)),
                ),
            ),
        ),
        "jobset-stale-selector": Story(
            "A JobSet is moved by another key with its Jobs kept, then properly",
            (
                GANG_ON_SPOT,
                (
                    "JobSet suspended, its templates on another key",
                    both(suspended("JobSet"), selects("JobSet", OTHER_KEY)),
                ),
                ("no pod left", left("Pod", 0)),
                (
                    "JobSet resumed, its Jobs the same and on both keys",
                    both(resumed("JobSet"), made("Job", 2), selects("Job", {**TO_SPOT, **OTHER_KEY})),
                ),
                ("8 pods Unschedulable", waiting(8)),
                (
                    "JobSet suspended, its templates on on-demand",
                    both(suspended("JobSet"), selects("JobSet", TO_ON_DEMAND)),
                ),
                ("no pod left", left("Pod", 0)),
                (
                    "both Jobs made again, on on-demand",
                    both(made("Job", 4), left("Job", 2), selects("Job", TO_ON_DEMAND)),
                ),
                GANG_ON_DEMAND,
            ),
        ),
        "jobset-killed-while-suspended": Story(
            "A JobSet is suspended and resumed with its Jobs kept, one of which saw a pod that ended with 143",
            (
                GANG_ON_SPOT,
                (
                    "JobSet suspended, its templates on on-demand",
                    both(suspended("JobSet"), selects("JobSet", TO_ON_DEMAND)),
                ),
                ("a pod Failed, exit 143, no DisruptionTarget", ended(1, 143)),
                failing("PodFailurePolicy")[0],
                ("JobSet restarts 1, counted 1", status("JobSet", restarts=1, restartsCountTowardsMax=1)),
                (
                    "both Jobs made again, on on-demand",
                    both(made("Job", 4), left("Job", 2), selects("Job", TO_ON_DEMAND)),
                ),
                GANG_ON_DEMAND,
            ),
        ),
        "rayjob-reclaim": Story(
            "A RayJob with 4 workers on two spot nodes loses one of them with notice",
            (
                RAY_RUNS,
                ("a NodeClaim deleted", leaving("NodeClaim")),
                (f"2 workers DisruptionTarget {EVICTION} and told to go", evicted(2, EVICTION)),
                ("2 of them Failed, exit 143", ended(2, 143, EVICTION)),
                ("RayCluster ready with 2 workers", status("RayCluster", state="ready", readyWorkerReplicas=2)),
                ("2 pods Unschedulable", waiting(2)),
                ("4 workers ready on spot", running(4, SPOT)),
                ("RayCluster ready with 4 workers", status("RayCluster", state="ready", readyWorkerReplicas=4)),
                ("RayJob Running, failed 0", status("RayJob", jobDeploymentStatus="Running", failed=None)),
            ),
        ),
        "rayjob-head": Story(
            "A RayJob loses the node of its head and submitter with notice",
            (
                RAY_RUNS,
                ("a NodeClaim deleted", leaving("NodeClaim")),
                (f"head and submitter DisruptionTarget {EVICTION} and told to go", evicted(2, EVICTION)),
                (
                    "RayCluster HeadPodReady False, state ready",
                    both(has("RayCluster", "!HeadPodReady"), status("RayCluster", state="ready")),
                ),
                ("the submitter's Job failed 1", status("Job", failed=1)),
                ("RayCluster HeadPodReady", has("RayCluster", "HeadPodReady")),
                ("the submitter's Job active 1, ready 1", status("Job", active=1, ready=1)),
                ("RayJob Running, failed 0", status("RayJob", jobDeploymentStatus="Running", failed=None)),
            ),
        ),
        "rayjob-retry": Story(
            "The program of a RayJob fails, and ends well in the second attempt",
            (
                RAY_RUNS,
                ("RayJob Running, FAILED", status("RayJob", jobDeploymentStatus="Running", jobStatus="FAILED")),
                ("the submitter's Job Complete", has("Job", "Complete")),
                ("RayJob Retrying, failed 1", status("RayJob", jobDeploymentStatus="Retrying", failed=1)),
                ("another RayCluster", made("RayCluster", 2)),
                RAY_RUNS,
                ("RayJob Running, SUCCEEDED", status("RayJob", jobDeploymentStatus="Running", jobStatus="SUCCEEDED")),
                (
                    "RayJob Complete, succeeded 1, failed 1",
                    status("RayJob", jobDeploymentStatus="Complete", succeeded=1, failed=1),
                ),
                ("no RayCluster", left("RayCluster", 0)),
            ),
        ),
        "rayjob-move": Story(
            "A RayJob whose workers wait for spot is moved to on-demand by hand",
            (
                RAY_RUNS,
                ("a NodeClaim deleted", leaving("NodeClaim")),
                ("workers Unschedulable", waiting(1)),
                (
                    "RayJob suspended, its workers' template on on-demand",
                    both(suspended("RayJob"), selects("RayJob", TO_ON_DEMAND)),
                ),
                (
                    "RayJob Suspended, without a RayCluster",
                    both(status("RayJob", jobDeploymentStatus="Suspended", rayClusterName=None), left("RayCluster", 0)),
                ),
                ("no pod left", left("Pod", 0)),
                ("RayJob resumed", resumed("RayJob")),
                ("another RayCluster", both(made("RayCluster", 2), left("RayCluster", 1))),
                ("4 workers ready on on-demand", running(4, ON_DEMAND)),
                RAY_RUNS,
            ),
        ),
        "rayjob-dead-end": Story(
            "A RayJob that keeps its cluster is suspended all the same",
            (
                RAY_RUNS,
                ("RayJob suspended", suspended("RayJob")),
                (
                    "RayJob ValidationFailed, its cluster runs on",
                    both(
                        status("RayJob", jobDeploymentStatus="ValidationFailed"),
                        running(4, SPOT),
                        left("RayCluster", 1),
                    ),
                ),
                (
                    "RayJob resumed, ValidationFailed",
                    both(resumed("RayJob"), status("RayJob", jobDeploymentStatus="ValidationFailed")),
                ),
            ),
        ),
    }
)


def missing(name: str, recording: Recording) -> list[str]:
    """Steps of a story that a recording does not come to; the first of them is where it parts."""
    steps = list(STORIES[name].steps)
    return [words for words, _ in steps[len(list(told(recording, steps))) :]]


def row(name: str) -> str:
    """What tests/recordings/README.md says of a story."""
    story = STORIES[name]
    return f"| `{name}.json` | {story.about} | {' → '.join(words for words, _ in story.steps)} |"
