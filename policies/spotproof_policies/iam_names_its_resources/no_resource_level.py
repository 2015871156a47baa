"""Actions for which AWS defines no resource type, so that `*` is the only resource they accept.

Source: the AWS Service Authorization Reference, tables of the services named here, empty column
"Resource types". Only what clusters and their controllers use is listed; the policy's configuration takes more.
"""

from typing import Final

_EC2_READS = (
    "DescribeAddresses",
    "DescribeAvailabilityZones",
    "DescribeCapacityReservations",
    "DescribeImages",
    "DescribeInstances",
    "DescribeInstanceStatus",
    "DescribeInstanceTypeOfferings",
    "DescribeInstanceTypes",
    "DescribeInternetGateways",
    "DescribeLaunchTemplates",
    "DescribeLaunchTemplateVersions",
    "DescribeNetworkInterfaces",
    "DescribePlacementGroups",
    "DescribeRegions",
    "DescribeRouteTables",
    "DescribeSecurityGroups",
    "DescribeSnapshots",
    "DescribeSpotPriceHistory",
    "DescribeSubnets",
    "DescribeTags",
    "DescribeVolumes",
    "DescribeVpcs",
)

_OTHERS = (
    "cloudwatch:PutMetricData",
    "ecr:GetAuthorizationToken",
    "eks:DescribeAddonVersions",
    "eks:ListClusters",
    "iam:ListInstanceProfiles",
    "pricing:DescribeServices",
    "pricing:GetProducts",
    "s3:ListAllMyBuckets",
    "sts:GetCallerIdentity",
)

ACTIONS: Final = frozenset(action.lower() for action in (*(f"ec2:{read}" for read in _EC2_READS), *_OTHERS))
"""In lower case: IAM compares actions without case."""
