"""No role of the stack owns the account, the project or the subscription."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, text, words

_ATTACHMENTS: Final = (
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/userPolicyAttachment:UserPolicyAttachment",
    "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
    "aws:iam/policyAttachment:PolicyAttachment",
    "aws:iam/role:Role",
)
# An account's own policy may have the same name; its ARN has the account's number in this place.
_AWS_OWN = ":iam::aws:policy/"
_WHOLE_ACCOUNT = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")

_BINDINGS: Final = tuple(
    f"gcp:{level}/iAM{form}:IAM{form}"
    for level in ("projects", "folder", "organizations")
    for form in ("Member", "Binding")
)
_WHOLE_PROJECT: Final = ("roles/owner", "roles/editor", "roles/resourcemanager.projectIamAdmin")

_ASSIGNMENT: Final = "azure-native:authorization:RoleAssignment"
_WHOLE_SUBSCRIPTION: Final = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}
"""Ids of Azure's built-in roles, the same in every directory."""
_PEOPLE: Final = ("User", "Group")


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield a role that gives everything away, in the cloud of the resource."""
    if resource.type in _BINDINGS:
        yield from _in_gcp(resource)
    elif resource.type == _ASSIGNMENT:
        yield from _in_azure(resource)
    else:
        yield from _in_aws(resource)


def _in_aws(resource: Resource) -> Iterator[str]:
    # AWS's own policies have fixed ARNs: one that is not known yet is a policy of this stack, judged by itself.
    for key in ("policyArn", "managedPolicyArns"):
        if not resource.is_known(key):
            continue
        for arn in words(at(resource.props, key)):
            owner, _, name = arn.partition(_AWS_OWN)
            if owner and name in _WHOLE_ACCOUNT:
                yield (
                    f"The AWS managed policy {name} is attached, so whoever takes over the role owns the account. "
                    "Attach a policy that lists the actions that are needed."
                )


def _in_gcp(resource: Resource) -> Iterator[str]:
    # A role that is not known yet is a custom one of this stack.
    role = text(at(resource.props, "role")) if resource.is_known("role") else ""
    if role in _WHOLE_PROJECT:
        yield (
            f"The role {role} is given on the whole {resource.type.partition('/')[0].partition(':')[2].rstrip('s')}, "
            "so whoever takes over a member owns everything in it. Give a role that lists what is needed, on the "
            "resource that needs it."
        )


def _in_azure(resource: Resource) -> Iterator[str]:
    # An unknown role is a custom one of this stack, an unknown scope one of its resources.
    if not resource.is_known("roleDefinitionId") or not resource.is_known("scope"):
        return
    role = _WHOLE_SUBSCRIPTION.get(text(at(resource.props, "roleDefinitionId")).rpartition("/")[2].lower())
    if role and _is_wide(text(at(resource.props, "scope"))) and not _is_people(resource):
        yield (
            f"The role {role} is assigned on a whole subscription, so whoever takes over the identity owns everything "
            "in it. Assign a role that lists what is needed, on the resource that needs it."
        )


def _is_wide(scope: str) -> bool:
    """Whether a scope is a subscription, a management group or the root, and nothing inside."""
    parts = [part for part in scope.lower().split("/") if part]
    return not parts or (parts[:1] == ["subscriptions"] and len(parts) <= 2) or "managementgroups" in parts  # noqa: PLR2004


def _is_people(resource: Resource) -> bool:
    """People own subscriptions; identities that pods can take do not."""
    return text(at(resource.props, "principalType")) in _PEOPLE


POLICY = Policy(
    name="roles-are-not-administrators",
    description="No role that covers a whole account, project or subscription is given to an identity of the stack.",
    level="mandatory",
    severity="critical",
    remedy=(
        "Give a role of your own that lists its actions; in settings of ours people administer through `access.admins`."
    ),
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    judges=EachResource((*_ATTACHMENTS, *_BINDINGS, _ASSIGNMENT), check),
)
