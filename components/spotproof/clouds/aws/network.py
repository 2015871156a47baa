"""The VPC: public and private subnets over several zones, a way out, a way to S3 that costs nothing."""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws as aws

from spotproof.clouds.aws.subnets import ZoneSubnets, plan

DISCOVERY_TAG = "karpenter.sh/discovery"
"""On what Karpenter may use, with the cluster's name as its value; only on what we made."""


class NetworkArgs(TypedDict):
    """A VPC's place and size."""

    cluster_name: str
    """Name of the EKS cluster whose nodes live here; on the private subnets as their discovery tag."""
    region: str
    """The AWS region."""
    cidr: str
    """IPv4 range, /16 to /20."""
    zones: list[str]
    """Zone names, two to six."""
    nat_per_zone: NotRequired[bool]
    """One NAT gateway a zone instead of one for all, each 33 USD a month (us-east-1, July 2026). Default false."""


class Network(pulumi.ComponentResource):
    """A VPC whose nodes have private addresses only.

    Route tables are one a zone from the start, so that going from one NAT gateway to several changes routes and
    replaces nothing.
    """

    vpc_id: pulumi.Output[str]
    private_subnet_ids: list[pulumi.Output[str]]
    """In the order of the zones."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        per_zone = args.get("nat_per_zone", False)
        super().__init__("spotproof:aws:Network", name, {"cidr": args["cidr"], "natPerZone": per_zone}, opts)
        self.prefix, self.cluster, self.child = name, args["cluster_name"], pulumi.ResourceOptions(parent=self)
        ranges = plan(args["cidr"], args["zones"])
        vpc = aws.ec2.Vpc(
            f"{name}-vpc",
            cidr_block=args["cidr"],
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags={"Name": self.cluster},
            opts=self.child,
        )
        self.vpc_id = vpc.id
        # The group every VPC comes with lets its members talk freely; nothing here uses it, and now nothing can.
        aws.ec2.DefaultSecurityGroup(
            f"{name}-default", vpc_id=vpc.id, tags={"Name": f"{self.cluster}-unused"}, opts=self.child
        )
        ways_out = self._public(ranges, per_zone=per_zone)
        tables = [self._private(one, ways_out[index % len(ways_out)]) for index, one in enumerate(ranges)]
        self.private_subnet_ids = [subnet.id for subnet, _ in tables]
        aws.ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=vpc.id,
            service_name=f"com.amazonaws.{args['region']}.s3",
            vpc_endpoint_type="Gateway",
            # checkpoints and image layers would otherwise pay the NAT gateway's 0.045 USD a GB
            route_table_ids=[table.id for _, table in tables],
            tags={"Name": f"{self.cluster}-s3"},
            opts=self.child,
        )
        self.register_outputs({"vpcId": self.vpc_id})

    def _subnet(self, zone: str, kind: str, cidr: str, tags: dict[str, str]) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"{self.prefix}-{kind}-{zone}",
            vpc_id=self.vpc_id,
            availability_zone=zone,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags={"Name": f"{self.cluster}-{kind}-{zone}", **tags},
            opts=self.child,
        )

    def _table(self, word: str, subnet: aws.ec2.Subnet, **way_out: pulumi.Input[str]) -> aws.ec2.RouteTable:
        table = aws.ec2.RouteTable(
            f"{self.prefix}-{word}", vpc_id=self.vpc_id, tags={"Name": f"{self.cluster}-{word}"}, opts=self.child
        )
        aws.ec2.Route(
            f"{self.prefix}-{word}-out",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            opts=self.child,
            **way_out,
        )
        aws.ec2.RouteTableAssociation(
            f"{self.prefix}-{word}", subnet_id=subnet.id, route_table_id=table.id, opts=self.child
        )
        return table

    def _public(self, ranges: tuple[ZoneSubnets, ...], *, per_zone: bool) -> list[aws.ec2.NatGateway]:
        gateway = aws.ec2.InternetGateway(
            f"{self.prefix}-internet", vpc_id=self.vpc_id, tags={"Name": self.cluster}, opts=self.child
        )
        gateways: list[aws.ec2.NatGateway] = []
        for one in ranges:
            subnet = self._subnet(one.zone, "public", one.public, {"kubernetes.io/role/elb": "1"})
            table = self._table(f"public-{one.zone}", subnet, gateway_id=gateway.id)
            if gateways and not per_zone:
                continue
            address = aws.ec2.Eip(
                f"{self.prefix}-nat-{one.zone}",
                domain="vpc",
                tags={"Name": f"{self.cluster}-nat-{one.zone}"},
                opts=pulumi.ResourceOptions(parent=self, depends_on=[gateway]),
            )
            gateways.append(
                aws.ec2.NatGateway(
                    f"{self.prefix}-nat-{one.zone}",
                    subnet_id=subnet.id,
                    allocation_id=address.allocation_id,
                    tags={"Name": f"{self.cluster}-{one.zone}"},
                    opts=pulumi.ResourceOptions(parent=self, depends_on=[table]),
                )
            )
        return gateways

    def _private(self, one: ZoneSubnets, way_out: aws.ec2.NatGateway) -> tuple[aws.ec2.Subnet, aws.ec2.RouteTable]:
        tags = {"kubernetes.io/role/internal-elb": "1", DISCOVERY_TAG: self.cluster}
        subnet = self._subnet(one.zone, "private", one.private, tags)
        return subnet, self._table(f"private-{one.zone}", subnet, nat_gateway_id=way_out.id)
