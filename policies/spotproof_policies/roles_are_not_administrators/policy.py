"""No role of the stack owns the account."""

from collections.abc import Iterator

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, words

_ATTACHMENTS = (
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/userPolicyAttachment:UserPolicyAttachment",
    "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
    "aws:iam/policyAttachment:PolicyAttachment",
    "aws:iam/role:Role",
)
# An account's own policy may have the same name; its ARN has the account's number in this place.
_AWS_OWN = ":iam::aws:policy/"
_WHOLE_ACCOUNT = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield an attached policy of AWS that gives the whole account away."""
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


POLICY = Policy(
    name="roles-are-not-administrators",
    description="No AWS managed policy that covers the whole account is attached.",
    level="mandatory",
    severity="critical",
    remedy=(
        "Attach a policy of your own that lists its actions; in settings of ours people administer through "
        "`access.admins`."
    ),
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    judges=EachResource(_ATTACHMENTS, check),
)
