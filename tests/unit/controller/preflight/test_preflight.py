"""What is rendered passes; what could never be moved is refused, with the field and what to write."""

import copy
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path as File
from typing import Any

import pytest

from spotproof.controller import preflight as package
from spotproof.controller.cache import MANAGED
from spotproof.controller.preflight import (
    CHECKS,
    EVERY_KIND,
    RULES,
    Finding,
    invalid_policy,
    no_workspace,
    preflight,
    unknown_policy,
)
from spotproof.settings.fallback import Deadline, Return
from spotproof.vocabulary import FALLBACK_POLICY_LABEL
from tests.unit.controller.preflight.samples import (
    CLUSTER,
    GONE,
    HEAD,
    JOB_SPEC,
    JOBSET,
    POD_SPEC,
    RAYJOB,
    WORKER,
    Json,
    Path,
    changed,
    job,
    policy,
    resolved,
    stored,
)
from tests.unit.manifests.jobs import STACKS, stack
from tests.unit.manifests.test_job_admission import MUTATIONS
from tests.unit.manifests.test_job_admission import changed as damaged

SHARED = {"__init__", "finding", "view", "labels", "spot"}
"""Files that are no rules."""
POLICIES = [(name, index, policy.name) for name in STACKS for index, policy in enumerate(stack(name).fallback_policies)]


def found(manifest: Json, **changes: Any) -> tuple[Finding, ...]:
    return preflight(manifest, policy(**changes), ())


def codes(findings: Sequence[Finding]) -> list[str]:
    return [each.code for each in findings]


def test_every_rule_is_a_file_of_its_name_and_in_the_table_of_a_kind() -> None:
    rules = {rule for each in RULES.values() for rule in each}
    folder = File(str(package.__file__)).parent

    assert {rule.__module__.rpartition(".")[2] for rule in rules} == {rule.__name__ for rule in rules}
    assert {file.stem for file in folder.glob("*.py")} - SHARED == {rule.__name__ for rule in rules}
    assert set(RULES) <= set(MANAGED)


@pytest.mark.parametrize("operator", ["jobset", "kuberay"])
@pytest.mark.parametrize(("stack_name", "index", "name"), POLICIES)
def test_whatever_is_rendered_for_a_policy_passes_without_a_word(
    stack_name: str, index: int, name: str, operator: str
) -> None:
    made = job(operator, stack_name=stack_name, policy=index)
    assert made["metadata"]["labels"][FALLBACK_POLICY_LABEL] == name
    assert preflight(made, resolved(stack_name, name), ()) == ()


@pytest.mark.parametrize(("operator", "code"), [("jobset", "KilledCounts"), ("kuberay", "RayBackoffLimit")])
def test_a_job_rendered_while_no_controller_was_there_is_refused_for_its_limit(operator: str, code: str) -> None:
    """Its limit was the author's, for evictions too that nobody could tell from errors: no one else ended a loop."""
    (refused,) = preflight(job(operator, stack("aws-dev")), resolved("aws-dev"), ())
    assert (refused.code, refused.refuses) == (code, True)
    assert "16 is the least: 11 evictions until the policy has no more to say, and 5 errors" in refused.message


LAST = {"tiers": {"t4-spot": {"max_failures": 5}}, "failure_window": None, "return_": None, "deadline": Deadline()}


@pytest.mark.parametrize(
    ("changes", "runs_out"),
    [
        ({}, False),
        ({"tiers": {"t4-spot": {"max_failures": -1}}}, True),
        ({"failure_window": timedelta(hours=6)}, True),
        ({"return_": Return(min_stay=timedelta(hours=2))}, True),
        ({"deadline": Deadline(mode="pace")}, True),
        ({"deadline": Deadline(mode="guard")}, False),
    ],
    ids=["a last one", "no limit", "a limit within a window", "a way back", "pace", "guard"],
)
def test_a_limit_is_told_that_evictions_use_up_where_none_is_the_last(changes: Json, runs_out: bool) -> None:  # noqa: FBT001 - a column
    least = changed(RAYJOB, ("spec", "backoffLimit"), 11)
    assert codes(found(least, **{**LAST, **changes})) == (["EvictionsRunOut"] if runs_out else [])


@pytest.mark.parametrize(("operator", "kind"), [("jobset", JOBSET), ("kuberay", RAYJOB)])
def test_a_job_in_a_pool_of_somebody_elses_nodes_passes(operator: str, kind: Json) -> None:
    """Known by labels of their owner, on every tier the same key."""
    tiers = {pool: {"node_selector": {"group": pool}, "tolerations": ()} for pool in ("t4-spot", "t4")}
    path = POD_SPEC if operator == "jobset" else WORKER
    assert found(changed(kind, (*path, "nodeSelector"), {"group": "t4-spot"}), tiers=tiers) == ()
    assert codes(found(kind, tiers=tiers)) == ["NoTier"]


CASES: list[tuple[Json, Path, object, str, str]] = [
    # what is changed of which job, the code of the only finding, and its field
    (JOBSET, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), "gpus", "Queue",
     "metadata.labels['kueue.x-k8s.io/queue-name']"),
    (JOBSET, ("spec", "managedBy"), "kueue.x-k8s.io/multikueue", "ManagedBy", "spec.managedBy"),
    (JOBSET, (*POD_SPEC, "nodeSelector"), GONE, "NoTier", "spec.replicatedJobs"),
    (JOBSET, (*POD_SPEC, "nodeSelector"), {"spotproof.dev/pool": "t5-spot"}, "NoTier", "spec.replicatedJobs"),
    (JOBSET, (*POD_SPEC, "nodeSelector", "karpenter.sh/capacity-type"), "spot", "Selector",
     "spec.replicatedJobs[0].template.spec.template.spec.nodeSelector['karpenter.sh/capacity-type']"),
    (JOBSET, (*POD_SPEC, "nodeSelector", "eks.amazonaws.com/capacityType"), "ON_DEMAND", "Selector",
     "spec.replicatedJobs[0].template.spec.template.spec.nodeSelector['eks.amazonaws.com/capacityType']"),
    (JOBSET, (*POD_SPEC, "tolerations"), GONE, "Toleration",
     "spec.replicatedJobs[0].template.spec.template.spec.tolerations"),
    (JOBSET, (*POD_SPEC, "restartPolicy"), "OnFailure", "RestartPolicy",
     "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy"),
    (JOBSET, (*POD_SPEC, "restartPolicy"), GONE, "RestartPolicy",
     "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy"),
    (JOBSET, (*JOB_SPEC, "backoffLimit"), 6, "JobBackoffLimit", "spec.replicatedJobs[0].template.spec.backoffLimit"),
    (JOBSET, (*JOB_SPEC, "backoffLimit"), GONE, "JobBackoffLimit", "spec.replicatedJobs[0].template.spec.backoffLimit"),
    (JOBSET, (*JOB_SPEC, "podReplacementPolicy"), "TerminatingOrFailed", "PodReplacement",
     "spec.replicatedJobs[0].template.spec.podReplacementPolicy"),
    (JOBSET, (*JOB_SPEC, "podFailurePolicy"), GONE, "EvictionRule",
     "spec.replicatedJobs[0].template.spec.podFailurePolicy"),
    (JOBSET, ("spec", "failurePolicy", "rules"), GONE, "RestartRule", "spec.failurePolicy.rules"),
    (JOBSET, ("spec", "failurePolicy", "restartStrategy"), "Recreate", "RestartStrategy",
     "spec.failurePolicy.restartStrategy"),
    (JOBSET, ("spec", "failurePolicy", "maxRestarts"), 4, "MaxRestarts", "spec.failurePolicy.maxRestarts"),
    (RAYJOB, ("spec", "managedBy"), "kueue.x-k8s.io/multikueue", "ManagedBy", "spec.managedBy"),
    (RAYJOB, ("spec", "clusterSelector"), {"ray.io/cluster": "shared"}, "ClusterSelector", "spec.clusterSelector"),
    (RAYJOB, ("spec", "shutdownAfterJobFinishes"), False, "KeepsItsCluster", "spec.shutdownAfterJobFinishes"),
    (RAYJOB, ("spec", "shutdownAfterJobFinishes"), GONE, "KeepsItsCluster", "spec.shutdownAfterJobFinishes"),
    (RAYJOB, ("spec", "deletionStrategy"), {"deletionRules": []}, "DeletionRules",
     "spec.deletionStrategy.deletionRules"),
    (RAYJOB, ("spec", "submissionMode"), "InteractiveMode", "Interactive", "spec.submissionMode"),
    (RAYJOB, (*CLUSTER, "enableInTreeAutoscaling"), True, "Autoscaler",
     "spec.rayClusterSpec.enableInTreeAutoscaling"),
    (RAYJOB, (*WORKER, "nodeSelector"), GONE, "NoTier", "spec.rayClusterSpec.workerGroupSpecs"),
    (RAYJOB, (*WORKER, "tolerations"), [], "Toleration",
     "spec.rayClusterSpec.workerGroupSpecs[0].template.spec.tolerations"),
    (RAYJOB, (*HEAD, "nodeSelector"), {"spotproof.dev/pool": "t4-spot"}, "HeadOnSpot",
     "spec.rayClusterSpec.headGroupSpec.template.spec.nodeSelector"),
    (RAYJOB, (*HEAD, "nodeSelector"), {"cloud.google.com/gke-spot": "true"}, "HeadOnSpot",
     "spec.rayClusterSpec.headGroupSpec.template.spec.nodeSelector"),
    (RAYJOB, ("spec", "submitterPodTemplate", "spec", "nodeSelector"), {"karpenter.sh/capacity-type": "spot"},
     "SubmitterOnSpot", "spec.submitterPodTemplate.spec.nodeSelector"),
    (RAYJOB, ("spec", "backoffLimit"), GONE, "RayBackoffLimit", "spec.backoffLimit"),
    (RAYJOB, ("spec", "backoffLimit"), 15, "RayBackoffLimit", "spec.backoffLimit"),
    (RAYJOB, ("spec", "preRunningDeadlineSeconds"), 600, "PreRunningDeadline", "spec.preRunningDeadlineSeconds"),
    (JOBSET, ("metadata", "annotations", "spotproof.dev/deadline"), "tomorrow", "Deadline",
     "metadata.annotations['spotproof.dev/deadline']"),
    (RAYJOB, ("metadata", "annotations", "spotproof.dev/work"), "a lot", "Work",
     "metadata.annotations['spotproof.dev/work']"),
    (RAYJOB, ("metadata", "annotations", "spotproof.dev/backoff-limit"), "-1", "BackoffLimit",
     "metadata.annotations['spotproof.dev/backoff-limit']"),
]  # fmt: skip
IDS = [f"{case[0]['kind']}-{case[3]}-{number}" for number, case in enumerate(CASES)]


@pytest.mark.parametrize(("manifest", "path", "value", "code", "field"), CASES, ids=IDS)
def test_what_could_not_be_moved_is_refused_at_the_field_its_author_wrote(
    manifest: Json, path: Path, value: object, code: str, field: str
) -> None:
    refusals = [each for each in found(changed(manifest, path, value)) if each.refuses]

    assert [(each.code, each.field) for each in refusals] == [(code, field)]


@pytest.mark.parametrize(("code", "field"), sorted({(case[3], case[4]) for case in CASES}))
def test_the_manual_names_the_field_of_a_refusal(code: str, field: str) -> None:
    at = CHECKS[code].at
    assert re.sub(r"\[\d+\]", "[]", field) in at.split(", or ") or at.split()[0] in field


@pytest.mark.parametrize(("manifest", "path", "value", "code", "field"), CASES, ids=IDS)
def test_a_refusal_is_three_sentences_that_need_no_manual(
    manifest: Json, path: Path, value: object, code: str, field: str
) -> None:
    (said,) = [str(each) for each in found(changed(manifest, path, value)) if each.code == code]

    assert re.fullmatch(
        rf"{re.escape(field)}: [^\n]+; [^\n]+\. (Write|Remove|Select|Add|Move|Give|Mend),? [^\n]+\.", said
    )
    assert not re.search(r"\{\w*\}", said)
    assert ".." not in said


WARNINGS: list[tuple[Json, Path, object, str]] = [
    (RAYJOB, ("spec", "activeDeadlineSeconds"), 86_400, "ActiveDeadline"),
    (RAYJOB, ("spec", "backoffLimit"), 16, "EvictionsRunOut"),
    (JOBSET, (*JOB_SPEC, "activeDeadlineSeconds"), 86_400, "JobDeadline"),
    (JOBSET, (*POD_SPEC, "containers", 0, "env"), [], "NoCheckpoint"),
    (JOBSET, ("metadata", "annotations", "spotproof.dev/deadline"), "36h", "DeadlineIncomplete"),
    (JOBSET, ("metadata", "annotations", "spotproof.dev/work"), "12", "DeadlineIncomplete"),
]


@pytest.mark.parametrize(("manifest", "path", "value", "code"), WARNINGS)
def test_what_only_costs_is_told_and_does_not_keep_the_job_from_being_moved(
    manifest: Json, path: Path, value: object, code: str
) -> None:
    (warning,) = found(changed(manifest, path, value))
    assert (warning.code, warning.refuses) == (code, False)


ACCEPTED: list[tuple[Json, Path, object]] = [
    (JOBSET, (*POD_SPEC, "tolerations"), [{"operator": "Exists"}]),
    (JOBSET, (*POD_SPEC, "nodeSelector", "disk"), "fast"),
    (JOBSET, ("spec", "managedBy"), "jobset.sigs.k8s.io/jobset-controller"),
    (JOBSET, ("spec", "failurePolicy", "maxRestarts"), 5),
    (JOBSET, ("spec", "suspend"), True),
    (JOBSET, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), ""),
    (RAYJOB, ("spec", "managedBy"), "ray.io/kuberay-operator"),
    (RAYJOB, ("spec", "submissionMode"), "SidecarMode"),
    (RAYJOB, ("spec", "submissionMode"), "HTTPMode"),
    (RAYJOB, ("spec", "submitterPodTemplate"), GONE),
    (RAYJOB, (*HEAD, "nodeSelector"), {"karpenter.sh/capacity-type": "reserved"}),
    (RAYJOB, ("spec", "backoffLimit"), 1000),
]


@pytest.mark.parametrize(("manifest", "path", "value"), ACCEPTED)
def test_what_can_be_moved_is_accepted(manifest: Json, path: Path, value: object) -> None:
    assert found(changed(manifest, path, value)) == ()


OF_A_POLICY = [case for case in MUTATIONS if FALLBACK_POLICY_LABEL in case[0]["metadata"].get("labels", {})]


@pytest.mark.parametrize(("manifest", "path", "value", "says"), OF_A_POLICY)
def test_what_the_admission_policies_refuse_is_refused_here_too(
    manifest: Json, path: Path, value: object, says: str
) -> None:
    """Jobs that were there before the policies, or in a namespace that is no workspace."""
    refusals = [str(each) for each in found(stored(damaged(manifest, path, value))) if each.refuses]
    own = [str(each) for each in found(stored(manifest)) if each.refuses]

    assert any(says in each or says.partition(" ")[0] in each for each in set(refusals) - set(own))


SECOND: Path = ("spec", "replicatedJobs", 1, "template", "spec", "template", "spec", "nodeSelector")


def with_a_second_role(selector: Json) -> Json:
    made = changed(JOBSET, ("spec", "replicatedJobs"), [JOBSET["spec"]["replicatedJobs"][0], other_role()])
    return changed(made, SECOND, selector)


def other_role() -> Json:
    return {**copy.deepcopy(JOBSET["spec"]["replicatedJobs"][0]), "name": "other"}


def test_templates_on_two_tiers_are_refused_as_mixed() -> None:
    assert found(with_a_second_role({"spotproof.dev/pool": "t4-spot"})) == ()

    (mixed,) = found(with_a_second_role({"spotproof.dev/pool": "t4"}))

    field = "spec.replicatedJobs[1].template.spec.template.spec.nodeSelector"
    assert (mixed.code, mixed.field) == ("MixedTiers", field)
    assert "selects t4, and another template selects t4-spot" in mixed.message


def test_a_role_on_spot_beside_the_tiers_is_told() -> None:
    (warning,) = found(with_a_second_role({"karpenter.sh/capacity-type": "spot"}))
    assert (warning.code, warning.refuses) == ("SpotBesideTiers", False)
    assert found(with_a_second_role({"spotproof.dev/pool": "cpu"})) == ()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("standrad", "Write spotproof.dev/fallback-policy: standard"),
        ("zzz", "Write a100 or standard, or remove the label"),
    ],
)
def test_an_unknown_policy_is_named_with_the_one_that_was_meant(name: str, remedy: str) -> None:
    refused = unknown_policy(name, ["standard", "a100"])
    assert (refused.code, refused.refuses, refused.remedy) == ("UnknownPolicy", True, remedy)
    assert refused.message == f'is "{name}", and there is no such FallbackPolicy; nobody would move the job'


def test_a_policy_that_cannot_be_carried_out_is_named_with_its_problem() -> None:
    refused = invalid_policy("standard", "spec.tiers.0.pool: Field required")
    assert 'is "standard", a FallbackPolicy that cannot be carried out: spec.tiers.0.pool' in refused.message


def test_a_job_outside_the_workspaces_is_refused_before_it_is_suspended_and_never_rebuilt() -> None:
    refused = no_workspace("default")
    assert (refused.field, refused.refuses) == ("metadata.namespace", True)
    assert 'is "default", and that namespace is no workspace' in refused.message


@pytest.mark.parametrize("kind", RULES)
def test_a_kind_with_rules_of_its_own_is_held_to_those_of_every_kind_too(kind: str) -> None:
    assert [rule for rule in RULES[kind] if rule in EVERY_KIND] == list(EVERY_KIND)


def test_every_check_is_made_by_some_rule() -> None:
    folder = File(str(package.__file__)).parent
    code = "".join(file.read_text() for file in folder.glob("*.py") if file.stem != "finding")
    assert [each for each in CHECKS if f'"{each}"' not in code] == []
