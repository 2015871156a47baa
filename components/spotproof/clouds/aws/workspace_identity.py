"""What a workspace's jobs may do in AWS: read and write their own prefix of the bucket, and nothing else."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.documents import allow, document, trusts_pods
from spotproof.clouds.aws.names import Names, bucket_arn
from spotproof.clouds.aws.roles import make_role
from spotproof.clouds.options import after, child_of


class WorkspaceIdentityArgs(TypedDict):
    """One service account of one namespace."""

    cluster_name: str
    """Name of the EKS cluster; it runs the Pod Identity agent."""
    account_id: str
    """The 12 digits of the account."""
    region: str
    """The AWS region."""
    namespace: str
    """The namespace; also the prefix of the bucket that its jobs own."""
    service_account: str
    """The service account of the jobs."""
    bucket_name: str
    """The checkpoint bucket."""


class WorkspaceIdentity(pulumi.ComponentResource):
    """EKS Pod Identity for a service account, scoped to `s3://<bucket>/<namespace>/`.

    The bucket has versions, and the role may not delete those: a job's bug, or whoever takes the job over, cannot take
    the last good checkpoint along.
    """

    role_arn: str
    """Known at preview."""

    def __init__(self, name: str, args: WorkspaceIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        props = {"namespace": args["namespace"], "serviceAccount": args["service_account"]}
        super().__init__("spotproof:aws:WorkspaceIdentity", name, props, opts)
        names = Names(args["cluster_name"], args["account_id"], args["region"])
        word = f"workspace-{args['namespace']}"
        role = make_role(
            name,
            names,
            word,
            trust=trusts_pods(names.cluster_arn, args["namespace"], args["service_account"]),
            documents={word: prefix_document(args["bucket_name"], args["region"], args["namespace"])},
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.role_arn = role.arn
        aws.eks.PodIdentityAssociation(
            f"{name}-identity",
            cluster_name=names.cluster,
            namespace=args["namespace"],
            service_account=args["service_account"],
            role_arn=role.arn,
            opts=after(child_of(self, opts), *role.ready),
        )
        self.register_outputs({"roleArn": role.arn})


def prefix_document(bucket: str, region: str, prefix: str) -> str:
    """List, read and write one prefix; parts of an upload may be given up."""
    arn = bucket_arn(bucket, region)
    return document(
        allow(
            "ListOwnPrefix",
            ["s3:ListBucket"],
            arn,
            {"StringLike": {"s3:prefix": [prefix, f"{prefix}/*"]}},
        ),
        allow(
            "UseOwnPrefix",
            ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
            f"{arn}/{prefix}/*",
        ),
    )
