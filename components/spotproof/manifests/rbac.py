"""Roles and their bindings, and somebody as RBAC names people."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from spotproof.manifests.metadata import metadata
from spotproof.vocabulary import Manifest

GROUP: Final = "rbac.authorization.k8s.io"
VERSION: Final = f"{GROUP}/v1"

READ: Final = ("get", "list", "watch")

Subject: TypeAlias = Mapping[str, str]
"""Somebody RBAC can name: kind, name, apiGroup; a service account's namespace."""
Rule: TypeAlias = Mapping[str, object]


def subject(kind: Literal["User", "Group"], name: str) -> Subject:
    """Somebody as RBAC names people."""
    return {"kind": kind, "apiGroup": GROUP, "name": name}


def account(name: str, namespace: str) -> Subject:
    """A service account as RBAC names it."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def role(name: str, rules: Sequence[Rule], *, namespace: str) -> Manifest:
    """What may be done in one namespace."""
    return {
        "apiVersion": VERSION,
        "kind": "Role",
        "metadata": metadata(name, namespace=namespace),
        "rules": [dict(rule) for rule in rules],
    }


def cluster_role(name: str, rules: Sequence[Rule], *, labels: Mapping[str, str] | None = None) -> Manifest:
    """What may be done in the whole cluster, or wherever a RoleBinding says."""
    return {
        "apiVersion": VERSION,
        "kind": "ClusterRole",
        "metadata": metadata(name, labels=labels),
        "rules": [dict(rule) for rule in rules],
    }


def binding(
    name: str, role_kind: Literal["Role", "ClusterRole"], role_name: str, *subjects: Subject, namespace: str
) -> Manifest:
    """Who may do in one namespace what a role says."""
    return {
        "apiVersion": VERSION,
        "kind": "RoleBinding",
        "metadata": metadata(name, namespace=namespace),
        "roleRef": {"apiGroup": GROUP, "kind": role_kind, "name": role_name},
        "subjects": [dict(one) for one in subjects],
    }


def cluster_binding(name: str, role_name: str, *subjects: Subject) -> Manifest:
    """Who may do in the whole cluster what a ClusterRole says."""
    return {
        "apiVersion": VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name),
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role_name},
        "subjects": [dict(one) for one in subjects],
    }
