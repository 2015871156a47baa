"""Kubernetes objects from plain dicts, each as the typed resource of its kind."""

import re
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from spotproof.vocabulary import Manifest

_RBAC: Final = "rbac.authorization.k8s.io/v1"
_ADMISSION: Final = "admissionregistration.k8s.io/v1"

TYPED: Final[Mapping[tuple[str, str], str]] = {
    ("v1", "Namespace"): "core.v1.Namespace",
    ("v1", "ServiceAccount"): "core.v1.ServiceAccount",
    ("v1", "ConfigMap"): "core.v1.ConfigMap",
    ("apps/v1", "Deployment"): "apps.v1.Deployment",
    ("policy/v1", "PodDisruptionBudget"): "policy.v1.PodDisruptionBudget",
    ("networking.k8s.io/v1", "NetworkPolicy"): "networking.v1.NetworkPolicy",
    ("scheduling.k8s.io/v1", "PriorityClass"): "scheduling.v1.PriorityClass",
    (_RBAC, "Role"): "rbac.v1.Role",
    (_RBAC, "RoleBinding"): "rbac.v1.RoleBinding",
    (_RBAC, "ClusterRole"): "rbac.v1.ClusterRole",
    (_RBAC, "ClusterRoleBinding"): "rbac.v1.ClusterRoleBinding",
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): "apiextensions.v1.CustomResourceDefinition",
    (_ADMISSION, "MutatingAdmissionPolicy"): "admissionregistration.v1.MutatingAdmissionPolicy",
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): "admissionregistration.v1.MutatingAdmissionPolicyBinding",
    (_ADMISSION, "ValidatingAdmissionPolicy"): "admissionregistration.v1.ValidatingAdmissionPolicy",
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): "admissionregistration.v1.ValidatingAdmissionPolicyBinding",
}
"""Kind -> class below pulumi_kubernetes, by name: the SDK loads a module when a class of it is first touched."""


def apply(name: str, manifest: Manifest, opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """One object as a resource; a kind that the table does not have becomes a CustomResource.

    Raises:
        KeyError: the manifest has no apiVersion or no kind.
        TypeError: a custom resource has parts beside metadata and spec, which the SDK cannot send.
    """
    api_version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
    parts: dict[str, Any] = {_snake(key): value for key, value in manifest.items() if key not in {"apiVersion", "kind"}}
    if kind == "CustomResourceDefinition":
        parts = {key: _underscored(value) for key, value in parts.items()}
    typed = TYPED.get((api_version, kind))
    if typed is not None:
        return attrgetter(typed)(k8s)(name, **parts, opts=opts)
    return k8s.apiextensions.CustomResource(name, api_version=api_version, kind=kind, **parts, opts=opts)


def object_name(prefix: str, manifest: Manifest) -> str:
    """The name of an object's resource: unique in the stack, because a URN does not hold its parent's name."""
    metadata = manifest["metadata"]
    parts = [metadata.get("namespace"), metadata["name"]] if isinstance(metadata, Mapping) else []
    kind = _snake(str(manifest["kind"])).replace("_", "-")
    return "-".join([prefix, kind, *(str(part).replace(":", "-") for part in parts if part)])


def _underscored(value: Any) -> Any:
    """A schema with its extensions as the SDK's types spell them; the provider writes the hyphens again.

    It stores them that way since pulumi-kubernetes PR 3348: with hyphens in the program, every preview would show a
    difference.
    """
    if isinstance(value, Mapping):
        return {
            key.replace("-", "_") if key.startswith("x-kubernetes-") else key: _underscored(part)
            for key, part in value.items()
        }
    return [_underscored(part) for part in value] if isinstance(value, list) else value


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
