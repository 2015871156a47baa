"""Role assignments, with names that are known beforehand. Roles are Azure's own, by the id each has everywhere."""

from typing import Final

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.azure.names import Names

NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
"""Network Contributor, given over one subnet: what AKS asks for at least, and nothing of the network around it."""
CLUSTER_ADMINISTRATOR: Final = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"
"""Azure Kubernetes Service RBAC Cluster Admin: everything inside the cluster, nothing of Azure around it."""
CLUSTER_USER: Final = "4abbcc35-e782-43d8-92c5-2d3f1bd2253f"
"""Azure Kubernetes Service Cluster User Role: may fetch the kubeconfig, which holds no credential."""
BLOB_CONTRIBUTOR: Final = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
"""Storage Blob Data Contributor: read, write and delete blobs. It may not delete their earlier versions."""


def assign(  # noqa: PLR0913 - what an assignment is, each by keyword
    name: str,
    names: Names,
    *,
    role: str,
    scope: str,
    whom: str,
    principal_id: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
    principal_type: str | None = None,
) -> azure.authorization.RoleAssignment:
    """Give a role.

    Args:
        name: Name of the resource.
        names: The cluster's names.
        role: Id of the role.
        scope: Id of what it holds for.
        whom: A word that tells this principal from others of this scope; the assignment's name is made of it.
        principal_id: Object id of the principal, which may be known late.
        opts: Parent, provider, order.
        principal_type: `Group` or `ServicePrincipal`. Without it Azure looks the principal up, and does not find an
            identity that was made a moment ago.
    """
    # A principal cannot be changed in place, and the new assignment has the name of the old one.
    again = pulumi.ResourceOptions(delete_before_replace=True)
    return azure.authorization.RoleAssignment(
        name,
        role_assignment_name=names.assignment(scope, role, whom),
        role_definition_id=names.role_definition(role),
        scope=scope,
        principal_id=principal_id,
        # the SDK writes User where it finds None, which Azure refuses for a pipeline's service principal
        principal_type=principal_type or pulumi.Output.from_input(None),
        opts=pulumi.ResourceOptions.merge(opts, again),
    )
