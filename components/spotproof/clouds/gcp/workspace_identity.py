"""What a workspace's jobs may do in GCP: read and write their own prefix of the bucket, and nothing else."""

from typing import Final, TypedDict

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.names import Names
from spotproof.clouds.options import child_of

ROLE: Final = "roles/storage.objectUser"
"""Objects and folders: read, list, write, delete. No policies and no buckets."""


class WorkspaceIdentityArgs(TypedDict):
    """One service account of one namespace."""

    cluster_name: str
    """Name of the GKE cluster; it has workload identity."""
    project: str
    """The project's id."""
    project_number: str
    """The project's number."""
    region: str
    """The region."""
    namespace: str
    """The namespace; also the prefix of the bucket that its jobs own."""
    service_account: str
    """The service account of the jobs."""
    bucket_name: pulumi.Input[str]
    """The checkpoint bucket; it has uniform access."""


class WorkspaceIdentity(pulumi.ComponentResource):
    """Workload identity for a service account, scoped to `gs://<bucket>/<namespace>/` by a managed folder.

    Not by a condition on the bucket: listing needs one of another form, and a folder's policy is seen where one looks
    for it. Give the cluster as `depends_on`: a project has its pool of identities from its first cluster on.
    """

    member: str
    """The service account as IAM names it; known at preview."""

    def __init__(self, name: str, args: WorkspaceIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        props = {"namespace": args["namespace"], "serviceAccount": args["service_account"]}
        super().__init__("spotproof:gcp:WorkspaceIdentity", name, props, opts)
        names = Names(args["cluster_name"], args["project"], args["region"], args["project_number"])
        self.member = names.service_account(args["namespace"], args["service_account"])
        folder = gcp.storage.ManagedFolder(
            f"{name}-folder",
            bucket=args["bucket_name"],
            name=f"{args['namespace']}/",
            force_destroy=True,  # what is in it stays; only the folder's policy goes
            opts=pulumi.ResourceOptions(parent=self),
        )
        gcp.storage.ManagedFolderIamMember(
            f"{name}-member",
            bucket=folder.bucket,
            managed_folder=folder.name,
            role=ROLE,
            member=self.member,
            opts=child_of(self, opts),
        )
        self.register_outputs({"member": self.member})
