"""Reads IAM documents out of the resources that carry them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spotproof_policies.model import Resource
from spotproof_policies.reading import at, json_document, one_or_more, rows, table, text, words

IDENTITY_DOCUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "aws:iam/policy:Policy": ("policy",),
    "aws:iam/rolePolicy:RolePolicy": ("policy",),
    "aws:iam/userPolicy:UserPolicy": ("policy",),
    "aws:iam/groupPolicy:GroupPolicy": ("policy",),
}
"""Documents that say what a principal may do: `*` as a resource means everything in the account."""

RESOURCE_DOCUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "aws:iam/role:Role": ("assumeRolePolicy",),
    "aws:sqs/queuePolicy:QueuePolicy": ("policy",),
    "aws:s3/bucketPolicy:BucketPolicy": ("policy",),
    "aws:kms/key:Key": ("policy",),
    "aws:kms/keyPolicy:KeyPolicy": ("policy",),
}
"""Documents that sit on what they guard: `*` as a resource means this key, this queue."""


def documents(resource: Resource, keys: Mapping[str, tuple[str, ...]]) -> Iterator[Mapping[str, Any]]:
    """Every document of the resource under the given keys, and the inline documents of a role."""
    for key in keys.get(resource.type, ()):
        if key in set(resource.props):
            yield json_document(resource.props[key])


def inline_documents(resource: Resource) -> Iterator[Mapping[str, Any]]:
    """The documents written inside a role."""
    if resource.type == "aws:iam/role:Role":
        for inline in rows(at(resource.props, "inlinePolicies")):
            yield json_document(at(inline, "policy"))


def statements(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The statements; a single one may stand without its list."""
    return tuple(table(statement) for statement in one_or_more(at(document, "Statement")))


def allows(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The statements that give something; a Deny may be as wide as it likes."""
    return (statement for statement in statements(document) if at(statement, "Effect") == "Allow")


def label(statement: Mapping[str, Any]) -> str:
    """How a sentence calls a statement."""
    sid = text(at(statement, "Sid"))
    return f"statement `{sid}`" if sid else "statement without a Sid"


def services(statement: Mapping[str, Any]) -> tuple[str, ...]:
    """The service principals of a statement."""
    return words(at(statement, "Principal", "Service"))


def refuses_plain_http(document: Mapping[str, Any], action: str) -> bool:
    """Whether everybody is denied `action` over connections without TLS."""
    return any(
        at(statement, "Effect") == "Deny"
        and _is_everybody(at(statement, "Principal"))
        and action in words(at(statement, "Action"))
        and str(at(statement, "Condition", "Bool", "aws:SecureTransport")).lower() == "false"
        for statement in statements(document)
    )


def _is_everybody(principal: Any) -> bool:
    return principal == "*" or "*" in words(at(principal, "AWS"))
