"""JobSets that survive evictions: a gang that restarts as a whole, and only as a whole."""

import re
from typing import Final

from spotproof.manifests.command import command_line
from spotproof.manifests.gang import (
    CONTAINER,
    Job,
    environment_of,
    from_label,
    pod_metadata,
    pod_spec,
    times_to_save,
)
from spotproof.settings.experiment.landing import Landing
from spotproof.vocabulary import ATTEMPT_ENV, COORDINATOR_ENV, PODS_ENV, Manifest

API_VERSION: Final = "jobset.x-k8s.io/v1alpha2"
ATTEMPT_LABEL: Final = "jobset.sigs.k8s.io/restart-attempt"
"""On every pod, by JobSet: how often the JobSet has been restarted."""

COORDINATORS: Final = ("coordinator", "master", "head", "leader", "launcher", "chief")
"""Roles whose first pod the others look for; without any of them the first role of the file."""

KILLED: Final = (137, 143)
"""Exit codes after SIGKILL and SIGTERM: forced deletes of AKS and Karpenter leave no DisruptionTarget."""
EVICTED: Final = 0
"""Index of the rule for DisruptionTarget in every Job; JobSet reads it from the Job's message."""

SHELL_SECONDS: Final = 2
"""Of the grace, kept for the shell around the program: where every CPU of the node computes it may be late to pass
SIGTERM on, and it ends after the program does."""

COUNTED: Final = "RestartJobSet"
NOT_COUNTED: Final = "RestartJobSetAndIgnoreMaxRestarts"


def jobset(job: Job) -> Manifest:
    """The JobSet of a job; the settings have been checked, so every part has landed."""
    landed = job.case.landed
    return {
        "apiVersion": API_VERSION,
        "kind": "JobSet",
        "metadata": job.metadata(),
        "spec": {
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "coordinator": {"replicatedJob": _coordinator(landed).part.name, "jobIndex": 0, "podIndex": 0},
            "failurePolicy": failure_policy(job),
            "replicatedJobs": [_replicated_job(job, landing) for landing in landed],
        },
    }


def failure_policy(job: Job) -> Manifest:
    """How often the gang restarts, and what is counted.

    Without a policy everything counts: N restarts, evictions included, and failure N+1 ends the job. With one an
    eviction does not, since it is counted against the tier. What was killed without a condition counts only where no
    controller tells an eviction from a lack of memory: nobody else would end that loop.

    A JobSet that is suspended may restart as `killed` too: its pods end with these codes, and where the Job controller
    looks before one of them is gone, the Job fails, at once or as it is resumed (seen on 1.36.3, tests/e2e). It is part
    of the suspension and no failure of the tier; child Jobs that are deleted before the resume have none to report.

    BlockingRecreate: new pods only once every old one is gone, or two gangs would write to one checkpoint.
    """
    evicted = NOT_COUNTED if job.has_policy else COUNTED
    killed = NOT_COUNTED if job.has_controller else COUNTED
    codes = "|".join(map(str, KILLED))
    return {
        "maxRestarts": job.operators_limit,
        "restartStrategy": "BlockingRecreate",
        "rules": [
            _rule("evicted", evicted, f"matching FailJob rule at index {EVICTED}$"),
            _rule("killed", killed, f"exit code ({codes}) matching FailJob rule"),
        ],
    }


def _rule(name: str, action: str, message: str) -> Manifest:
    re.compile(message)
    return {
        "name": name,
        "action": action,
        "onJobFailureReasons": ["PodFailurePolicy"],
        "onJobFailureMessagePatterns": [message],
    }


def _replicated_job(job: Job, landing: Landing) -> Manifest:
    return {
        "name": landing.part.name,
        "replicas": 1,
        "template": {"spec": _job(job, landing)},
    }


def _job(job: Job, landing: Landing) -> Manifest:
    count = landing.part.role.count
    spec = job.experiment.spec
    told = {
        COORDINATOR_ENV: coordinator_address(job),
        PODS_ENV: str(count),
        **times_to_save(job, max(1, job.env.provider.grace_seconds - SHELL_SECONDS)),
    }
    container: Manifest = {
        "name": CONTAINER,
        "image": spec.image,
        "command": command_line(spec.command),
        "env": [*environment_of(job, told), from_label(ATTEMPT_ENV, ATTEMPT_LABEL)],
    }
    return {
        # Indexed: JOB_COMPLETION_INDEX is the pod's rank in its role.
        "completionMode": "Indexed",
        "parallelism": count,
        "completions": count,
        # A Job that replaced one pod by itself would leave the other ranks hanging.
        "backoffLimit": 0,
        # A replacement before the old pod is gone would be a second writer.
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {
            "rules": [
                {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                {
                    "action": "FailJob",
                    "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": list(KILLED)},
                },
            ]
        },
        "template": {
            "metadata": pod_metadata(job, landing),
            "spec": pod_spec(job, landing, container, attempt_label=ATTEMPT_LABEL),
        },
    }


def _coordinator(landed: list[Landing]) -> Landing:
    named = {landing.part.name: landing for landing in landed}
    return next((named[name] for name in COORDINATORS if name in named), landed[0])


def coordinator_address(job: Job) -> str:
    """Host name of the coordinator's first pod, the same over every restart."""
    return f"{job.name}-{_coordinator(job.case.landed).part.name}-0-0.{job.name}"
