"""RayJobs that survive evictions: workers on the tiers, the head and the submitter where nothing is reclaimed."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from spotproof.manifests.command import left_alone
from spotproof.manifests.gang import (
    Job,
    environment_of,
    from_label,
    node_selector,
    pod_metadata,
    pod_spec,
    times_to_save,
    tolerations,
)
from spotproof.manifests.metadata import PART_OF
from spotproof.settings.experiment.landing import Landing
from spotproof.vocabulary import (
    ATTEMPT_ENV,
    MAX_FAILURES_ENV,
    MAX_PREEMPTION_FAILURES_ENV,
    RUN_LABEL,
    Manifest,
)

API_VERSION: Final = "ray.io/v1"
CLUSTER_LABEL: Final = "ray.io/cluster"
"""On every pod of a Ray cluster, by KubeRay: its name, another one with every attempt and every move."""

DRAIN_ENV: Final = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"
"""Seconds Ray drains a node after SIGTERM, as a preemption (ray PR 64454; 30 by default in Ray 2.60)."""
DRAIN_SECONDS: Final = 30
LEAVE_SECONDS: Final = 5
"""Of the grace, kept for Ray to end after it has drained; SIGKILL would leave it no word to its workers."""

SUBMITTER_RETRIES: Final = 2
"""KubeRay's own default, written out: a submitter that lost the head's log follows the same job again."""

WORDS: Final = re.compile(r"[A-Za-z0-9_./=:,@%+ -]+")
"""What no shell gives a meaning of its own."""


def rayjob(job: Job) -> Manifest:
    """The RayJob of a job; the settings have been checked, so there is a head, and it is on-demand.

    K8sJobMode, since a submission stays visible and countable. HTTPMode starts a lost job afresh without a word
    (ray-project/kuberay issue 4824). SidecarMode ends the attempt, cluster and all, with the submitter's container,
    and restarts none unless an alpha gate is on. The submitter's pod goes where the head is.

    `shutdownAfterJobFinishes` is what suspending asks for, and without suspending there is no move; so do no deletion
    rules and no clusterSelector, which are left out.
    """
    head, *workers = job.case.landed
    return {
        "apiVersion": API_VERSION,
        "kind": "RayJob",
        "metadata": job.metadata(),
        "spec": {
            "entrypoint": entrypoint(job.experiment.spec.command),
            "submissionMode": "K8sJobMode",
            "submitterConfig": {"backoffLimit": SUBMITTER_RETRIES},
            "submitterPodTemplate": _submitter(job, head),
            "backoffLimit": job.operators_limit,
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": {
                "headGroupSpec": {"rayStartParams": {}, "template": _template(job, head, "ray-head")},
                "workerGroupSpecs": [_workers(job, landing) for landing in workers],
            },
        },
    }


def entrypoint(command: str | Sequence[str]) -> str:
    """A command as `ray job submit` takes it.

    KubeRay writes it into the submitter's own shell (common/job.go). What a shell would read there, an `&&` or a
    variable, is therefore quoted, and read by a shell on the head. Of a list Kubernetes fills in `$(NAME)`, with what
    the submitter's pod is told.
    """
    line = left_alone(command.strip()) if isinstance(command, str) else shlex.join(command)
    return line if WORDS.fullmatch(line) else f"sh -c {shlex.quote(line)}"


def _workers(job: Job, landing: Landing) -> Manifest:
    count = landing.part.role.count
    return {
        "groupName": landing.part.name,
        # a gang has one size: with fewer it waits, and Ray's own autoscaler would count differently
        "replicas": count,
        "minReplicas": count,
        "maxReplicas": count,
        "rayStartParams": {},
        "template": _template(job, landing, "ray-worker"),
    }


def _template(job: Job, landing: Landing, container: str) -> Manifest:
    own: Manifest = {
        "name": container,
        "image": job.experiment.spec.image,
        "env": [*environment_of(job, _told(job)), from_label(ATTEMPT_ENV, CLUSTER_LABEL)],
    }
    return {
        "metadata": pod_metadata(job, landing),
        "spec": pod_spec(job, landing, own, attempt_label=CLUSTER_LABEL),
    }


def _told(job: Job) -> dict[str, str]:
    """Ray's drain, which is the notice a worker has, and the numbers for Ray Train's FailureConfig.

    A program hands them on, as Ray Train reads no variables itself.

    A software error always ends the attempt, so that RayJob's backoffLimit is its only count. An eviction ends it too
    where that count is to include evictions; with a policy Ray waits for its workers, and the controller counts.
    """
    drain_seconds = max(1, min(DRAIN_SECONDS, job.env.provider.grace_seconds - LEAVE_SECONDS))
    return {
        **times_to_save(job, drain_seconds),
        DRAIN_ENV: str(drain_seconds),
        MAX_FAILURES_ENV: "0",
        MAX_PREEMPTION_FAILURES_ENV: "-1" if job.has_policy else "0",
    }


def _submitter(job: Job, head: Landing) -> Manifest:
    """KubeRay's own submitter (its name, its size, its command) on the head's nodes."""
    return {
        "metadata": {"labels": {**PART_OF, RUN_LABEL: job.name}},
        "spec": {
            "restartPolicy": "Never",
            "serviceAccountName": job.workspace.service_account,
            "automountServiceAccountToken": False,
            "nodeSelector": node_selector(job, head),
            "tolerations": tolerations(head),
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "ray-job-submitter",
                    "image": job.experiment.spec.image,
                    "env": environment_of(job),
                    "resources": {
                        "requests": {"cpu": "500m", "memory": "200Mi"},
                        "limits": {"cpu": "1", "memory": "1Gi"},
                    },
                    "securityContext": {"allowPrivilegeEscalation": False},
                }
            ],
        },
    }
