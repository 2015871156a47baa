"""EC2 Spot's service-linked role: one per account, shared by every stack in it, never deleted by any.

Without it EC2 answers every spot request with `AuthFailure.ServiceLinkedRoleCreationNotPermitted`, and Karpenter takes
that for a dry market: it buys on-demand where it may and waits for ever where it may not. The remedy, once an account:

    aws iam create-service-linked-role --aws-service-name spot.amazonaws.com

Karpenter's own rights do not let it make the role.
"""

from collections.abc import Sequence
from typing import Final, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.settings.aws.model import partition

SERVICE: Final = "spot.amazonaws.com"
ROLE_NAME: Final = "AWSServiceRoleForEC2Spot"
PATH: Final = f"/aws-service-role/{SERVICE}/"
COMMAND: Final = f"aws iam create-service-linked-role --aws-service-name {SERVICE}"

MISSING: Final = (
    f"This account has no role {ROLE_NAME}, and spotServiceLinkedRole is `existing`. EC2 would refuse every spot "
    "request with AuthFailure.ServiceLinkedRoleCreationNotPermitted, and Karpenter would quietly buy on-demand or wait "
    "for ever. "
    f"Run `{COMMAND}` once, or write `spotServiceLinkedRole: create`."
)
TAKEN: Final = (
    f"If IAM answers `Service role name {ROLE_NAME} has been taken in this account`, the role is there already: write "
    "`spotServiceLinkedRole: existing`, or `adopt` if this stack is to keep it."
)

MODES: Final = ("existing", "adopt", "create")


class SpotServiceLinkedRoleArgs(TypedDict):
    """How the account comes by the role."""

    mode: str
    """`existing`: it is looked up, and `up` stops with the command when it is missing. `adopt`: it is there and this
    stack imports it. `create`: this stack makes it."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region; of it only the partition matters."""


class SpotServiceLinkedRole(pulumi.ComponentResource):
    """The role without which no spot node starts. Retained in every mode: other stacks live by it.

    `existing` asks for the roles below the service's path and looks whether there is one. A read resource would fail
    too, but with the provider's words; this fails with ours, at preview, before anything is made, and a missing right
    (iam:ListRoles) is not mistaken for a missing role. No resource is shaped by the answer: a program that created the
    role when it found none would delete it at the next `up`, when it finds one.

    `create` fails with `name has been taken` where the role is there already (one per account); the answer to that,
    `existing` or `adopt`, is said beforehand. Role names are not chosen for spot: a custom suffix is refused.

    Raises:
        ValueError: the mode is none of the three.
        pulumi.RunError: `existing`, and the account has no such role.
    """

    role_arn: str
    """Known at preview."""

    def __init__(self, name: str, args: SpotServiceLinkedRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        mode, account = args["mode"], args["account_id"]
        if mode not in MODES:
            raise ValueError(
                f"mode is {mode!r}; the role would neither be found nor made. Write one of {', '.join(MODES)}."
            )
        super().__init__(
            "spotproof:aws:SpotServiceLinkedRole",
            name,
            {"mode": mode, "accountId": account, "retainOnDelete": True},
            opts,
        )
        self.role_arn = f"arn:{partition(args['region'])}:iam::{account}:role{PATH}{ROLE_NAME}"
        found: pulumi.Input[str] = self.role_arn
        if mode == "existing":
            roles = aws.iam.get_roles_output(path_prefix=PATH, opts=pulumi.InvokeOutputOptions(parent=self))
            found = roles.arns.apply(first_or_remedy)
        else:
            if mode == "create":
                # IAM's own error has no way out in it; an error hook could print one, but those did not fire in CLIs
                # up to 3.243 (pulumi/pulumi #23344) and nobody says what a destroy without the program makes of them
                pulumi.log.info(TAKEN, resource=self)
            aws.iam.ServiceLinkedRole(
                f"{name}-role",
                aws_service_name=SERVICE,
                opts=pulumi.ResourceOptions(
                    parent=self,
                    retain_on_delete=True,
                    import_=self.role_arn if mode == "adopt" else None,
                    # it is the account's, not the stack's: whoever made it may have described and tagged it
                    ignore_changes=["description", "tags", "tagsAll"],
                ),
            )
        self.register_outputs({"roleArn": found})


def first_or_remedy(arns: Sequence[str]) -> str:
    """The role's ARN.

    Raises:
        pulumi.RunError: there is none; the text has the command that makes it.
    """
    if not arns:
        raise pulumi.RunError(MISSING)
    return arns[0]
