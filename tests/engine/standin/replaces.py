"""Inputs that cannot change in place; a real provider has them in its schema (ForceNew, immutable fields).

Only those that the edits of the tests touch, or that would make a test meaningless if they changed in place.
"""

from typing import Final

ANY_KUBERNETES_OBJECT: Final = ("metadata.name", "metadata.namespace")

REPLACES: Final[dict[str, tuple[str, ...]]] = {
    "aws:ec2/vpc:Vpc": ("cidrBlock",),
    "aws:ec2/subnet:Subnet": ("availabilityZone", "cidrBlock", "vpcId"),
    "aws:eks/cluster:Cluster": ("name", "roleArn"),
    "aws:iam/role:Role": ("name",),
    "aws:s3/bucket:Bucket": ("bucket",),
    "azure-native:containerservice:ManagedCluster": ("resourceGroupName", "resourceName"),
    "azure-native:resources:ResourceGroup": ("location", "resourceGroupName"),
    "gcp:container/cluster:Cluster": ("location", "name", "project"),
    "gcp:container/nodePool:NodePool": ("cluster", "location", "name", "nodeConfig.spot", "nodeLocations"),
    "gcp:storage/bucket:Bucket": ("location", "name"),
}


def replacing(token: str) -> tuple[str, ...]:
    """The inputs of a type whose change makes a new resource, as paths with dots."""
    return ANY_KUBERNETES_OBJECT if token.startswith("kubernetes:") else REPLACES.get(token, ())
