"""People: the groups that may fetch the kubeconfig, each once, however many hats it wears."""

from typing import TypedDict

import pulumi

from spotproof.clouds.azure.names import Names
from spotproof.clouds.azure.roles import CLUSTER_USER, assign
from spotproof.clouds.naming import digest
from spotproof.clouds.options import child_of


class AccessArgs(TypedDict):
    """Who uses the cluster, by object id of their Entra group."""

    cluster_name: str
    """Name of the AKS cluster."""
    subscription_id: str
    """The subscription."""
    location: str
    """The Azure region."""
    resource_group_name: str
    """The resource group of the cluster."""
    groups: list[str]
    """Object ids of Entra groups: administrators and members of workspaces."""


class Access(pulumi.ComponentResource):
    """The role that lets a group run `az aks get-credentials`.

    What it may do inside is said elsewhere: administrators are the cluster's own setting, members have role bindings in
    their namespaces, by the group's object id. On a cluster with Azure RBAC both are asked, Kubernetes' bindings and
    Azure's assignments, and one that allows is enough (AKS docs, cluster authorization, 2026-04; azure-aks-docs #257).
    Azure's built-in roles know no custom resources, while the bindings give members JobSets and RayJobs too.
    """

    def __init__(self, name: str, args: AccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:azure:Access", name, {"groups": args["groups"]}, opts)
        names = Names(args["cluster_name"], args["subscription_id"], args["location"], args["resource_group_name"])
        for group in sorted({*args["groups"]}):
            assign(
                f"{name}-{digest(group)}",
                names,
                role=CLUSTER_USER,
                scope=names.cluster_id,
                whom=group,
                principal_id=group,
                principal_type="Group",
                opts=child_of(self, opts),
            )
        self.register_outputs({})
