"""What a workspace's jobs may do in Azure: read and write their own container, and nothing else."""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.azure.names import Names
from spotproof.clouds.azure.roles import BLOB_CONTRIBUTOR, assign
from spotproof.clouds.options import after, child_of

AUDIENCE = "api://AzureADTokenExchange"
MAX_CREDENTIALS = 20
"""Federated credentials of one identity (Entra ID, service limits)."""


class WorkspaceIdentityArgs(TypedDict):
    """The service accounts of one namespace, and the container they may use."""

    cluster_name: str
    """Name of the AKS cluster."""
    subscription_id: str
    """The subscription."""
    location: str
    """The Azure region."""
    resource_group_name: str
    """The resource group of cluster and storage account."""
    oidc_issuer_url: pulumi.Input[str]
    """Who signs the cluster's service account tokens."""
    namespace: str
    """The namespace."""
    service_accounts: list[str]
    """Service accounts of its jobs, at most 20. Each is annotated with `azure.workload.identity/client-id`."""
    account_name: str
    """The storage account."""
    container_name: str
    """The container, which exists."""
    tags: NotRequired[dict[str, str]]
    """Tags of the identity."""


class WorkspaceIdentity(pulumi.ComponentResource):
    """A user-assigned identity that service accounts become by workload identity, scoped to one container.

    The container has versions, and the role may not delete those: a job's bug, or whoever takes the job over, cannot
    take the last good checkpoint along. Pods also carry the label `azure.workload.identity/use: "true"`.

    Raises:
        ValueError: more service accounts than Entra ID takes for one identity.
    """

    client_id: pulumi.Output[str]
    """For the annotation of the service accounts. Made by Azure."""

    def __init__(self, name: str, args: WorkspaceIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        namespace, accounts = args["namespace"], args["service_accounts"]
        if len(accounts) > MAX_CREDENTIALS:
            raise ValueError(
                f"{name} has {len(accounts)} service accounts, and one identity takes {MAX_CREDENTIALS} federated "
                "credentials. Make a second WorkspaceIdentity, or let jobs share service accounts."
            )
        super().__init__(
            "spotproof:azure:WorkspaceIdentity", name, {"namespace": namespace, "serviceAccounts": accounts}, opts
        )
        names = Names(args["cluster_name"], args["subscription_id"], args["location"], args["resource_group_name"])
        child = child_of(self, opts)
        identity_name = names.identity(f"workspace-{namespace}")
        identity = azure.managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_name_=identity_name,
            resource_group_name=names.resource_group,
            location=names.location,
            tags=args.get("tags") or None,
            opts=child,
        )
        self.client_id = identity.client_id
        assign(
            f"{name}-container",
            names,
            role=BLOB_CONTRIBUTOR,
            scope=names.container_id(args["account_name"], args["container_name"]),
            whom=f"workspace-{namespace}",
            principal_id=identity.principal_id,
            principal_type="ServicePrincipal",
            opts=child,
        )
        before: pulumi.Resource = identity
        for account in accounts:
            # Entra ID refuses two writes to one identity at a time: each waits for the one before it.
            before = azure.managedidentity.FederatedIdentityCredential(
                f"{name}-{account}",
                federated_identity_credential_resource_name=names.credential(namespace, account),
                resource_name_=identity_name,
                resource_group_name=names.resource_group,
                issuer=args["oidc_issuer_url"],
                subject=f"system:serviceaccount:{namespace}:{account}",
                audiences=[AUDIENCE],
                opts=after(child, before),
            )
        self.register_outputs({"clientId": self.client_id})
