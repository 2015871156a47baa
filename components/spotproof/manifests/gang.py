"""Pods of a training job, the same for both operators: where they land, how they leave, what they are told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spotproof.manifests.checkpoints import MOUNT_PATH, CheckpointStore
from spotproof.manifests.metadata import PART_OF, metadata
from spotproof.settings.environment import Environment, Workspace
from spotproof.settings.experiment.checks import Case
from spotproof.settings.experiment.landing import Landing, policy_of
from spotproof.settings.experiment.model import Experiment
from spotproof.settings.experiment.parts import Part
from spotproof.settings.pools import NodeTaint
from spotproof.vocabulary import (
    BACKOFF_LIMIT_ANNOTATION,
    CAPACITY_LABEL,
    CHECKPOINT_SECONDS_ENV,
    CHECKPOINT_URI_ENV,
    FALLBACK_POLICY_LABEL,
    GANG_LABEL,
    GPU_RESOURCE,
    LOST_NODE_TAINTS,
    NOTICE_SECONDS_ENV,
    RUN_ENV,
    RUN_LABEL,
    TOLERATIONS,
    WORKSPACE_LABEL,
    ZONE_LABEL,
    Manifest,
)

LOST_NODE_SECONDS: Final = 30
"""How long a pod stays on a node that is silent. The node controller has then waited 40 to 50 s already; 30 more ride
out a kubelet's restart, and the default of 300 would keep the whole gang waiting for a node that is gone."""
NO_LIMIT: Final = 1_000_000
"""Restarts of an operator that is not to count, because the controller does. Not the largest number of 32 bits: KubeRay
adds one to it (rayjob_controller.go), and the sum would be negative, so that no failure were retried."""
CONTAINER: Final = "train"


@dataclass(frozen=True)
class Job:
    """An experiment with where it runs: everything its objects are made of."""

    case: Case
    workspace: Workspace
    store: CheckpointStore

    @property
    def name(self) -> str:
        """Name of the object and of the run."""
        return self.case.run

    @property
    def env(self) -> Environment:
        """The environment."""
        return self.case.env

    @property
    def experiment(self) -> Experiment:
        """The experiment."""
        return self.case.experiment

    @property
    def has_policy(self) -> bool:
        """Whether the job moves between tiers."""
        return policy_of(self.experiment, self.env) is not None

    @property
    def has_controller(self) -> bool:
        """Whether somebody in this environment carries the policy out: counts evictions, ends the job after errors."""
        return self.has_policy and self.env.operators.fallback.is_there

    @property
    def backoff_limit(self) -> int:
        """Restarts that the file allows."""
        return self.experiment.spec.restart_policy.backoff_limit

    @property
    def operators_limit(self) -> int:
        """Restarts after which the operator itself ends the job.

        With a controller none: an operator cannot tell an eviction from the error that it causes in another pod of
        the gang, and a job that it has failed cannot be revived.
        """
        return NO_LIMIT if self.has_controller else self.backoff_limit

    @property
    def checkpoint_uri(self) -> str:
        """Where this run saves, and finds what it has saved."""
        return f"{self.store.prefix(self.workspace.namespace)}/{self.name}"

    def metadata(self) -> dict[str, object]:
        """Metadata of the job's object."""
        policy = self.experiment.spec.fallback_policy
        return metadata(
            self.name,
            namespace=self.workspace.namespace,
            labels={
                RUN_LABEL: self.name,
                WORKSPACE_LABEL: self.workspace.namespace,
                **({FALLBACK_POLICY_LABEL: policy} if policy else {}),
            },
            annotations={BACKOFF_LIMIT_ANNOTATION: str(self.backoff_limit)} if policy else None,
        )


def pod_metadata(job: Job, landing: Landing) -> Manifest:
    """Labels by which a pod is found, lands with the others, and gets at the checkpoints."""
    return {"labels": {**PART_OF, RUN_LABEL: job.name, GANG_LABEL: landing.gang, **job.store.pod_labels}}


def pod_spec(job: Job, landing: Landing, container: Manifest, *, attempt_label: str) -> Manifest:
    """The spec of one part's pods, around its container.

    Args:
        job: The job.
        landing: Where the part lands.
        container: What is its own of the container: name, image, command, environment.
        attempt_label: The label that tells one attempt's pods from another's.
    """
    affinity = zone_affinity(job, landing, attempt_label)
    mounts, volumes = _volumes(job, landing.part)
    return {
        # A pod that failed stays failed, so that the operator sees it and restarts the gang as a whole.
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": job.env.provider.grace_seconds,
        "serviceAccountName": job.workspace.service_account,
        # The token of the Kubernetes API: progress is an annotation of the TrainingRun, which the controller makes.
        "automountServiceAccountToken": job.has_controller,
        "nodeSelector": node_selector(job, landing),
        "tolerations": tolerations(landing),
        **({"affinity": affinity} if affinity else {}),
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                **container,
                **({"envFrom": [{"secretRef": {"name": job.store.secret}}]} if job.store.secret else {}),
                "resources": resources(landing.part),
                "securityContext": {"allowPrivilegeEscalation": False},
                **({"volumeMounts": mounts} if mounts else {}),
            }
        ],
        **({"volumes": volumes} if volumes else {}),
    }


def node_selector(job: Job, landing: Landing) -> dict[str, str]:
    """The pool, by the one key that every tier has; on-demand or spot beside it where the file named no pool.

    Nodes that somebody else made carry what selects their pool, and the capacity only where its owner thought of it.
    """
    pool = landing.pool
    capacity = {CAPACITY_LABEL: pool.capacity} if landing.by_capacity and job.env.provider.makes_nodes else {}
    return {**pool.selector, **capacity, **landing.part.other_selectors}


def tolerations(landing: Landing) -> list[Manifest]:
    """The constant set, a short stay on lost nodes, taints of the pools' own, and what the file adds."""
    lost: list[Manifest] = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": LOST_NODE_SECONDS}
        for key in LOST_NODE_TAINTS
    ]
    own = [_tolerated(taint) for pool in landing.pools for taint in pool.taints or ()]
    extra = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for _, each in landing.part.tolerations()]
    constant: list[Manifest] = [dict(each) for each in TOLERATIONS]
    found: list[Manifest] = []
    for each in (*constant, *lost, *own, *extra):
        if each not in found:
            found.append(each)
    return found


def _tolerated(taint: NodeTaint) -> Manifest:
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}


def zone_affinity(job: Job, landing: Landing, attempt_label: str) -> Manifest | None:
    """Keeps the pods that land together in one zone; None where they are one pod, or no pool has two zones.

    Required, since a gang across zones pays for every gradient between them. The scheduler lets a first pod through
    that matches its own term, so that nothing has to be placed by hand. Heads and roles on other pools are not
    selected: their pool may have no node in the zone the workers find. Pods of an earlier attempt are not either
    (`matchLabelKeys`), so that a gang is free to leave a zone that went dry while its old pods still terminate.
    """
    together = [each for each in job.case.landed if each.gang == landing.gang]
    spans = any(len(job.env.zones_of(pool)) > 1 for pool in landing.pools)
    if not spans or sum(each.part.role.count for each in together) == 1:
        return None
    term = {
        "labelSelector": {"matchLabels": {RUN_LABEL: job.name, GANG_LABEL: landing.gang}},
        "matchLabelKeys": [attempt_label],
        "topologyKey": ZONE_LABEL,
    }
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def resources(part: Part) -> Manifest:
    """Requests, and limits of what cannot be shared; quantities as Kubernetes writes them."""
    asked = part.role.resources
    memory = gibibytes(asked.memory_gib)
    gpus = {GPU_RESOURCE: str(part.gpu.count)} if part.gpu else {}
    return {
        "requests": {"cpu": _cpus(asked.cpus), "memory": memory, **gpus},
        "limits": {"memory": memory, **gpus},
    }


def _cpus(count: float) -> str:
    return str(int(count)) if count == int(count) else f"{max(1, round(count * 1000))}m"


def gibibytes(gib: float) -> str:
    """A quantity: whole GiB where it is one, else MiB."""
    return f"{int(gib)}Gi" if gib == int(gib) else f"{max(1, round(gib * 1024))}Mi"


def _volumes(job: Job, part: Part) -> tuple[list[Manifest], list[Manifest]]:
    """Mounts of the container and volumes of the pod, in the same order."""
    mounts: list[Manifest] = []
    volumes: list[Manifest] = []
    if shm := part.role.resources.shm_size_gb:
        mounts.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - shared memory, not a temporary file
        volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": gibibytes(shm)}})
    if claim := job.store.volume_claim:
        mounts.append({"name": "checkpoints", "mountPath": MOUNT_PATH})
        volumes.append({"name": "checkpoints", "persistentVolumeClaim": {"claimName": claim}})
    return mounts, volumes


def environment_of(job: Job, extra: Mapping[str, str] | None = None) -> list[Manifest]:
    """What every pod is told by name and value; the attempt comes from a label and is its operator's."""
    values = {CHECKPOINT_URI_ENV: job.checkpoint_uri, RUN_ENV: job.name, **job.store.pod_env, **(extra or {})}
    return [{"name": name, "value": value} for name, value in values.items()]


def times_to_save(job: Job, notice_seconds: int) -> dict[str, str]:
    """When a trainer saves: as often as its policy reckons with, and after SIGTERM if it ends within the notice.

    Without a policy nobody reckons with an interval, and it is the program's own to choose: nothing is said.
    """
    policy = policy_of(job.experiment, job.env)
    every = {CHECKPOINT_SECONDS_ENV: f"{policy.deadline.checkpoint_every.total_seconds():.0f}"} if policy else {}
    return {**every, NOTICE_SECONDS_ENV: str(notice_seconds)}


def from_label(name: str, label: str) -> Manifest:
    """A variable that holds the value of one of the pod's own labels."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}
