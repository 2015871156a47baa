"""Evaluates a ValidatingAdmissionPolicy's own expressions, as the API server does, on one object."""

from typing import Any

import cel

Json = dict[str, Any]


def refusals(policy: Json, manifest: Json) -> list[str]:
    """Messages of the rules that the object breaks; an expression that cannot be evaluated raises."""
    context: Json = {"object": manifest, "variables": {}}
    for each in policy["spec"]["variables"]:
        context["variables"][each["name"]] = cel.evaluate(each["expression"], context)
    found: list[str] = []
    for rule in policy["spec"]["validations"]:
        answer = cel.evaluate(rule["expression"], context)
        assert isinstance(answer, bool), rule["expression"]
        if not answer:
            found.append(rule["message"])
    return found


def resource_of(manifest: Json) -> tuple[str, str]:
    """Group and resource by which a policy is matched to an object."""
    group = manifest["apiVersion"].partition("/")[0]
    return group, manifest["kind"].lower() + "s"
