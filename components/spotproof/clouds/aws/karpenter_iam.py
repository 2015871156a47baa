"""What the Karpenter controller may do, as six documents: one would exceed the 6,144 characters IAM allows.

Rights and conditions follow the template that Karpenter publishes for 1.14.1 (aws/karpenter-provider-aws,
getting-started cloudformation.yaml at v1.14.1): it may start anything, but change and end only what it started
for this cluster.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spotproof.clouds.aws.documents import Statement, allow, document
from spotproof.clouds.aws.names import Names

_TAGGED_ON_CREATION: Final = (
    "fleet",
    "instance",
    "volume",
    "network-interface",
    "launch-template",
    "spot-instances-request",
)
_LAUNCH: Final = ("ec2:RunInstances", "ec2:CreateFleet")
_NODEPOOL: Final = "karpenter.sh/nodepool"
_CLASS: Final = "karpenter.k8s.aws/ec2nodeclass"
_REGION: Final = "topology.kubernetes.io/region"


def documents(names: Names, node_role: str) -> Mapping[str, str]:
    """The six documents by the word that names their policy.

    Args:
        names: The cluster's names.
        node_role: Name of the role of the nodes, the only one that Karpenter may hand to a machine.
    """
    return {
        "karpenter-nodes": document(*_node_lifecycle(names)),
        "karpenter-iam": document(*_iam_integration(names, node_role)),
        "karpenter-eks": document(allow("AllowClusterDiscovery", ["eks:DescribeCluster"], names.cluster_arn)),
        "karpenter-queue": document(
            allow(
                "AllowInterruptionQueue",
                ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
                names.queue_arn,
            )
        ),
        "karpenter-zones": document(
            allow(
                "AllowZonalShift",
                ["arc-zonal-shift:GetManagedResource"],
                names.cluster_arn,
                {"StringEquals": {"arc-zonal-shift:ResourceIdentifier": names.cluster_arn}},
            )
        ),
        "karpenter-discovery": document(*_discovery(names)),
    }


def _owned(names: Names, kind: str) -> dict[str, Any]:
    """The pair of tags by which Karpenter knows its own, on a request or on a resource."""
    return {
        "StringEquals": {f"aws:{kind}Tag/kubernetes.io/cluster/{names.cluster}": "owned"},
        "StringLike": {f"aws:{kind}Tag/{_NODEPOOL}": "*"},
    }


def _owned_request(names: Names) -> dict[str, Any]:
    condition = _owned(names, "Request")
    condition["StringEquals"]["aws:RequestTag/eks:eks-cluster-name"] = names.cluster
    return condition


def _ec2(names: Names, kinds: Sequence[str]) -> list[str]:
    return [f"arn:{names.partition}:ec2:{names.region}:*:{kind}/*" for kind in kinds]


def _node_lifecycle(names: Names) -> list[Statement]:
    creation = _owned_request(names)
    creation["StringEquals"]["ec2:CreateAction"] = ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]
    return [
        allow(
            "AllowScopedEC2InstanceAccessActions",
            _LAUNCH,
            [
                *(f"arn:{names.partition}:ec2:{names.region}::{kind}/*" for kind in ("image", "snapshot")),
                *_ec2(names, ("security-group", "subnet", "capacity-reservation", "placement-group")),
            ],
        ),
        allow(
            "AllowScopedEC2LaunchTemplateAccessActions",
            _LAUNCH,
            _ec2(names, ("launch-template",)),
            _owned(names, "Resource"),
        ),
        allow(
            "AllowScopedEC2InstanceActionsWithTags",
            [*_LAUNCH, "ec2:CreateLaunchTemplate"],
            _ec2(names, _TAGGED_ON_CREATION),
            _owned_request(names),
        ),
        allow("AllowScopedResourceCreationTagging", ["ec2:CreateTags"], _ec2(names, _TAGGED_ON_CREATION), creation),
        allow(
            "AllowScopedResourceTagging",
            ["ec2:CreateTags"],
            _ec2(names, ("instance",)),
            {
                **_owned(names, "Resource"),
                "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": names.cluster},
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
                },
            },
        ),
        allow(
            "AllowScopedDeletion",
            ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            _ec2(names, ("instance", "launch-template")),
            _owned(names, "Resource"),
        ),
    ]


def _iam_integration(names: Names, node_role: str) -> list[Statement]:
    profiles = names.iam_arn("instance-profile/*")
    return [
        allow(
            "AllowPassingInstanceRole",
            ["iam:PassRole"],
            names.iam_arn(f"role/{node_role}"),
            {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
        ),
        allow(
            "AllowScopedInstanceProfileCreationActions",
            ["iam:CreateInstanceProfile"],
            profiles,
            _profile(names, ("Request",), named=("Request",)),
        ),
        allow(
            "AllowScopedInstanceProfileTagActions",
            ["iam:TagInstanceProfile"],
            profiles,
            _profile(names, ("Resource", "Request"), named=("Request",)),
        ),
        allow(
            "AllowScopedInstanceProfileActions",
            ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
            profiles,
            _profile(names, ("Resource",), named=()),
        ),
    ]


def _profile(names: Names, kinds: Sequence[str], named: Sequence[str]) -> dict[str, Any]:
    equals: dict[str, str] = {}
    for kind in kinds:
        equals[f"aws:{kind}Tag/kubernetes.io/cluster/{names.cluster}"] = "owned"
        equals[f"aws:{kind}Tag/{_REGION}"] = names.region
    for kind in named:
        equals[f"aws:{kind}Tag/eks:eks-cluster-name"] = names.cluster
    return {"StringEquals": equals, "StringLike": {f"aws:{kind}Tag/{_CLASS}": "*" for kind in kinds}}


def _discovery(names: Names) -> list[Statement]:
    reads = (
        "CapacityReservations",
        "Images",
        "Instances",
        "InstanceStatus",
        "InstanceTypeOfferings",
        "InstanceTypes",
        "LaunchTemplates",
        "PlacementGroups",
        "SecurityGroups",
        "SpotPriceHistory",
        "Subnets",
    )
    return [
        allow(
            "AllowRegionalReadActions",
            [f"ec2:Describe{read}" for read in reads],
            "*",
            {"StringEquals": {"aws:RequestedRegion": names.region}},
        ),
        allow(
            "AllowSSMReadActions",
            ["ssm:GetParameter"],
            f"arn:{names.partition}:ssm:{names.region}::parameter/aws/service/*",
        ),
        allow("AllowPricingReadActions", ["pricing:GetProducts"], "*"),
        allow("AllowUnscopedInstanceProfileListAction", ["iam:ListInstanceProfiles"], "*"),
        allow("AllowInstanceProfileReadActions", ["iam:GetInstanceProfile"], names.iam_arn("instance-profile/*")),
    ]
