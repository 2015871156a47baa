"""What a preflight may find: each with what would happen and what to write, in one table."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from spotproof.controller.annotations import LIMIT_FORM, TIME_FORM, WORK_FORM
from spotproof.fallback.reasons import phrase
from spotproof.vocabulary import (
    BACKOFF_LIMIT_ANNOTATION,
    CHECKPOINT_URI_ENV,
    DEADLINE_ANNOTATION,
    FALLBACK_POLICY_LABEL,
    QUEUE_LABEL,
    RUN_LABEL,
    WORK_ANNOTATION,
)


class Finding(NamedTuple):
    """One thing to mend in a job.

    `field` is the path as its author wrote it, `message` what is wrong and what would happen, `remedy` what to write.
    One that `refuses` keeps the job from being managed, the others only tell.
    """

    code: str
    field: str
    message: str
    remedy: str
    refuses: bool = True

    def __str__(self) -> str:
        """As its author reads it."""
        return f"{self.field}: {self.message}. {self.remedy}."


class Check(NamedTuple):
    """Where it is looked for; what is wrong, with named values; what would happen; what to write instead.

    `at` is the field for the manual, `[]` for any of a list.
    """

    at: str
    what: str
    consequence: str
    remedy: str
    refuses: bool = True


_HEAD: Final = "spec.rayClusterSpec.headGroupSpec.template.spec"
_SUBMITTER: Final = "spec.submitterPodTemplate.spec"

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "UnknownPolicy": Check(
            f"metadata.labels['{FALLBACK_POLICY_LABEL}']",
            "is {policy}, and there is no such FallbackPolicy",
            "nobody would move the job",
            "Write {remedy}",
        ),
        "InvalidPolicy": Check(
            f"metadata.labels['{FALLBACK_POLICY_LABEL}']",
            "is {policy}, a FallbackPolicy that cannot be carried out: {problem}",
            "nobody would know where to move the job",
            "Mend the FallbackPolicy, or let `pulumi up` write it again",
        ),
        "NoWorkspace": Check(
            "metadata.namespace",
            "is {namespace}, and that namespace is no workspace",
            "the controller may not end pods and child Jobs there, so a move would never be finished",
            "Add {namespace} to `workspaces` of the stack, or run the job in a workspace",
        ),
        "Queue": Check(
            f"metadata.labels['{QUEUE_LABEL}']",
            "is {queue}",
            "Kueue suspends and resumes the job by it, and two that suspend one job undo each other",
            f"Remove the label {QUEUE_LABEL}, or {FALLBACK_POLICY_LABEL}",
        ),
        "ManagedBy": Check(
            "spec.managedBy",
            "is {manager}",
            "the operator leaves the job to somebody else, so nothing would answer a suspension",
            "Remove managedBy, or write {own}",
        ),
        "SameName": Check(
            "metadata.name",
            "is {name}, as is that of another {kind} here",
            "both would be kept in one TrainingRun",
            "Give the job another name",
        ),
        "SameCheckpoint": Check(
            "env of a container",
            f"has {CHECKPOINT_URI_ENV} {{uri}}, where {{kind}} {{name}} saves too",
            "two jobs would write to one checkpoint, and each resume from the other's",
            "Write another place, or wait until the other job has ended",
        ),
        "SameRun": Check(
            f"metadata.labels['{RUN_LABEL}']",
            "is {run}, the run of {kind} {name}",
            "the pods of both would be taken for one gang and bound to one zone",
            f"Give the job another {RUN_LABEL}, or none",
        ),
        "NoTier": Check(
            "spec.replicatedJobs, or spec.rayClusterSpec.workerGroupSpecs",
            "selects no tier of fallback policy {policy}",
            "there would be nothing to move",
            "Write nodeSelector {selector} into the templates that are to move",
        ),
        "MixedTiers": Check(
            "nodeSelector of a template",
            "selects {tier}, and another template selects {other}",
            "a job is moved as a whole, and would be counted on one tier while it runs on two",
            "Write the same tier's selector into every template that is to move",
        ),
        "SpotBesideTiers": Check(
            "nodeSelector, or required nodeAffinity, of a template",
            "selects spot by {selector}, which is no tier of fallback policy {policy}",
            "these pods are evicted with the others, and are never moved",
            "Write the tier's selector there too, or that of an on-demand pool",
            refuses=False,
        ),
        "Selector": Check(
            "nodeSelector of a template",
            "asks for {value}, which nodes of {tiers} do not have",
            "moved there the job would wait for ever",
            "Remove it: the tier's own selector is enough; a zone or a machine is a pool's to name",
        ),
        "Affinity": Check(
            "required nodeAffinity of a template",
            "admits no node of {tiers}",
            "moved there the job would wait for ever",
            "Remove what names a pool, a capacity, a zone or a machine: the tier's own selector is enough",
        ),
        "Toleration": Check(
            "tolerations of a template",
            "does not tolerate {taints}, which nodes of {tiers} carry",
            "moved there the job would wait for ever",
            "Add {remedy}",
        ),
        "RestartPolicy": Check(
            "spec.replicatedJobs[].template.spec.template.spec.restartPolicy",
            "is {policy}",
            "a pod that restarts in place joins a gang that has gone on without it, and its eviction is never counted",
            "Write `restartPolicy: Never`",
        ),
        "JobBackoffLimit": Check(
            "spec.replicatedJobs[].template.spec.backoffLimit",
            "is {limit}",
            "a Job that replaces one pod by itself leaves the other ranks hanging, and JobSet never hears of it",
            "Write `backoffLimit: 0`",
        ),
        "PodReplacement": Check(
            "spec.replicatedJobs[].template.spec.podReplacementPolicy",
            "is {policy}",
            "a replacement that starts before the old pod is gone writes to the same checkpoint",
            "Write `podReplacementPolicy: Failed`",
        ),
        "JobDeadline": Check(
            "spec.replicatedJobs[].template.spec.activeDeadlineSeconds",
            "is {seconds}",
            "Kubernetes ends an attempt that takes as long, waiting for nodes included, and that counts as an error",
            "Remove it, if that is not meant",
            refuses=False,
        ),
        "EvictionRule": Check(
            "spec.replicatedJobs[].template.spec.podFailurePolicy",
            "has no rule that fails the Job with an evicted pod",
            "an eviction could not be told from an error",
            "Write, as the first of its rules, `{{action: FailJob, onPodConditions: [{{type: DisruptionTarget, status: "
            '"True"}}]}}`',
        ),
        "EvictionRuleHidden": Check(
            "spec.replicatedJobs[].template.spec.podFailurePolicy.rules[]",
            "is {action} and comes before the rule for DisruptionTarget",
            "the first rule that matches an evicted pod decides, and this one does not restart the gang",
            "Move the rule `{{action: FailJob, onPodConditions: [{{type: DisruptionTarget}}]}}` before it",
        ),
        "RestartRule": Check(
            "spec.failurePolicy.rules",
            "has no rule for evicted pods",
            "evictions would use up maxRestarts, and a JobSet that has failed cannot be revived",
            "Write, as the first of its rules, `{{name: evicted, action: RestartJobSetAndIgnoreMaxRestarts, "
            "onJobFailureReasons: [PodFailurePolicy]}}`",
        ),
        "RestartRuleHidden": Check(
            "spec.failurePolicy.rules[]",
            "is {action}, and is the first rule that an eviction matches",
            "an eviction would {outcome}",
            "Move a rule with `action: RestartJobSetAndIgnoreMaxRestarts` and `onJobFailureReasons: "
            "[PodFailurePolicy]` before it",
        ),
        "RestartRuleUnread": Check(
            "spec.failurePolicy.rules[]",
            "has a pattern that is not read here, as it repeats too much: {pattern}",
            "whether an eviction restarts the gang could not be foreseen",
            "Write it without repetitions, as in `matching FailJob rule at index 0$`",
        ),
        "RestartStrategy": Check(
            "spec.failurePolicy.restartStrategy",
            "is {strategy}",
            "a gang that starts before the old one is gone writes to the same checkpoint",
            "Write `restartStrategy: BlockingRecreate`",
        ),
        "MaxRestarts": Check(
            "spec.failurePolicy.maxRestarts",
            "is {limit}, and {needed} is the least: {sum}",
            "JobSet would end the job for good before the controller ends or moves it",
            "Write `maxRestarts: {needed}` or more; the controller keeps to the job's own limit, the annotation "
            f"{BACKOFF_LIMIT_ANNOTATION}",
        ),
        "KilledCounts": Check(
            "spec.failurePolicy.maxRestarts",
            "is {limit}, where pods that end with 137 or 143 count, and {needed} is the least: {sum}",
            "an eviction by force leaves nothing but that status, so evictions would use up maxRestarts, and a JobSet "
            "that has failed cannot be revived",
            "Render the job again, or write `maxRestarts: 1000000`, and how many errors the job may restart from in "
            f"the annotation {BACKOFF_LIMIT_ANNOTATION}",
        ),
        "ClusterSelector": Check(
            "spec.clusterSelector",
            "is set",
            "KubeRay cannot suspend a job on a cluster of somebody else's, so it could never move",
            "Write rayClusterSpec in its place",
        ),
        "KeepsItsCluster": Check(
            "spec.shutdownAfterJobFinishes",
            "is {value}",
            "KubeRay suspends only a job that shuts its cluster down; any other ends in ValidationFailed, from which "
            "nothing leads back",
            "Write `shutdownAfterJobFinishes: true`",
        ),
        "DeletionRules": Check(
            "spec.deletionStrategy.deletionRules",
            "is set",
            "it excludes shutdownAfterJobFinishes, without which the job cannot be suspended",
            "Remove it",
        ),
        "Interactive": Check(
            "spec.submissionMode",
            "is InteractiveMode",
            "KubeRay waits for somebody to submit after every move, and cannot be suspended while it waits",
            "Write `submissionMode: K8sJobMode`, and an entrypoint",
        ),
        "Autoscaler": Check(
            "spec.rayClusterSpec.enableInTreeAutoscaling",
            "is true",
            "Ray would add and remove workers beside the policy, and a gang without a size is never known to be whole",
            "Remove it, and write in replicas how many workers the job has",
        ),
        "HeadOnSpot": Check(
            f"{_HEAD}.nodeSelector, or its required nodeAffinity",
            "selects spot by {selector}",
            "a head that is not back within 5 minutes fails the RayJob for good, and KubeRay does not retry that",
            "Select an on-demand pool there",
        ),
        "SubmitterOnSpot": Check(
            f"{_SUBMITTER}.nodeSelector, or its required nodeAffinity",
            "selects spot by {selector}",
            "the job is lost to KubeRay with its submitter",
            "Select an on-demand pool there",
        ),
        "HeadMayLandOnSpot": Check(
            f"{_HEAD}.tolerations, or its nodeSelector, or its required nodeAffinity",
            "lets the head land on nodes of {tiers}, which are spot",
            "a head that is not back within 5 minutes fails the RayJob for good, and KubeRay does not retry that",
            "Select an on-demand pool in its nodeSelector",
        ),
        "SubmitterMayLandOnSpot": Check(
            f"{_SUBMITTER}.tolerations, or its nodeSelector, or its required nodeAffinity",
            "lets the submitter land on nodes of {tiers}, which are spot",
            "the job is lost to KubeRay with its submitter",
            "Select an on-demand pool in its nodeSelector",
        ),
        "RayBackoffLimit": Check(
            "spec.backoffLimit",
            "is {limit}, and {needed} is the least: {sum}",
            "evictions that Ray does not ride out use it up, and a RayJob that has failed cannot be revived",
            f"Write `backoffLimit: 1000000`, and how many errors the job may restart from in the annotation "
            f"{BACKOFF_LIMIT_ANNOTATION}",
        ),
        "EvictionsRunOut": Check(
            "spec.backoffLimit, or spec.failurePolicy.maxRestarts",
            "is {limit}, and its policy tolerates any number of evictions",
            "those that end an attempt use it up in the end, and a job that has failed cannot be revived",
            f"Write 1000000, and how many errors the job may restart from in the annotation {BACKOFF_LIMIT_ANNOTATION}",
            refuses=False,
        ),
        "PreRunningDeadline": Check(
            "spec.preRunningDeadlineSeconds",
            "is {seconds}",
            "KubeRay would end the job for good while it waits for capacity, before it is moved",
            "Remove it: pendingTimeout of the tier says how long it may wait",
        ),
        "ActiveDeadline": Check(
            "spec.activeDeadlineSeconds",
            "is {seconds}",
            "KubeRay ends an attempt that takes as long, waiting included, and does not retry it",
            "Remove it, if that is not meant",
            refuses=False,
        ),
        "NoCheckpoint": Check(
            "env of a container",
            f"tells no program a {CHECKPOINT_URI_ENV}",
            "the job may start afresh after every eviction, and nobody here can see whether two jobs save to one place",
            f"Write {CHECKPOINT_URI_ENV} there, with a place of the job's own",
            refuses=False,
        ),
        "Deadline": Check(
            f"metadata.annotations['{DEADLINE_ANNOTATION}']", "{problem}", "it would not be kept", f"Write {TIME_FORM}"
        ),
        "Work": Check(
            f"metadata.annotations['{WORK_ANNOTATION}']",
            "{problem}",
            "the deadline would not be kept",
            f"Write {WORK_FORM}",
        ),
        "BackoffLimit": Check(
            f"metadata.annotations['{BACKOFF_LIMIT_ANNOTATION}']",
            "{problem}",
            "errors would restart the job without end",
            f"Write {LIMIT_FORM}",
        ),
        "DeadlineIncomplete": Check(
            "the annotation that is missing",
            "is not there, and {other} is",
            "deadline mode {mode} of fallback policy {policy} has no effect on the job",
            "Write both, or neither",
            refuses=False,
        ),
        "DeadlineUnused": Check(
            f"metadata.annotations['{DEADLINE_ANNOTATION}']",
            "is {deadline}, and the deadline mode of fallback policy {policy} is off",
            "nothing is done to keep it",
            "Name a policy whose deadline mode is guard or pace, or remove it",
            refuses=False,
        ),
        "DeadlinePassed": Check(
            f"metadata.annotations['{DEADLINE_ANNOTATION}']",
            "was over when the job was made",
            "the job is taken to be late: on-demand is paid at once, as it ends soonest",
            f"Write a later time, or remove {DEADLINE_ANNOTATION} and {WORK_ANNOTATION}",
            refuses=False,
        ),
    }
)
"""By code, in the order of docs/messages.md."""


def finding(code: str, field: str, **values: object) -> Finding:
    """The finding of a check at a field, with the values of its sentences."""
    check = CHECKS[code]
    message = phrase(f"{check.what}; {check.consequence}", **values)
    return Finding(code, field, message, phrase(check.remedy, **values), check.refuses)
