"""A ValidatingAdmissionPolicy and its binding: rules in CEL, which the API server asks by itself, with no webhook."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from spotproof.manifests.metadata import metadata
from spotproof.vocabulary import WORKSPACE_LABEL, Manifest

API_VERSION: Final = "admissionregistration.k8s.io/v1"
ANYWHERE: Final[Manifest] = {}
IN_WORKSPACES: Final[Manifest] = {"matchExpressions": [{"key": WORKSPACE_LABEL, "operator": "Exists"}]}
"""Selectors of namespaces; what is of no namespace is in none of them."""


@dataclass(frozen=True)
class Rule:
    """What must be true of an object, and what is said to whoever wrote one of which it is not."""

    expression: str
    message: str


@dataclass(frozen=True)
class Writes:
    """Which writes are judged: of what resource, and by whom if not by everybody, as a name and an expression."""

    group: str
    version: str
    resource: str
    operation: Literal["CREATE", "UPDATE", "DELETE"]
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    by: tuple[str, str] | None = None


def validating(  # noqa: PLR0913 - what such a policy is made of
    name: str,
    writes: Writes,
    rules: Iterable[Rule],
    *,
    namespaces: Manifest = IN_WORKSPACES,
    variables: Iterable[tuple[str, str]] = (),
    reason: Literal["Invalid", "Forbidden"] = "Forbidden",
    action: str = "Deny",
) -> list[Manifest]:
    """The policy and its binding.

    Args:
        name: Of both.
        writes: What is judged.
        rules: In order; all of them have to hold.
        namespaces: Selector of those in which it is.
        variables: Names with their expressions, which rules read as `variables.<name>`.
        reason: What kind of refusal it is.
        action: Deny, Warn or Audit.
    """
    conditions = [] if writes.by is None else [{"name": writes.by[0], "expression": writes.by[1]}]
    only: Mapping[str, object] = {"matchConditions": conditions} if conditions else {}
    policy: Manifest = {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata(name),
        "spec": {
            # a rule that cannot be evaluated is our mistake; letting writes through would hide it
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": namespaces,
                "objectSelector": {},
                "resourceRules": [
                    {
                        "apiGroups": [writes.group],
                        "apiVersions": [writes.version],
                        "operations": [writes.operation],
                        "resources": [writes.resource],
                        "scope": writes.scope,
                    }
                ],
            },
            **only,
            "variables": [{"name": variable, "expression": expression} for variable, expression in variables],
            "validations": [
                {"expression": rule.expression, "message": rule.message, "reason": reason} for rule in rules
            ],
        },
    }
    binding: Manifest = {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata(name),
        "spec": {"policyName": name, "validationActions": [action]},
    }
    return [policy, binding]
