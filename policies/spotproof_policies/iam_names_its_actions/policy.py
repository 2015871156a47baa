"""No statement allows a family of actions."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.documents import (
    IDENTITY_DOCUMENTS,
    RESOURCE_DOCUMENTS,
    allows,
    documents,
    inline_documents,
    label,
)
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, words

_KEY_ACTIONS = "kms:*"
# The key policy that AWS itself writes for users of a key has them; all members of each are one right.
_CLOSED_FAMILIES = frozenset({"kms:reencrypt*", "kms:generatedatakey*"})


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every allowed wildcard in the documents of one resource."""
    for document in documents(resource, IDENTITY_DOCUMENTS | RESOURCE_DOCUMENTS):
        yield from _statements(document)
    for document in inline_documents(resource):
        yield from _statements(document)


def _statements(document: Mapping[str, Any]) -> Iterator[str]:
    for statement in allows(document):
        if "NotAction" in set(statement):
            yield (
                f"The document's {label(statement)} allows everything but a list (NotAction), so "
                "it also allows what AWS adds tomorrow. List the actions that are needed under Action."
            )
        for action in words(at(statement, "Action")):
            if "*" in action and not _let_through(statement, action):
                yield (
                    f"The document's {label(statement)} allows `{action}`, so whoever takes over the "
                    "role gets actions that nobody meant to give. Write out each action that is needed."
                )


def _let_through(statement: Mapping[str, Any], action: str) -> bool:
    return action.lower() in _CLOSED_FAMILIES or _hands_key_to_account(statement, action)


def _hands_key_to_account(statement: Mapping[str, Any], action: str) -> bool:
    """The statement AWS itself puts into every key policy: without it IAM cannot give access to the key."""
    principals = words(at(statement, "Principal", "AWS"))
    return action == _KEY_ACTIONS and bool(principals) and all(one.endswith(":root") for one in principals)


POLICY = Policy(
    name="iam-names-its-actions",
    description="IAM documents allow actions by their full names, never by wildcard.",
    level="mandatory",
    severity="high",
    remedy=(
        "Write each action out under Action; only `kms:ReEncrypt*`, `kms:GenerateDataKey*` and, for the account root "
        "in a key policy, `kms:*` are let through."
    ),
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    judges=EachResource((*IDENTITY_DOCUMENTS, *RESOURCE_DOCUMENTS), check),
)
