"""Who may do what in a workspace, asked of a real API server: its members, its jobs, an administrator, anybody else."""

from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused
from spotproof.manifests.fallback_policy import aggregate_roles, crd
from spotproof.manifests.rbac import subject
from spotproof.manifests.workspaces import administrators, members_group, workspace
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.settings.environment import Workspace
from tests.e2e.stacks import Object, make
from tests.unit.manifests.jobs import on_policy, rendered, stack
from tests.unit.manifests.test_fallback_policy import full

PARTS: Final = Parts.JOBSET
HOME: Final = "research"
NEXT_DOOR: Final = "vision"
"""Another workspace, with members of its own."""
MEMBER: Final = ("ada", (members_group(HOME),))
NEIGHBOUR: Final = ("grace", (members_group(NEXT_DOOR),))
ADMIN: Final = ("linus", ("platform",))
STRANGER: Final = ("mallory", ())
TRAINER: Final = (f"system:serviceaccount:{HOME}:trainer", ("system:serviceaccounts",))

READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "update", "patch", "delete", "deletecollection")
ALL: Final = (*READ, *WRITE)
OURS: Final = "spotproof.dev"
JOBS: Final = ("jobset.x-k8s.io/jobsets", "ray.io/rayjobs", "ray.io/rayclusters", "batch/jobs", f"{OURS}/trainingruns")
POLICIES: Final = f"{OURS}/fallbackpolicies"
RBAC: Final = "rbac.authorization.k8s.io"

User = tuple[str, tuple[str, ...]]
MAY: Final[list[tuple[User, tuple[str, ...], tuple[str, ...], str]]] = [
    # who, verbs, group/resource, namespace ("" for all of them, and for what has none)
    (MEMBER, ALL, JOBS, HOME),
    (MEMBER, ALL, ("/pods", "/configmaps", "/secrets", "/persistentvolumeclaims"), HOME),
    (MEMBER, ("get",), ("/pods/log",), HOME),
    (MEMBER, ("create",), ("/pods/exec",), HOME),
    (MEMBER, READ, (POLICIES,), ""),
    (NEIGHBOUR, READ, (POLICIES,), ""),
    (TRAINER, ("get", "patch"), (f"{OURS}/trainingruns",), HOME),
    (ADMIN, ALL, (*JOBS, POLICIES, "/namespaces", "/nodes", f"{RBAC}/clusterroles"), ""),
]
MAY_NOT: Final[list[tuple[User, tuple[str, ...], tuple[str, ...], str]]] = [
    (MEMBER, WRITE, (POLICIES,), ""),
    (MEMBER, ALL, JOBS, NEXT_DOOR),
    (MEMBER, ALL, ("/pods", "/secrets"), NEXT_DOOR),
    (MEMBER, ALL, ("/pods", "/secrets", *JOBS), ""),
    (MEMBER, WRITE, (f"{RBAC}/roles", f"{RBAC}/rolebindings", "/resourcequotas", "/limitranges"), HOME),
    (MEMBER, WRITE, ("/namespaces",), HOME),
    (MEMBER, ALL, ("/nodes", f"{RBAC}/clusterroles", "karpenter.sh/nodepools"), ""),
    (NEIGHBOUR, ALL, ("/pods", *JOBS), HOME),
    (TRAINER, ("list", "watch", "create", "update", "delete"), (f"{OURS}/trainingruns",), HOME),
    (TRAINER, WRITE, (f"{OURS}/trainingruns/status",), HOME),
    (TRAINER, ALL, ("/pods", "/secrets", "jobset.x-k8s.io/jobsets", "ray.io/rayjobs"), HOME),
    (TRAINER, ("get", "patch"), (f"{OURS}/trainingruns",), NEXT_DOOR),
    (STRANGER, ALL, ("/pods", *JOBS), HOME),
    (STRANGER, ALL, (POLICIES,), ""),
]


@pytest.fixture(scope="module")
def kube(plane: ControlPlane) -> Kube:
    """An API server with two workspaces, their people and an administrator, once the aggregated roles are complete."""
    make(
        plane.kube, [dict(one) for one in (crd(), *aggregate_roles(), *administrators([subject("Group", "platform")]))]
    )
    for name in (HOME, NEXT_DOOR):
        make(plane.kube, workspace(Workspace(namespace=name), [subject("Group", members_group(name))]))
    plane.kube.wait(
        lambda: (
            allowed(plane.kube, MEMBER, "list", JOBS[0], HOME) and allowed(plane.kube, MEMBER, "create", JOBS[0], HOME)
        ),
        "view and edit to have our kinds",
        30,
    )
    return plane.kube


def allowed(kube: Kube, user: User, verb: str, kind: str, namespace: str) -> bool:
    """What the API server's own authorizer says."""
    group, _, resource = kind.partition("/")
    resource, _, subresource = resource.partition("/")
    asked = {"verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": namespace}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": user[0], "groups": [*user[1], "system:authenticated"], "resourceAttributes": asked},
    }
    return bool(kube.create(review).object["status"]["allowed"])


def _answers(kube: Kube, table: list[Any]) -> list[tuple[str, str, str, str, bool]]:
    return [
        (user[0], verb, kind, namespace, allowed(kube, user, verb, kind, namespace))
        for user, verbs, kinds, namespace in table
        for kind in kinds
        for verb in verbs
    ]


def test_everybody_may_do_what_the_workspace_is_for(kube: Kube) -> None:
    assert [answer for answer in _answers(kube, MAY) if not answer[-1]] == []


def test_nobody_may_do_anything_else(kube: Kube) -> None:
    assert [answer for answer in _answers(kube, MAY_NOT) if answer[-1]] == []


def test_who_may_only_view_may_not_write(plane: ControlPlane, kube: Kube) -> None:
    auditor = ("joan", ("audit",))
    kube.apply(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "audit", "namespace": HOME},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": "audit"}],
        }
    )
    plane.kube.wait(lambda: allowed(kube, auditor, "list", JOBS[0], HOME), "the binding to hold", 30)

    assert [a for a in _answers(kube, [(auditor, READ, JOBS, HOME)]) if not a[-1]] == []
    assert [a for a in _answers(kube, [(auditor, WRITE, JOBS, HOME)]) if a[-1]] == []


def test_a_member_submits_a_rendered_job_and_reads_the_policy_it_names(plane: ControlPlane, kube: Kube) -> None:
    kube.apply(full())
    member = plane.as_user(*MEMBER)
    job = rendered(on_policy("jobset", stack("aws-dev")))

    member.apply(job)

    meta = job["metadata"]
    assert member.get(job["apiVersion"], "JobSet", meta["name"], meta["namespace"])["spec"]["replicatedJobs"]
    assert [one["metadata"]["name"] for one in member.list("spotproof.dev/v1alpha1", "FallbackPolicy")] == ["standard"]
    member.delete(job["apiVersion"], "JobSet", meta["name"], meta["namespace"])


@pytest.mark.usefixtures("kube")
def test_a_member_is_told_by_name_what_it_may_not_do(plane: ControlPlane) -> None:
    member = plane.as_user(*MEMBER)
    with pytest.raises(Refused, match='User "ada" cannot patch resource "fallbackpolicies"') as refused:
        member.apply(full())
    assert refused.value.status == 403
    with pytest.raises(Refused, match=r'cannot list resource "pods".* in the namespace "vision"'):
        member.list("v1", "Pod", NEXT_DOOR)


def test_a_pod_on_the_network_of_its_host_is_kept_out_of_a_workspace(kube: Kube) -> None:
    spec = {"containers": [{"name": "main", "image": "none"}], "hostNetwork": True}
    pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "host", "namespace": HOME}, "spec": spec}
    with pytest.raises(Refused, match=r'violates PodSecurity "baseline:latest": host namespaces'):
        kube.create(pod, dry_run=True)


def test_a_job_that_says_nothing_gets_no_token_of_the_api(kube: Kube) -> None:
    spec = {"containers": [{"name": "main", "image": "none"}], "serviceAccountName": "trainer"}
    pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "namespace": HOME}, "spec": spec}

    stored = kube.create(pod, dry_run=True).object["spec"]

    assert stored["serviceAccountName"] == "trainer"
    assert stored.get("volumes", []) == []
