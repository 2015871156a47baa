"""Whatever a stack renders is taken by a real API server as it is: no warning, no field dropped, no CEL type wrong."""

from functools import cache, partial
from typing import Any, Final

import pytest

from spotproof.kube.client import Applied, Kube
from spotproof.manifests.job_admission import job_admission, kinds, warned
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.vocabulary import API_GROUP
from tests.e2e.marks import MARKED, wait_for_mark, with_mark
from tests.e2e.stacks import Object, environment_of, is_of, lost, make, objects_of
from tests.stacks.runs import STACKS
from tests.unit.manifests.jobs import SPOT_FRAGMENTS, experiment, on_policy, on_pool, rendered

PARTS: Final = Parts.JOBSET | Parts.KUBERAY
OPERATORS: Final = ("jobset", "kuberay")
NODES: Final = ("karpenter.sh", "karpenter.k8s.aws", "karpenter.azure.com")
"""Groups of which test_accepted_pools.py has the kinds."""
GROUPS: Final = {
    "apiextensions.k8s.io", "admissionregistration.k8s.io", "rbac.authorization.k8s.io", API_GROUP, "v1"
}  # fmt: skip


def of(stack: str) -> list[Object]:
    """A stack's objects but those that make nodes, and the admission policies of its jobs."""
    return [*(one for one in objects_of(stack) if not is_of(one, *NODES)), *job_admission(environment_of(stack))]


@cache
def jobs_of(stack: str) -> dict[str, Any]:
    """Every way in which an experiment chooses its nodes, in both operators."""
    env = environment_of(stack)
    found = {f"{each}, neither": experiment(each) for each in OPERATORS}
    for each in OPERATORS:
        found |= {f"{each}, pool {pool.name}": on_pool(each, pool) for pool in env.pools}
        if env.fallback_policies:
            found[f"{each}, policy"] = on_policy(each, env)
        if env.spot_pools:
            found |= {f"{each}, {name} fragment": experiment(each, role) for name, role in SPOT_FRAGMENTS.items()}
    return {name: rendered(raw, env, stack) for name, raw in found.items()}


@pytest.fixture(scope="module", params=STACKS)
def stack(request: pytest.FixtureRequest) -> str:
    """A stack's name; tests of one stack run together, so that its objects are made once."""
    return str(request.param)


@pytest.fixture(scope="module")
def answers(plane: ControlPlane, stack: str) -> list[tuple[Object, Applied]]:
    """What was sent and what came back: a stack's objects, in place of those of the stack before, and in effect."""
    objects = of(stack)
    sent = [with_mark(one, stack) if one["kind"] == "ValidatingAdmissionPolicy" else one for one in objects]
    found = list(zip(sent, make(plane.kube, sent), strict=True))
    for job in MARKED:
        wait_for_mark(plane.kube, job, environment_of(stack).workspaces[0].namespace, stack)
    return found


def test_every_object_is_taken_whole_and_without_a_warning(answers: list[tuple[Object, Applied]]) -> None:
    assert {one["apiVersion"].partition("/")[0] for one, _ in answers} == GROUPS
    assert [(one["metadata"]["name"], answer.warnings) for one, answer in answers if answer.warnings] == []
    assert [(one["metadata"]["name"], each) for one, answer in answers for each in lost(one, answer.object)] == []


def test_every_job_of_render_is_taken_whole_and_without_a_warning(
    plane: ControlPlane, stack: str, answers: list[tuple[Object, Applied]]
) -> None:
    assert answers
    jobs = jobs_of(stack)

    taken = {name: plane.kube.apply(job, dry_run=True) for name, job in jobs.items()}

    assert {job["kind"] for job in jobs.values()} == {"JobSet", "RayJob"}
    assert {name: answer.warnings for name, answer in taken.items() if answer.warnings} == {}
    assert [(name, each) for name, answer in taken.items() for each in lost(jobs[name], answer.object)] == []


def test_no_expression_of_an_admission_policy_has_a_wrong_type(
    plane: ControlPlane, stack: str, answers: list[tuple[Object, Applied]]
) -> None:
    env = environment_of(stack)
    validating = [one for one, _ in answers if one["kind"] == "ValidatingAdmissionPolicy"]
    assert {one["metadata"]["name"] for one in validating} == {each.name for each in (*kinds(env), *warned(env))}

    checked = [plane.kube.wait(partial(_type_checked, plane.kube, policy), "a verdict", 60) for policy in validating]

    assert [each.get("expressionWarnings", []) for each in checked] == [[] for _ in validating]


def _type_checked(kube: Kube, policy: Object) -> Object | None:
    """The controller's verdict on this very version; it writes none at all where it could not judge."""
    found = kube.get(policy["apiVersion"], policy["kind"], policy["metadata"]["name"])
    status = found.get("status", {})
    current = status.get("observedGeneration") == found["metadata"]["generation"]
    return {"done": True, **status["typeChecking"]} if current and "typeChecking" in status else None


def test_the_verdict_on_an_expression_of_a_wrong_type_is_a_warning(plane: ControlPlane) -> None:
    """What the test before looks for does come, for a kind of a CRD too."""
    policy = next(one for one in job_admission(environment_of("kind-dev")) if "jobsets" in str(one["metadata"]))
    spec: Any = policy["spec"]
    wrong = {"expression": "object.spec.suspend > 3", "message": "never said", "reason": "Invalid"}
    mistaken = {**policy, "metadata": {"name": "mistaken"}, "spec": {**spec, "validations": [wrong]}}
    plane.kube.apply(mistaken)

    checked = plane.kube.wait(lambda: _type_checked(plane.kube, mistaken), "a verdict", 60)

    assert [each["fieldRef"] for each in checked["expressionWarnings"]] == ["spec.validations[0].expression"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_its_operator_takes_a_job_up(
    plane: ControlPlane, stack: str, answers: list[tuple[Object, Applied]], operator: str
) -> None:
    assert answers
    job = jobs_of(stack)[f"{operator}, policy"]
    version, kind, meta = job["apiVersion"], job["kind"], job["metadata"]
    plane.kube.apply(job)

    taken_up = plane.kube.wait(lambda: TAKEN_UP[kind](plane.kube, meta), f"{kind} to be taken up", 60)

    plane.kube.delete(version, kind, meta["name"], meta["namespace"])
    plane.kube.wait(lambda: not plane.kube.find(version, kind, meta["name"], meta["namespace"]), "its end", 60)
    assert taken_up == {"JobSet": "created", "RayJob": "Initializing"}[kind]


def _child_jobs(kube: Kube, meta: Object) -> str:
    labels = f"jobset.sigs.k8s.io/jobset-name={meta['name']}"
    return "created" if kube.list("batch/v1", "Job", meta["namespace"], labels=labels) else ""


def _deployment(kube: Kube, meta: Object) -> str:
    """KubeRay's word for it: ValidationFailed where it refuses what the API server took."""
    found = kube.get("ray.io/v1", "RayJob", meta["name"], meta["namespace"])
    return str(found.get("status", {}).get("jobDeploymentStatus", ""))


TAKEN_UP: Final = {"JobSet": _child_jobs, "RayJob": _deployment}
