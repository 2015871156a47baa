"""What the nodes themselves may do in GCP: write logs and metrics, pull images."""

from typing import Final, TypedDict

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.names import Names

ROLES: Final = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")
"""What GKE asks of a node's account, and the project's own images, which that role does not have."""


class NodeIdentityArgs(TypedDict):
    """Whose nodes."""

    cluster_name: str
    """Name of the GKE cluster."""
    project: str
    """The project's id."""
    region: str
    """The region."""


class NodeIdentity(pulumi.ComponentResource):
    """A service account for the nodes of one environment.

    Without it they take Compute Engine's default account, which often is an editor of the project.
    """

    email: str
    """Known at preview."""

    def __init__(self, name: str, args: NodeIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:gcp:NodeIdentity", name, {"roles": list(ROLES)}, opts)
        names = Names(args["cluster_name"], args["project"], args["region"])
        self.email = names.node_account_email
        child = pulumi.ResourceOptions(parent=self)
        account = gcp.serviceaccount.Account(
            f"{name}-account",
            account_id=names.node_account,
            display_name=f"Nodes of {names.cluster}",
            opts=child,
        )
        members = [
            gcp.projects.IAMMember(
                f"{name}-{role.rpartition('/')[2]}",
                project=names.project,
                role=role,
                member=f"serviceAccount:{self.email}",
                opts=pulumi.ResourceOptions(parent=self, depends_on=[account]),
            )
            for role in ROLES
        ]
        # the account with its roles; an annotation of the class would be an output, which plain resources cannot be
        self.ready = [account, *members]
        self.register_outputs({"email": self.email})
