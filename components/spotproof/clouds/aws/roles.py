"""Roles with their policies, as every part here makes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.names import Names


@dataclass(frozen=True)
class MadeRole:
    """A role that exists with all its rights once `ready` does. Name and ARN are plain text, known at preview."""

    name: str
    arn: str
    ready: Sequence[pulumi.Resource]


def make_role(  # noqa: PLR0913 - what a role is, each by keyword
    name: str,
    names: Names,
    word: str,
    *,
    trust: str,
    opts: pulumi.ResourceOptions,
    documents: Mapping[str, str] | None = None,
    managed: Sequence[str] = (),
) -> MadeRole:
    """A role with policies of ours and of AWS.

    Args:
        name: Prefix of the resources.
        names: The cluster's names.
        word: What the role is for; becomes part of its name.
        trust: The document that says who takes it.
        opts: Parent and provider of the resources.
        documents: Documents of ours by the word that names their policy.
        managed: Policies of AWS, each by path and name.
    """
    role = aws.iam.Role(f"{name}-{word}", name=names.role(word), assume_role_policy=trust, opts=opts)
    attached: list[pulumi.Resource] = [role]
    for policy, text in (documents or {}).items():
        ours = aws.iam.Policy(f"{name}-{policy}", name=names.policy(policy), policy=text, opts=opts)
        attached.append(
            aws.iam.RolePolicyAttachment(f"{name}-{policy}", role=role.name, policy_arn=ours.arn, opts=opts)
        )
    attached += [
        aws.iam.RolePolicyAttachment(
            f"{name}-{word}-{path.rpartition('/')[2]}",
            role=role.name,
            policy_arn=names.managed_policy_arn(path),
            opts=opts,
        )
        for path in managed
    ]
    return MadeRole(names.role(word), names.role_arn(word), attached)
