"""People: access entries, one for each principal, however many hats it wears."""

from collections.abc import Iterable, Mapping
from typing import Final, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.names import Names
from spotproof.clouds.naming import digest, slug
from spotproof.clouds.options import child_of

ADMIN: Final = "AmazonEKSClusterAdminPolicy"


class AccessArgs(TypedDict):
    """Who may do what, by IAM ARN."""

    cluster_name: str
    """Name of the EKS cluster."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""
    admins: list[str]
    """Administrators. Not whoever created the cluster: EKS made that entry, and a second one is refused."""
    members: dict[str, list[str]]
    """Namespace -> who works in it."""
    groups: dict[str, str]
    """Namespace -> the Kubernetes group of its members, which role bindings name."""


class Access(pulumi.ComponentResource):
    """Access entries: administrators of the whole cluster, members of their namespaces.

    Members get their namespaces' groups and no policy of EKS's: its edit policy knows no custom resources, while the
    groups' role bindings give them JobSets and RayJobs beside the rest.
    """

    def __init__(self, name: str, args: AccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:aws:Access", name, {"admins": args["admins"], "members": args["members"]}, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        child = child_of(self, opts)
        namespaces = by_principal(args["members"])
        for principal in sorted({*args["admins"], *namespaces}):
            own = namespaces.get(principal, [])
            label = f"{name}-{slug(principal.rpartition('/')[2])}-{digest(principal)}"
            entry = aws.eks.AccessEntry(
                label,
                cluster_name=names.cluster,
                principal_arn=principal,
                type="STANDARD",
                kubernetes_groups=[args["groups"][namespace] for namespace in own] or None,
                opts=child,
            )
            if principal in args["admins"]:
                aws.eks.AccessPolicyAssociation(
                    f"{label}-admin",
                    cluster_name=names.cluster,
                    principal_arn=entry.principal_arn,
                    policy_arn=names.access_policy_arn(ADMIN),
                    access_scope={"type": "cluster"},
                    opts=child,
                )
        self.register_outputs({})


def by_principal(members: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Principal -> its namespaces, in order."""
    namespaces: dict[str, list[str]] = {}
    for namespace, principals in sorted(members.items()):
        for principal in principals:
            namespaces.setdefault(principal, []).append(namespace)
    return namespaces
