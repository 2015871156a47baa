"""A job that could never resume is refused by the API server, in our words; its twin that can is taken."""

import copy
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused
from spotproof.manifests.job_admission import NO_CHECKPOINT, job_admission, kinds
from spotproof.manifests.workspaces import namespace as workspace_namespace
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.vocabulary import WORKSPACE_LABEL
from tests.e2e.marks import EFFECT_SECONDS, MARKED, wait_for_mark, with_mark
from tests.e2e.stacks import environment_of, established
from tests.unit.manifests.cel_rules import refusals, resource_of
from tests.unit.manifests.jobs import on_policy, rendered
from tests.unit.manifests.test_job_admission import (
    ACCEPTED,
    GONE,
    JOBSET,
    MUTATIONS,
    POD_SPEC,
    RAYJOB,
    SPOT_JOBSET,
    SPOT_RAYJOB,
    WORKER,
    Json,
    Path,
    changed,
    untold,
)

PARTS: Final = Parts.JOBSET | Parts.KUBERAY
CLOUDS: Final = ("aws-dev", "azure-dev", "gcp-dev", "kind-dev")
HOME: Final = "research"
ELSEWHERE: Final = "elsewhere"
DELETED_BY_RULES: Final = {"deletionRules": [{"condition": {"jobStatus": "FAILED"}, "policy": "DeleteCluster"}]}
DELETED: Final = {"onSuccess": {"policy": "DeleteCluster"}, "onFailure": {"policy": "DeleteCluster"}}
"""The two shapes that KubeRay's definition takes; the unit tests' shorter ones it does not."""


def whole(job: Json) -> Json:
    """A job of the unit tests with what the API server asks for and no rule of ours reads."""
    made: Any = copy.deepcopy(job)
    made["metadata"]["namespace"] = made["metadata"].get("namespace", HOME)
    for owner in made["metadata"].get("ownerReferences", []):
        owner |= {"apiVersion": "jobset.x-k8s.io/v1alpha2", "name": "demo", "uid": "0f1e2d3c"}
    if made["kind"] == "Job":
        pod = made["spec"]["template"]["spec"]
        pod["restartPolicy"] = "Never"
        pod["containers"] = pod.get("containers") or [{"name": "train", "image": "none"}]
    for replicated in made["spec"].get("replicatedJobs", []):
        for rule in replicated["template"]["spec"].get("podFailurePolicy", {}).get("rules", []):
            if "onExitCodes" in rule:
                rule["onExitCodes"]["operator"] = "In"
    if "deletionStrategy" in made["spec"]:
        by_rules = "deletionRules" in made["spec"]["deletionStrategy"]
        made["spec"]["deletionStrategy"] = DELETED_BY_RULES if by_rules else DELETED
    return made


def policies_of(stack: str) -> dict[tuple[str, str], Any]:
    """Those that refuse."""
    refusing = {kind.name for kind in kinds(environment_of(stack))}
    found: list[Any] = job_admission(environment_of(stack))
    made = [each for each in found if "validations" in each["spec"] and each["metadata"]["name"] in refusing]
    return {
        (rule["apiGroups"][0], rule["resources"][0]): policy
        for policy in made
        for rule in policy["spec"]["matchConstraints"]["resourceRules"]
    }


def use(kube: Kube, stack: str) -> None:
    """Put a stack's policies into effect, in place of those of the stack before."""
    for one in job_admission(environment_of(stack)):
        kube.apply(with_mark(one, stack) if one["kind"] == "ValidatingAdmissionPolicy" else one)
    for job in MARKED:
        wait_for_mark(kube, job, HOME, stack)


@pytest.fixture(scope="module")
def kube(plane: ControlPlane) -> Kube:
    """An API server with a workspace and a namespace that is none."""
    for one in (workspace_namespace(HOME), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ELSEWHERE}}):
        plane.kube.apply(one)
        established(plane.kube, dict(one))
    return plane.kube


@pytest.fixture(scope="module")
def dev(kube: Kube) -> Kube:
    """The same with the policies of aws-dev, which the unit tests' jobs are made for."""
    use(kube, "aws-dev")
    return kube


def said(kube: Kube, job: Json) -> str:
    with pytest.raises(Refused) as refused:
        kube.create(job, dry_run=True)
    return refused.value.message


def predicted(stack: str, job: Json) -> list[str]:
    """What the unit tests' evaluator says of the same expressions."""
    return refusals(policies_of(stack)[resource_of(job)], job)


def test_every_rule_has_a_case_below() -> None:
    rules = {rule.message for kind in kinds(environment_of("aws-dev")) for rule in kind.rules}
    cases = [predicted("aws-dev", whole(changed(job, path, value))) for job, path, value, _ in MUTATIONS]
    assert {message for messages in cases for message in messages} == rules


@pytest.mark.parametrize(("job", "path", "value", "says"), MUTATIONS)
def test_a_job_that_could_never_resume_is_refused_in_our_words(
    dev: Kube, job: Json, path: Path, value: object, says: str
) -> None:
    damaged = whole(changed(job, path, value))

    answer = said(dev, damaged)

    assert answer.endswith(predicted("aws-dev", damaged)[0])
    assert says in answer
    assert "ValidatingAdmissionPolicy 'spotproof-" in answer


@pytest.mark.parametrize("job", [JOBSET, RAYJOB, SPOT_JOBSET, SPOT_RAYJOB])
def test_the_twin_that_nobody_damaged_is_taken(dev: Kube, job: Json) -> None:
    assert dev.create(whole(job), dry_run=True).warnings == ()


@pytest.mark.parametrize("job", [JOBSET, RAYJOB, SPOT_JOBSET, SPOT_RAYJOB])
def test_a_job_on_spot_that_is_told_no_place_to_save_is_taken_with_our_words(dev: Kube, job: Json) -> None:
    silent = whole(untold(job))

    (said,) = dev.wait(lambda: dev.create(silent, dry_run=True).warnings, "the warning", EFFECT_SECONDS)

    assert said.endswith(NO_CHECKPOINT)
    assert "-checkpoints'" in said


@pytest.mark.parametrize(("job", "path", "value"), ACCEPTED)
def test_what_can_resume_is_taken(dev: Kube, job: Json, path: Path, value: object) -> None:
    dev.create(whole(changed(job, path, value)), dry_run=True)


@pytest.mark.parametrize("job", [JOBSET, RAYJOB])
def test_a_namespace_that_is_no_workspace_takes_any_job(dev: Kube, job: Json) -> None:
    queued = whole(changed(job, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), "gpus"))
    queued["metadata"]["namespace"] = ELSEWHERE
    assert WORKSPACE_LABEL not in dev.get("v1", "Namespace", ELSEWHERE)["metadata"]["labels"]
    dev.create(queued, dry_run=True)


def test_a_job_that_runs_may_be_changed_into_what_could_not_be_submitted(dev: Kube) -> None:
    """A move patches it, the garbage collector takes its finalizer: no rule may stand in the way."""
    suspended = whole(changed(JOBSET, ("spec", "suspend"), True))  # noqa: FBT003
    dev.apply(suspended)

    label = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "gpus"}}}
    dev.patch(suspended["apiVersion"], "JobSet", suspended["metadata"]["name"], label, HOME)

    dev.delete(suspended["apiVersion"], "JobSet", suspended["metadata"]["name"], HOME)


@pytest.mark.parametrize("stack", CLOUDS)
def test_the_taint_that_a_job_must_tolerate_is_its_clouds_own(kube: Kube, stack: str) -> None:
    env = environment_of(stack)
    use(kube, stack)
    for operator, pod in (("jobset", POD_SPEC), ("kuberay", WORKER)):
        job = whole(rendered(on_policy(operator, env), env, stack))
        kube.create(job, dry_run=True)
        without = changed(job, (*pod, "tolerations"), GONE)

        answer = said(kube, without)

        assert answer.endswith(predicted(stack, without)[0])
        assert f"taint {env.provider.spot_taint['key']}," in answer
