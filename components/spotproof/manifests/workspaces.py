"""Workspaces: namespaces that may train, the service account of their jobs, the rights of their members."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from spotproof.manifests.fallback_policy import POLICY_READER_ROLE
from spotproof.manifests.metadata import metadata
from spotproof.settings.environment import Workspace
from spotproof.vocabulary import API_GROUP, WORKSPACE_LABEL, Manifest

RBAC_GROUP: Final = "rbac.authorization.k8s.io"
RBAC_VERSION: Final = f"{RBAC_GROUP}/v1"

Subject: TypeAlias = Mapping[str, str]
"""Somebody RBAC can name: kind, name, apiGroup; a service account's namespace."""

TRAINER: Final = "spotproof-trainer"
"""Name of the Role of a workspace's service account, and of its binding."""
ADMINS: Final = "spotproof-admins"
MEMBERS: Final = "spotproof-members"
"""Name of the RoleBinding of a workspace's members."""


def members_group(namespace: str) -> str:
    """The Kubernetes group of the people who work in a workspace.

    A cloud maps each of `workspace.members` to it: on EKS an access entry of type STANDARD with this name in
    `kubernetes_groups` and no policy association. The rights come from the bindings made here.
    """
    return f"spotproof:workspace:{namespace}:members"


def subject(kind: Literal["User", "Group"], name: str) -> Subject:
    """Somebody as RBAC names people."""
    return {"kind": kind, "apiGroup": RBAC_GROUP, "name": name}


def workspace(
    workspace: Workspace, members: Sequence[Subject] = (), *, annotations: Mapping[str, object] | None = None
) -> list[Manifest]:
    """All objects of one workspace, in an order in which they can be created.

    Args:
        workspace: The workspace.
        members: Who works in it, as they reach Kubernetes: on EKS the group of their access entries, elsewhere users
            and groups by name. Nobody: no bindings.
        annotations: On the service account, where the cloud binds its identity by them (Azure, and clusters somebody
            else made). EKS Pod Identity and GKE's direct principals are bound from outside and need none.
    """
    name, account = workspace.namespace, workspace.service_account
    trainer = {"kind": "ServiceAccount", "name": account, "namespace": name}
    for_members = [
        _binding(MEMBERS, name, "ClusterRole", "edit", *members),
        _policy_readers(name, *members),
    ]
    return [
        namespace(name),
        service_account(account, name, annotations),
        _trainer_role(name),
        _binding(TRAINER, name, "Role", TRAINER, trainer),
        *(for_members if members else []),
    ]


def administrators(admins: Sequence[Subject]) -> list[Manifest]:
    """The binding that makes people administrators of the whole cluster; none where there is nobody."""
    if not admins:
        return []
    return [_cluster_binding(ADMINS, "cluster-admin", *admins)]


def namespace(name: str) -> Manifest:
    """A namespace that may train: known to the admission policies by its label, its pods kept off the host."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(
            name,
            labels={
                WORKSPACE_LABEL: name,
                "pod-security.kubernetes.io/enforce": "baseline",
                "pod-security.kubernetes.io/warn": "restricted",
            },
        ),
    }


def service_account(name: str, namespace: str, annotations: Mapping[str, object] | None = None) -> Manifest:
    """The service account of training pods.

    Cloud credentials come as a projected token of their own. The token of the Kubernetes API is mounted only into a
    pod that asks for it, as one does that reports its progress.
    """
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(name, namespace=namespace, annotations=annotations),
        "automountServiceAccountToken": False,
    }


def _trainer_role(namespace: str) -> Manifest:
    # Progress is an annotation of the job's own TrainingRun. Not its status, which is the controller's, and no
    # pods: a pod learns its own name through the downward API.
    return {
        "apiVersion": RBAC_VERSION,
        "kind": "Role",
        "metadata": metadata(TRAINER, namespace=namespace),
        "rules": [{"apiGroups": [API_GROUP], "resources": ["trainingruns"], "verbs": ["get", "patch"]}],
    }


def _binding(name: str, namespace: str, role_kind: str, role: str, *subjects: Subject) -> Manifest:
    return {
        "apiVersion": RBAC_VERSION,
        "kind": "RoleBinding",
        "metadata": metadata(name, namespace=namespace),
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": role_kind, "name": role},
        "subjects": [dict(one) for one in subjects],
    }


def _policy_readers(namespace: str, *members: Subject) -> Manifest:
    # Fallback policies are cluster-scoped: no RoleBinding reaches them, and who names one wants to read it.
    return _cluster_binding(f"spotproof-workspace-{namespace}", POLICY_READER_ROLE, *members)


def _cluster_binding(name: str, role: str, *subjects: Subject) -> Manifest:
    return {
        "apiVersion": RBAC_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name),
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [dict(one) for one in subjects],
    }
