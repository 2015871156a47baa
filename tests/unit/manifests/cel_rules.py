"""Evaluates a ValidatingAdmissionPolicy's own expressions, as the API server does, on one object."""

from typing import Any

import cel

Json = dict[str, Any]


def refusals(policy: Json, manifest: Json, **more: Json) -> list[str]:
    """Messages of the rules that the object breaks; an expression that cannot be evaluated raises.

    `more` is what else the API server hands over: `oldObject` at an update, `request`.
    """
    context: Json = {"object": manifest, "variables": {}, **more}
    for each in policy["spec"]["variables"]:
        context["variables"][each["name"]] = cel.evaluate(each["expression"], context)
    found: list[str] = []
    for rule in policy["spec"]["validations"]:
        answer = cel.evaluate(rule["expression"], context)
        assert isinstance(answer, bool), rule["expression"]
        if not answer:
            found.append(rule["message"])
    return found


def is_asked(policy: Json, **context: Json) -> bool:
    """Whether every match condition holds, so that the policy's rules are asked at all."""
    answers = [cel.evaluate(each["expression"], context) for each in policy["spec"]["matchConditions"]]
    return all(answer is True for answer in answers)


def resource_of(manifest: Json) -> tuple[str, str]:
    """Group and resource by which a policy is matched to an object."""
    group = manifest["apiVersion"].partition("/")[0]
    return group, manifest["kind"].lower() + "s"
