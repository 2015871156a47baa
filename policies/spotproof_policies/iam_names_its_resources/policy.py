"""What an IAM document allows, it allows on named resources."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.documents import IDENTITY_DOCUMENTS, allows, documents, inline_documents, label
from spotproof_policies.iam_names_its_resources.no_resource_level import ACTIONS
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, table, words

_ROLE = "aws:iam/role:Role"


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield every statement that reaches everything with an action that could name its target."""
    exempt = ACTIONS | frozenset(action.lower() for action in config["allowedActions"])
    for document in documents(resource, IDENTITY_DOCUMENTS):
        yield from _statements(document, exempt)
    for document in inline_documents(resource):
        yield from _statements(document, exempt)


def _statements(document: Mapping[str, Any], exempt: frozenset[str]) -> Iterator[str]:
    for statement in allows(document):
        called = label(statement)
        if "NotResource" in set(statement):
            yield (
                f"The document's {called} allows everything but a list of resources (NotResource), so it reaches what "
                "others create tomorrow. List the resources under Resource."
            )
        if _is_narrowed(statement) or not any(map(_is_everything, words(at(statement, "Resource")))):
            continue
        nameable = sorted({action for action in words(at(statement, "Action")) if action.lower() not in exempt})
        if nameable:
            yield (
                f"The document's {called} allows {', '.join(nameable)} on every resource, so it reaches the resources "
                "of other teams and stacks. Write their ARNs under Resource, or add the action to `allowedActions` "
                "of this policy if AWS lists no resource type for it."
            )


def _is_narrowed(statement: Mapping[str, Any]) -> bool:
    """A tag that the resource has, or is made with, names whose it is where its ARN cannot."""
    keys = {key.lower() for key in set(table(at(statement, "Condition", "StringEquals")))}
    return any(mark in key for key in keys for mark in (":resourcetag/", ":requesttag/"))


def _is_everything(resource: str) -> bool:
    """`*`, or an ARN that names nothing after its service, account and region."""
    return resource == "*" or resource.split(":", 5)[5:] == ["*"]


POLICY = Policy(
    name="iam-names-its-resources",
    description="IAM documents name the resources they reach, except for actions that have no resource level.",
    level="mandatory",
    severity="high",
    remedy=(
        "Write ARNs under Resource, made of region, account and name where the resource is not there yet. An action "
        "that AWS lists without a resource type goes into `allowedActions` of this policy's configuration."
    ),
    url="https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html",
    judges=EachResource((*IDENTITY_DOCUMENTS, _ROLE), check),
    config_schema={
        "allowedActions": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "More actions that may stand with Resource `*`, as service:Action.",
        }
    },
)
