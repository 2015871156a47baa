"""What AWS resources cost per hour. Pure: reads plain inputs, imports no SDK."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from spotproof.clouds.charges import KARPENTER_POOL, Bill, Billed, ByUse, Charge, Item, Ledger, PoolCharge, at
from spotproof.prices import Price
from spotproof.vocabulary import KARPENTER_CAPACITY_LABEL, ON_DEMAND, SPOT, Capacity

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


def bill(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """The charges of one resource; a type that is neither priced, free nor billed by use is named as unpriced."""
    if handler := BILLS.get(resource.type):
        yield from handler(resource, ledger)
    elif what := BY_USE.get(resource.type):
        yield ByUse(what)
    elif not resource.type.startswith(FREE):
        yield Charge(resource.type, 1, None)


def _service(item: str, what: str) -> Bill:
    def one(resource: Billed, ledger: Ledger) -> Iterator[Item]:
        yield Charge(what, 1, ledger.prices.service(CLOUD, ledger.region(resource), item))

    return one


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
    spec = at(resource.inputs, "spec", "template", "spec")
    capacity = _capacity(_values(spec, KARPENTER_CAPACITY_LABEL))
    types = _values(spec, "node.kubernetes.io/instance-type")
    region = ledger.region(resource)
    priced = {name: price for name in types if (price := ledger.prices.node(CLOUD, region, name, capacity))}
    dearest = max(priced, key=lambda name: priced[name].usd_per_hour, default="")
    disk = ledger.prices.service(CLOUD, region, "ebs/gp3-gib")
    gib = _pool_disk(spec, ledger)
    nodes = at(resource.inputs, "spec", "limits", "nodes")
    yield PoolCharge(
        pool=str(at(resource.inputs, "metadata", "name") or resource.name),
        capacity=capacity,
        nodes=int(str(nodes)) if str(nodes).isdigit() else None,
        instance_type=dearest,
        price=_with_disk(priced.get(dearest), disk, gib),
        on_demand=_with_disk(ledger.prices.node(CLOUD, region, dearest, ON_DEMAND), disk, gib),
        unpriced=tuple(name for name in types if name not in priced),
    )


def _capacity(values: list[str]) -> Capacity:
    """A pool that allows both is billed as on-demand, which is the most it can cost."""
    return SPOT if values == [SPOT] else ON_DEMAND


def _values(spec: object, key: str) -> list[str]:
    requirements = at(spec, "requirements")
    for requirement in requirements if isinstance(requirements, list) else ():
        values = at(requirement, "values")
        if at(requirement, "key") == key and at(requirement, "operator") == "In" and isinstance(values, list):
            return [str(value) for value in values]
    return []


def _pool_disk(spec: object, ledger: Ledger) -> float:
    name = at(spec, "nodeClassRef", "name")
    for resource in ledger.resources.values():
        if resource.type == NODE_CLASS and at(resource.inputs, "metadata", "name") == name:
            return _volumes(at(resource.inputs, "spec", "blockDeviceMappings"))
    return 0.0


def _with_disk(node: Price | None, disk: Price | None, gib: float) -> Price | None:
    if node is None or disk is None:
        return node
    usd = node.usd_per_hour + disk.usd_per_hour * gib
    return replace(node, usd_per_hour=usd, borrowed=node.borrowed or (disk.borrowed and gib > 0))


BILLS: Final[Mapping[str, Bill]] = MappingProxyType(
    {
        "aws:eks/cluster:Cluster": _service("eks/cluster", "EKS control plane"),
        "aws:ec2/natGateway:NatGateway": _service("vpc/nat-gateway", "NAT gateway (data apart)"),
        "aws:ec2/eip:Eip": _service("vpc/public-ipv4", "public IPv4 address"),
        "aws:kms/key:Key": _service("kms/key", "KMS key"),
        "aws:ec2/vpcEndpoint:VpcEndpoint": _endpoint,
        "aws:eks/nodeGroup:NodeGroup": _node_group,
        KARPENTER_POOL: _karpenter_pool,
    }
)
