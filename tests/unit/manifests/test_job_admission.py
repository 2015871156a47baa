"""The admission rules of jobs, evaluated: they accept what is rendered, and refuse what could never resume."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotproof.controller.preflight.finding import CHECKS
from spotproof.manifests.job_admission import Action, Kind, job_admission, kinds, warned
from spotproof.settings import Environment
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, WORKSPACE_LABEL
from tests.unit.manifests.cel_rules import refusals, resource_of
from tests.unit.manifests.jobs import STACKS, Json, experiment, experiments, on_policy, on_pool, rendered, stack

DEV = stack("aws-dev")


def policies(
    name: str = "aws-dev", of: Callable[[Environment], tuple[Kind, ...]] = kinds
) -> dict[tuple[str, str], Any]:
    """The policies of a stack that refuse, or those that warn, by the group and resource they look at."""
    found: dict[tuple[str, str], Any] = {}
    names = {kind.name for kind in of(stack(name))}
    made: list[Any] = [each for each in job_admission(stack(name)) if each["kind"] == "ValidatingAdmissionPolicy"]
    for each in made:
        if each["metadata"]["name"] not in names:
            continue
        (rule,) = each["spec"]["matchConstraints"]["resourceRules"]
        found[rule["apiGroups"][0], rule["resources"][0]] = each
    return found


def warned_about(manifest: Json, name: str = "aws-dev") -> list[str]:
    return refusals(policies(name, warned)[resource_of(manifest)], manifest)


def refused(manifest: Json, name: str = "aws-dev") -> list[str]:
    return refusals(policies(name)[resource_of(manifest)], manifest)


def test_the_policies_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("jobs/admission.yaml", job_admission(DEV))


@pytest.mark.parametrize("name", STACKS)
@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_rendered_is_accepted(name: str, data: st.DataObject) -> None:
    raw = data.draw(experiments(stack(name)))
    manifest = rendered(raw, stack_name=name)
    assert refused(manifest, name) == []
    assert warned_about(manifest, name) == []


JOBSET = rendered(on_policy("jobset", DEV))
RAYJOB = rendered(on_policy("kuberay", DEV))
SPOT_JOBSET = rendered(experiment("jobset", {"extraSelectors": {"karpenter.sh/capacity-type": "spot"}}))
SPOT_RAYJOB = rendered(experiment("kuberay", {"extraSelectors": {"karpenter.sh/capacity-type": "spot"}}))
JOB: Json = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "demo"},
    "spec": {"backoffLimit": 0, "template": {"spec": {"nodeSelector": {"karpenter.sh/capacity-type": "spot"}}}},
}

Path = tuple[str | int, ...]
GONE = object()
JOB_SPEC: Path = ("spec", "replicatedJobs", 0, "template", "spec")
POD_SPEC: Path = (*JOB_SPEC, "template", "spec")
CLUSTER: Path = ("spec", "rayClusterSpec")
HEAD: Path = (*CLUSTER, "headGroupSpec", "template", "spec")
WORKER: Path = (*CLUSTER, "workerGroupSpecs", 0, "template", "spec")
SPOT = {"spotproof.dev/pool": "t4-spot"}


def changed(manifest: Json, path: Path, value: object) -> Json:
    result = copy.deepcopy(manifest)
    here: Any = result
    for part in path[:-1]:
        here = here[part]
    if value is GONE:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return result


MUTATIONS: list[tuple[Json, Path, object, str]] = [
    # what is changed of which job, and what the refusal says to write
    (JOBSET, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), "gpus", "Kueue"),
    (JOBSET, (*POD_SPEC, "restartPolicy"), "OnFailure", "restartPolicy: Never"),
    (JOBSET, (*POD_SPEC, "restartPolicy"), GONE, "restartPolicy: Never"),
    (JOBSET, (*POD_SPEC, "nodeSelector"), GONE, "nodeSelector spotproof.dev/pool"),
    (JOBSET, (*POD_SPEC, "nodeSelector"), {"disk": "fast"}, "nodeSelector spotproof.dev/pool"),
    (JOBSET, (*POD_SPEC, "nodeSelector"), {"spotproof.dev/pool": "t5-spot"}, "nodeSelector spotproof.dev/pool"),
    (JOBSET, (*POD_SPEC, "tolerations"), GONE, "toleration"),
    (JOBSET, (*POD_SPEC, "tolerations"), [{"key": "nvidia.com/gpu", "operator": "Exists"}], "toleration"),
    (JOBSET, (*JOB_SPEC, "backoffLimit"), 6, "backoffLimit: 0"),
    (JOBSET, (*JOB_SPEC, "podReplacementPolicy"), GONE, "podReplacementPolicy: Failed"),
    (JOBSET, (*JOB_SPEC, "podFailurePolicy"), GONE, "DisruptionTarget"),
    (JOBSET, (*JOB_SPEC, "podFailurePolicy", "rules", 0, "action"), "Ignore", "DisruptionTarget"),
    (JOBSET, ("spec", "failurePolicy"), GONE, "RestartJobSetAndIgnoreMaxRestarts"),
    (JOBSET, ("spec", "failurePolicy", "rules"), GONE, "RestartJobSetAndIgnoreMaxRestarts"),
    (JOBSET, ("spec", "failurePolicy", "restartStrategy"), "Recreate", "BlockingRecreate"),
    (RAYJOB, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), "gpus", "Kueue"),
    (RAYJOB, ("spec", "shutdownAfterJobFinishes"), False, "shutdownAfterJobFinishes: true"),
    (RAYJOB, ("spec", "shutdownAfterJobFinishes"), GONE, "shutdownAfterJobFinishes: true"),
    (RAYJOB, ("spec", "clusterSelector"), {"a": "b"}, "clusterSelector"),
    (RAYJOB, ("spec", "deletionStrategy"), {"deletionRules": []}, "deletionRules"),
    (RAYJOB, (*HEAD, "nodeSelector"), SPOT, "headGroupSpec"),
    (RAYJOB, (*HEAD, "nodeSelector"), {"cloud.google.com/gke-spot": "true"}, "headGroupSpec"),
    (RAYJOB, ("spec", "submitterPodTemplate", "spec", "nodeSelector"), SPOT, "submitterPodTemplate"),
    (RAYJOB, (*WORKER, "nodeSelector"), GONE, "nodeSelector spotproof.dev/pool"),
    (RAYJOB, (*WORKER, "tolerations"), [], "toleration"),
    (SPOT_JOBSET, ("spec", "failurePolicy"), GONE, "maxRestarts"),
    (SPOT_JOBSET, ("spec", "failurePolicy", "maxRestarts"), 0, "maxRestarts"),
    (SPOT_RAYJOB, (*HEAD, "nodeSelector"), SPOT, "headGroupSpec"),
    (SPOT_RAYJOB, ("spec", "backoffLimit"), GONE, "spec.backoffLimit"),
    (JOB, ("metadata", "name"), "demo", "backoffLimit"),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "path", "value", "says"), MUTATIONS)
def test_what_could_never_resume_is_refused_with_what_to_write(
    manifest: Json, path: Path, value: object, says: str
) -> None:
    assert [says in message for message in refused(changed(manifest, path, value))].count(True) == 1


ACCEPTED: list[tuple[Json, Path, object]] = [
    # nothing of these keeps a job from resuming
    (JOBSET, (*POD_SPEC, "tolerations"), [{"operator": "Exists"}]),
    (JOBSET, ("spec", "failurePolicy", "maxRestarts"), 0),
    (JOBSET, (*JOB_SPEC, "podFailurePolicy", "rules", 1), {"action": "Count", "onExitCodes": {"values": [3]}}),
    (RAYJOB, ("spec", "deletionStrategy"), {}),
    (RAYJOB, ("spec", "submitterPodTemplate"), GONE),
    (JOB, ("spec", "backoffLimit"), 6),
    (JOB, ("spec", "backoffLimit"), GONE),
    (JOB, ("spec", "template", "spec"), {"containers": []}),
    (JOB, ("metadata", "ownerReferences"), [{"kind": "JobSet"}]),
]


@pytest.mark.parametrize(("manifest", "path", "value"), ACCEPTED)
def test_what_can_resume_is_accepted(manifest: Json, path: Path, value: object) -> None:
    assert refused(changed(manifest, path, value)) == []


@pytest.mark.parametrize("manifest", [SPOT_JOBSET, SPOT_RAYJOB])
def test_a_job_without_a_policy_is_its_authors_own_affair(manifest: Json) -> None:
    bare = changed(manifest, ("metadata", "labels"), GONE)
    assert FALLBACK_POLICY_LABEL not in manifest["metadata"]["labels"]
    assert refused(bare) == []


def untold(manifest: Json) -> Json:
    """The job, and nobody tells any program of it where to save."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: stripped(each) for key, each in value.items()}
        if isinstance(value, list):
            return [stripped(each) for each in value if not (isinstance(each, dict) and each.get("name") == PLACE)]
        return value

    return stripped(manifest)


PLACE = "CHECKPOINT_URI"
TOLD = [{"name": PLACE, "value": "s3://team/demo"}]
SAVING: list[Json] = [JOBSET, RAYJOB, SPOT_JOBSET, SPOT_RAYJOB]


@pytest.mark.parametrize("manifest", SAVING)
def test_a_job_on_spot_that_is_told_no_place_to_save_is_warned_about_and_taken(manifest: Json) -> None:
    assert refused(untold(manifest)) == []
    assert warned_about(manifest) == []
    (said,) = warned_about(untold(manifest))
    check = CHECKS["NoCheckpoint"]
    assert check.consequence.removeprefix("the job ") in said
    assert check.what in said
    assert check.remedy.removeprefix(f"Write {PLACE} there") in said


PLACES: list[tuple[Json, Path, object]] = [
    # one place in a job is enough, whoever is told it
    (RAYJOB, (*HEAD, "containers", 0, "env"), TOLD),
    (RAYJOB, (*WORKER, "containers", 0, "env"), TOLD),
    (RAYJOB, ("spec", "submitterPodTemplate", "spec", "containers", 0, "env"), TOLD),
    (RAYJOB, ("spec", "runtimeEnvYAML"), f"env_vars: {{{PLACE}: s3://team/demo}}"),
    (JOBSET, (*POD_SPEC, "containers", 0, "env"), [{"name": PLACE, "valueFrom": {"secretKeyRef": {}}}]),
]


@pytest.mark.parametrize(("manifest", "path", "value"), PLACES)
def test_any_program_of_a_job_may_be_told(manifest: Json, path: Path, value: object) -> None:
    assert len(warned_about(untold(manifest))) == 1
    assert warned_about(changed(untold(manifest), path, value)) == []


def test_a_job_on_demand_without_a_policy_needs_no_place_to_save() -> None:
    for operator in ("jobset", "kuberay"):
        assert warned_about(untold(rendered(on_pool(operator, DEV.pool("t4"))))) == []
        assert warned_about(untold(rendered(on_pool(operator, DEV.pool("t4-spot"))))) != []


def test_a_job_that_says_little_is_judged_without_an_error() -> None:
    bare = changed(changed(untold(RAYJOB), ("spec", "submitterPodTemplate"), GONE), CLUSTER, GONE)
    assert len(warned_about(bare)) == 1
    assert len(warned_about(changed(JOBSET, (*POD_SPEC, "containers", 0, "env"), GONE))) == 1


@pytest.mark.parametrize("action", ["deny", "warn", "audit"])
def test_what_is_only_warned_about_is_never_refused(action: Action) -> None:
    made: list[Any] = job_admission(DEV, action)
    names = {kind.name for kind in warned(DEV)}
    bindings = [each["spec"] for each in made if each["kind"] == "ValidatingAdmissionPolicyBinding"]
    mild = {tuple(each["validationActions"]) for each in bindings if each["policyName"] in names}
    assert mild == {("Audit",) if action == "audit" else ("Warn",)}


@pytest.mark.parametrize(("action", "word"), [("deny", "Deny"), ("warn", "Warn"), ("audit", "Audit")])
def test_each_policy_has_a_binding_with_the_action_asked_for(action: Action, word: str) -> None:
    made: list[Any] = job_admission(DEV, action)
    bindings = [each["spec"] for each in made if each["kind"] == "ValidatingAdmissionPolicyBinding"]
    names = [each["metadata"]["name"] for each in made if each["kind"] == "ValidatingAdmissionPolicy"]
    assert [each["policyName"] for each in bindings] == names
    refusing = {kind.name for kind in kinds(DEV)}
    assert {tuple(each["validationActions"]) for each in bindings if each["policyName"] in refusing} == {(word,)}


def test_only_workspaces_are_looked_at_and_only_what_is_submitted() -> None:
    for policy in policies().values():
        match = policy["spec"]["matchConstraints"]
        assert match["namespaceSelector"] == {"matchExpressions": [{"key": WORKSPACE_LABEL, "operator": "Exists"}]}
        assert match["resourceRules"][0]["operations"] == ["CREATE"]


def test_pools_of_somebody_elses_nodes_are_known_by_their_own_labels() -> None:
    labels = {
        "t4-spot": {"group": "a", "market": "spot"},
        "t4": {"group": "a", "market": "firm"},
        "cpu": {"group": "c"},
    }
    pools = tuple(
        pool.model_copy(update={"node_labels": labels[pool.name]}) for pool in DEV.pools if pool.name in labels
    )
    env = DEV.model_copy(update={"pools": pools})
    refusing = {kind.name for kind in kinds(env)}
    made: list[Any] = job_admission(env)
    by_resource = {
        resource: each for each in made if each["metadata"]["name"] in refusing for resource in _resources(each)
    }
    jobset, rayjob = rendered(on_policy("jobset", env), env), rendered(on_policy("kuberay", env), env)

    assert refusals(by_resource["jobsets"], jobset) == []
    assert refusals(by_resource["rayjobs"], rayjob) == []
    on_spot = changed(rayjob, (*HEAD, "nodeSelector"), labels["t4-spot"])
    assert ["headGroupSpec" in message for message in refusals(by_resource["rayjobs"], on_spot)] == [True]
    nowhere = changed(jobset, (*POD_SPEC, "nodeSelector"), {"group": "a"})
    assert len(refusals(by_resource["jobsets"], nowhere)) == 1


def _resources(manifest: Any) -> list[str]:
    constraints = manifest["spec"].get("matchConstraints", {"resourceRules": []})
    return [resource for rule in constraints["resourceRules"] for resource in rule["resources"]]


def test_where_the_pools_taints_are_somebody_elses_no_toleration_is_asked_for() -> None:
    pools = tuple(pool.model_copy(update={"taints": ()}) for pool in DEV.pools)
    env = DEV.model_copy(update={"pools": pools})
    made: list[Any] = job_admission(env)
    policy = next(each for each in made if each["metadata"]["name"] == "spotproof-jobsets")
    assert refusals(policy, changed(JOBSET, (*POD_SPEC, "tolerations"), GONE)) == []
