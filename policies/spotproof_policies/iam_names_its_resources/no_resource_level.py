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

_AUTOSCALING_READS = (
    "DescribeAutoScalingGroups",
    "DescribeAutoScalingInstances",
    "DescribeLaunchConfigurations",
    "DescribeScalingActivities",
    "DescribeTags",
)

_LOAD_BALANCING_READS = (
    "DescribeListenerCertificates",
    "DescribeListeners",
    "DescribeLoadBalancerAttributes",
    "DescribeLoadBalancers",
    "DescribeRules",
    "DescribeSSLPolicies",
    "DescribeTags",
    "DescribeTargetGroupAttributes",
    "DescribeTargetGroups",
    "DescribeTargetHealth",
)

_OTHERS = (
    "cloudwatch:GetMetricData",
    "cloudwatch:GetMetricStatistics",
    "cloudwatch:ListMetrics",
    "cloudwatch:PutMetricData",
    "ecr:GetAuthorizationToken",
    "eks:DescribeAddonVersions",
    "eks:ListClusters",
    "iam:ListInstanceProfiles",
    "pricing:DescribeServices",
    "pricing:GetProducts",
    "route53:ListHostedZones",
    "route53:ListHostedZonesByName",
    "s3:ListAllMyBuckets",
    "secretsmanager:ListSecrets",
    "ssm:DescribeParameters",
    "sts:GetCallerIdentity",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
)

_READS = {"ec2": _EC2_READS, "autoscaling": _AUTOSCALING_READS, "elasticloadbalancing": _LOAD_BALANCING_READS}

ACTIONS: Final = frozenset(
    action.lower()
    for action in (*(f"{service}:{read}" for service, reads in _READS.items() for read in reads), *_OTHERS)
)
"""In lower case: IAM compares actions without case."""
