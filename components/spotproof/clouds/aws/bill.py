"""What AWS resources cost per hour. Pure: reads plain inputs, imports no SDK."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from spotproof.clouds.charges import KARPENTER_POOL, Bill, Billed, Charge, Item, Ledger, at
from spotproof.clouds.tariff import KarpenterPool, Nodes, tariff, unit
from spotproof.vocabulary import ON_DEMAND, SPOT, Capacity

CLOUD: Final = "aws"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
DEFAULT_NODE_GROUP_DISK_GIB: Final = 20
"""What EKS gives a node group that says nothing (EKS API reference, CreateNodegroup diskSize)."""

FREE: Final = (
    "aws:iam/",
    "aws:eks/accessEntry",
    "aws:eks/accessPolicyAssociation",
    "aws:eks/addon",
    "aws:eks/podIdentityAssociation",
    "aws:cloudwatch/eventRule",
    "aws:cloudwatch/eventTarget",
    "aws:ec2/internetGateway",
    "aws:ec2/launchTemplate",
    "aws:ec2/mainRouteTable",
    "aws:ec2/route",
    "aws:ec2/securityGroup",
    "aws:ec2/subnet",
    "aws:ec2/tag",
    "aws:ec2/vpc:",
    "aws:ec2/defaultSecurityGroup",
    "aws:kms/alias",
    "aws:s3/bucketLifecycle",
    "aws:s3/bucketOwnership",
    "aws:s3/bucketPolicy",
    "aws:s3/bucketPublicAccess",
    "aws:s3/bucketServerSide",
    "aws:s3/bucketVersioning",
    "aws:sqs/queuePolicy",
    "aws:vpc/securityGroup",
)
"""Beginnings of types that cost nothing themselves (EC2, IAM, EKS and S3 price pages)."""

BY_USE: Final = MappingProxyType(
    {
        "aws:s3/bucket:Bucket": "S3: stored and requested",
        "aws:cloudwatch/logGroup:LogGroup": "CloudWatch: log data taken in and kept",
        "aws:sqs/queue:Queue": "SQS: requests beyond the free million",
        "aws:ec2/flowLog:FlowLog": "VPC flow logs: log data taken in",
    }
)


def _endpoint(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """A gateway endpoint is free; an interface endpoint is not, and has no price here yet."""
    del ledger
    if resource.inputs.get("vpcEndpointType", "Gateway") != "Gateway":
        yield Charge(f"{resource.type} ({resource.name})", 1, None)


def _node_group(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    count = at(resource.inputs, "scalingConfig", "desiredSize")
    instance_type = at(resource.inputs, "instanceTypes", 0) or "t3.medium"
    capacity: Capacity = SPOT if resource.inputs.get("capacityType") == "SPOT" else ON_DEMAND
    nodes = float(count) if isinstance(count, int | float) else 1.0
    region = ledger.region(resource)
    what = f"{resource.name}: {instance_type} {capacity}"
    yield Charge(what, nodes, ledger.prices.node(CLOUD, region, str(instance_type), capacity))
    gib = _node_group_disk(resource, ledger)
    yield Charge(f"{resource.name}: disk, GiB", nodes * gib, ledger.prices.service(CLOUD, region, "ebs/gp3-gib"))


def _node_group_disk(resource: Billed, ledger: Ledger) -> float:
    templates = [ledger.resources[urn] for urn in resource.dependencies if urn in ledger.resources]
    for template in templates:
        if template.type == LAUNCH_TEMPLATE:
            return _volumes(template.inputs.get("blockDeviceMappings"))
    size = resource.inputs.get("diskSize")
    return float(size) if isinstance(size, int | float) else DEFAULT_NODE_GROUP_DISK_GIB


def _volumes(mappings: object) -> float:
    """GiB of all volumes of a list of block device mappings; Karpenter writes `200Gi`, EC2 a number."""
    sizes = [at(mapping, "ebs", "volumeSize") for mapping in mappings] if isinstance(mappings, list) else []
    return sum(float(str(size).removesuffix("Gi")) for size in sizes if str(size).removesuffix("Gi").isdigit())


def _karpenter_pool(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    pool, region = KarpenterPool(resource), ledger.region(resource)
    disk = ledger.prices.service(CLOUD, region, "ebs/gp3-gib")
    yield Nodes(CLOUD, region, disk, _class_disk_gib(pool, ledger)).charge(
        ledger, pool=pool.name, capacity=pool.capacity, types=pool.instance_types, nodes=pool.max_nodes
    )


def _class_disk_gib(pool: KarpenterPool, ledger: Ledger) -> float:
    for resource in ledger.resources.values():
        if resource.type == NODE_CLASS and at(resource.inputs, "metadata", "name") == pool.node_class:
            return _volumes(at(resource.inputs, "spec", "blockDeviceMappings"))
    return 0.0


BILLS: Final[Mapping[str, Bill]] = MappingProxyType(
    {
        "aws:eks/cluster:Cluster": unit(CLOUD, "eks/cluster", "EKS control plane"),
        "aws:ec2/natGateway:NatGateway": unit(CLOUD, "vpc/nat-gateway", "NAT gateway (data apart)"),
        "aws:ec2/eip:Eip": unit(CLOUD, "vpc/public-ipv4", "public IPv4 address"),
        "aws:kms/key:Key": unit(CLOUD, "kms/key", "KMS key"),
        "aws:ec2/vpcEndpoint:VpcEndpoint": _endpoint,
        "aws:eks/nodeGroup:NodeGroup": _node_group,
        KARPENTER_POOL: _karpenter_pool,
    }
)

bill: Final = tariff(BILLS, BY_USE, FREE)
