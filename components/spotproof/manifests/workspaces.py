"""Workspaces: namespaces that may train, the service account of their jobs, the rights of their members."""

from collections.abc import Mapping, Sequence
from typing import Final

from spotproof.manifests.controller_rights import workspace_roles
from spotproof.manifests.fallback_policy import POLICY_READER_ROLE
from spotproof.manifests.metadata import metadata
from spotproof.manifests.rbac import Subject, account, binding, cluster_binding, role
from spotproof.settings.environment import Workspace
from spotproof.vocabulary import API_GROUP, WORKSPACE_LABEL, Manifest

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


def workspace(
    workspace: Workspace,
    members: Sequence[Subject] = (),
    *,
    annotations: Mapping[str, object] | None = None,
    controller: bool = False,
) -> list[Manifest]:
    """All objects of one workspace, in an order in which they can be created.

    Args:
        workspace: The workspace.
        members: Who works in it, as they reach Kubernetes: on EKS the group of their access entries, elsewhere users
            and groups by name. Nobody: no bindings.
        annotations: On the service account, where the cloud binds its identity by them (Azure, and clusters somebody
            else made). EKS Pod Identity and GKE's direct principals are bound from outside and need none.
        controller: Whether a fallback controller is on the cluster, which then may move the jobs here.
    """
    name, trainer = workspace.namespace, workspace.service_account
    for_members = [
        binding(MEMBERS, "ClusterRole", "edit", *members, namespace=name),
        _policy_readers(name, *members),
    ]
    return [
        namespace(name),
        service_account(trainer, name, annotations),
        _trainer_role(name),
        binding(TRAINER, "Role", TRAINER, account(trainer, name), namespace=name),
        *(for_members if members else []),
        *(workspace_roles(name) if controller else []),
    ]


def administrators(admins: Sequence[Subject]) -> list[Manifest]:
    """The binding that makes people administrators of the whole cluster; none where there is nobody."""
    if not admins:
        return []
    return [cluster_binding(ADMINS, "cluster-admin", *admins)]


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
    """A service account whose token is mounted only into a pod that asks for it.

    A training pod does that to report its progress. Its cloud credentials come as a projected token of their own.
    """
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(name, namespace=namespace, annotations=annotations),
        "automountServiceAccountToken": False,
    }


def _trainer_role(namespace: str) -> Manifest:
    # Progress is an annotation of the job's own TrainingRun, and progress_admission.py keeps the patch to that. Not its
    # status, which is the controller's, and no pods: a pod learns its own name through the downward API.
    rule = {"apiGroups": [API_GROUP], "resources": ["trainingruns"], "verbs": ["get", "patch"]}
    return role(TRAINER, [rule], namespace=namespace)


def _policy_readers(namespace: str, *members: Subject) -> Manifest:
    # Fallback policies are cluster-scoped: no RoleBinding reaches them, and who names one wants to read it.
    return cluster_binding(f"spotproof-workspace-{namespace}", POLICY_READER_ROLE, *members)
