"""Karpenter's nodes join with a role of their own and an access entry made for nodes."""

from collections.abc import Iterator
from typing import Any

from spotproof_policies.karpenter_pools import EC2_NODE_CLASS
from spotproof_policies.model import Config, Finding, Policy, Stack, WholeStack
from spotproof_policies.reading import at, table, text

_ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"
_NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
_CLUSTER = "aws:eks/cluster:Cluster"
_NODE_TYPES = ("EC2_LINUX", "EC2_WINDOWS")


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield what keeps the nodes of a node class from joining, or makes EKS refuse the stack."""
    with_role = [one for one in stack.of(EC2_NODE_CLASS) if "role" in set(table(at(one.props, "spec")))]
    if not with_role:
        return
    entries = stack.of(_ACCESS_ENTRY)
    roles = {text(at(one.props, "spec", "role")): one for one in with_role}
    for role, node_class in roles.items():
        matching = [entry for entry in entries if _role_name(at(entry.props, "principalArn")) == role]
        if not matching and stack.of(_CLUSTER):
            yield Finding(
                node_class,
                f"No access entry admits the node role `{role}`, so its machines start, never join and are paid for "
                "15 minutes each. Add an AccessEntry of type EC2_LINUX for the role.",
            )
        for entry in matching:
            entry_type = text(at(entry.props, "type")) or "STANDARD"
            if entry_type not in _NODE_TYPES:
                yield Finding(
                    entry,
                    f"The access entry of the node role is of type {entry_type}, which is for people, so nodes may not "
                    "register. Write type EC2_LINUX; the type cannot be changed later.",
                )
    for group in stack.of(_NODE_GROUP):
        role = _role_name(at(group.props, "nodeRoleArn"))
        if role in roles:
            yield Finding(
                group,
                f"This managed node group uses the role `{role}` of Karpenter's nodes; EKS makes the access entry for "
                "it by itself, and the explicit one collides. Give Karpenter's nodes a role of their own.",
            )


def _role_name(arn: Any) -> str:
    return text(arn).rpartition("/")[2]


POLICY = Policy(
    name="karpenter-nodes-have-their-own-role",
    description="Karpenter's nodes have a role of their own, with an access entry of type EC2_LINUX.",
    level="mandatory",
    severity="high",
    remedy="Use spotproof.clouds.aws.EksCluster, or a second role with an AccessEntry of type EC2_LINUX.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
    judges=WholeStack((EC2_NODE_CLASS, _ACCESS_ENTRY, _NODE_GROUP), check),
)
