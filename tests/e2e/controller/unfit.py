"""Jobs that could not be moved, each unfit in one way: what is wrong with it, and how it is mended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spotproof.vocabulary import (
    CHECKPOINT_URI_ENV,
    FALLBACK_POLICY_LABEL,
    KARPENTER_CAPACITY_LABEL,
    POOL_LABEL,
    QUEUE_LABEL,
    SPOT,
    SPOT_TAINTS,
)
from tests.e2e.controller.policies import NEXT_SPOT_POOL
from tests.e2e.controller.several import moving_specs
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.stage import Object

HEALTHY: Final = "healthy"
"""The job beside them, which nothing is wrong with."""
POLICY: Final = object()
"""In place of the name of the policy, which every test has its own."""


@dataclass(frozen=True)
class Unfit:
    """One way in which a job cannot be moved.

    Attributes:
        word: Name of the job.
        place: What the sentence must name: the field.
        remedy: What else it must name.
        spoil: Makes a job that is fit so.
        later: Labels that it is given only once it is there, since our admission policies would refuse it with them.
        mended: Labels by which it is mended in place; any other is deleted and applied again.
        pool: Where it is.
        runs: Whether its operator makes pods of it.
    """

    word: str
    place: str
    remedy: str
    spoil: Callable[[Object], object] = lambda _: None
    later: Mapping[str, object] = field(default_factory=dict[str, object])
    mended: Mapping[str, object] = field(default_factory=dict[str, object])
    pool: str = SPOT_POOL
    runs: bool = True


LATE: Final = {FALLBACK_POLICY_LABEL: POLICY}


def _jobs(job: Object) -> list[Any]:
    return [each["template"]["spec"] for each in job["spec"]["replicatedJobs"]]


def _in_place(job: Object) -> None:
    """The API server takes podFailurePolicy with restartPolicy Never alone."""
    for each in _jobs(job):
        del each["podFailurePolicy"]
        each["template"]["spec"]["restartPolicy"] = "OnFailure"


def _beside(job: Object) -> None:
    """The API server takes podFailurePolicy with podReplacementPolicy Failed alone."""
    for each in _jobs(job):
        del each["podFailurePolicy"]
        each["podReplacementPolicy"] = "TerminatingOrFailed"


def _no_eviction_rule(job: Object) -> None:
    for each in _jobs(job):
        del each["podFailurePolicy"]


def _selects(job: Object, pool: str) -> None:
    for spec in moving_specs(job):
        spec["nodeSelector"] = {POOL_LABEL: pool}


TAINTED: Final = frozenset(taint["key"] for taint in SPOT_TAINTS)


def _intolerant(job: Object) -> None:
    for spec in moving_specs(job):
        spec["tolerations"] = [each for each in spec["tolerations"] if each["key"] not in TAINTED]


def _saves_as_the_other(job: Object) -> None:
    for spec in moving_specs(job):
        for each in spec["containers"][0]["env"]:
            if each["name"] == CHECKPOINT_URI_ENV:
                each["value"] = each["value"].rpartition("/")[0] + f"/{HEALTHY}"


def _head_on_spot(job: Object) -> None:
    """By affinity, which our admission policies do not read."""
    spec = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    del spec["nodeSelector"]
    wanted = {"key": KARPENTER_CAPACITY_LABEL, "operator": "In", "values": [SPOT]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _keeps_its_cluster(job: Object) -> None:
    job["spec"]["shutdownAfterJobFinishes"] = False


def _deletion_rules(job: Object) -> None:
    """KubeRay takes them without shutdownAfterJobFinishes alone."""
    job["spec"]["shutdownAfterJobFinishes"] = False
    rule = {"policy": "DeleteCluster", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 600}}
    job["spec"]["deletionStrategy"] = {"deletionRules": [rule]}


def _cluster_selector(job: Object) -> None:
    """KubeRay takes it without retries alone."""
    job["spec"]["clusterSelector"] = {"ray.io/cluster": "somebodys"}
    job["spec"]["backoffLimit"] = 0


def _two_retries(job: Object) -> None:
    job["spec"]["backoffLimit"] = 2


def _no_restart_rule(job: Object) -> None:
    del job["spec"]["failurePolicy"]["rules"]


def _retries_a_pod(job: Object) -> None:
    for each in _jobs(job):
        each["backoffLimit"] = 3


def _unknown_policy(job: Object) -> None:
    job["metadata"]["labels"][FALLBACK_POLICY_LABEL] = "nobody-knows-it"


def _is_elsewhere(job: Object) -> None:
    _selects(job, NEXT_SPOT_POOL)


JOB: Final = "spec.replicatedJobs[0].template.spec"
WORKERS: Final = "spec.rayClusterSpec.workerGroupSpecs[0].template.spec"
HEAD: Final = "spec.rayClusterSpec.headGroupSpec.template.spec"
AFFINITY: Final = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
SELECTOR: Final = f"nodeSelector {POOL_LABEL}: {SPOT_POOL}"
TOLERATION: Final = f"Add `{{key: {SPOT_TAINTS[0]['key']}, operator: Equal, value: spot, effect: NoSchedule}}`"
POLICY_FIELD: Final = f"metadata.labels['{FALLBACK_POLICY_LABEL}']"
QUEUE_FIELD: Final = f"metadata.labels['{QUEUE_LABEL}']"

_ANY: Final = (
    Unfit(
        "unknown-policy", POLICY_FIELD, "or remove the label", _unknown_policy, mended={FALLBACK_POLICY_LABEL: POLICY}
    ),
    Unfit(
        "queue",
        QUEUE_FIELD,
        f"Remove the label {QUEUE_LABEL}",
        later={QUEUE_LABEL: "gpus"},
        mended={QUEUE_LABEL: None},
    ),
)
UNFIT: Final[Mapping[str, tuple[Unfit, ...]]] = {
    "JobSet": (
        *_ANY,
        Unfit("no-eviction-rule", f"{JOB}.podFailurePolicy", "action: FailJob", _no_eviction_rule, LATE),
        Unfit(
            "no-restart-rule", "spec.failurePolicy.rules", "RestartJobSetAndIgnoreMaxRestarts", _no_restart_rule, LATE
        ),
        Unfit("restarts-in-place", f"{JOB}.template.spec.restartPolicy", "restartPolicy: Never", _in_place, LATE),
        Unfit("starts-beside", f"{JOB}.podReplacementPolicy", "podReplacementPolicy: Failed", _beside, LATE),
        Unfit("retries-a-pod", f"{JOB}.backoffLimit", "Write `backoffLimit: 0`", _retries_a_pod, LATE),
        Unfit("one-checkpoint", f"{JOB}.template.spec.containers[0].env", "Write another place", _saves_as_the_other),
        Unfit("no-tier", "spec.replicatedJobs", SELECTOR, _is_elsewhere, pool=NEXT_SPOT_POOL),
        Unfit("intolerant", f"{JOB}.template.spec.tolerations", TOLERATION, _intolerant, LATE, pool=ON_DEMAND_POOL),
    ),
    "RayJob": (
        *_ANY,
        Unfit(
            "cluster-selector",
            "spec.clusterSelector",
            "Write rayClusterSpec in its place",
            _cluster_selector,
            LATE,
            pool=ON_DEMAND_POOL,
            runs=False,
        ),
        Unfit("keeps-it", "spec.shutdownAfterJobFinishes", "shutdownAfterJobFinishes: true", _keeps_its_cluster, LATE),
        Unfit("deletion-rules", "spec.deletionStrategy.deletionRules", "Remove it", _deletion_rules, LATE),
        Unfit("head-on-spot", f"{HEAD}.{AFFINITY}", "Select an on-demand pool there", _head_on_spot),
        Unfit("few-retries", "spec.backoffLimit", "Write `backoffLimit: ", _two_retries),
        Unfit("one-checkpoint", f"{WORKERS}.containers[0].env", "Write another place", _saves_as_the_other),
        Unfit("no-tier", "spec.rayClusterSpec.workerGroupSpecs", SELECTOR, _is_elsewhere, pool=NEXT_SPOT_POOL),
        Unfit("intolerant", f"{WORKERS}.tolerations", TOLERATION, _intolerant, LATE, pool=ON_DEMAND_POOL),
    ),
}
"""By kind of job."""
