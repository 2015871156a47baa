"""The virtual network: one subnet for nodes, a way out, a way to storage that stays in Azure."""

import ipaddress
from typing import NotRequired, TypedDict

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.azure.names import SUBNET, Names
from spotproof.clouds.options import after, child_of


class NetworkArgs(TypedDict):
    """A virtual network's place and size."""

    cluster_name: str
    """Name of the AKS cluster whose nodes live here."""
    subscription_id: str
    """The subscription."""
    location: str
    """The Azure region."""
    resource_group_name: str
    """The resource group, which exists."""
    cidr: str
    """IPv4 range, /16 to /20."""
    tags: NotRequired[dict[str, str]]
    """Tags of what is made."""


class Network(pulumi.ComponentResource):
    """A network whose nodes have private addresses only, and one public address by which they go out.

    A subnet spans all zones of a region. It is the first half of the range, as only nodes take addresses of it: pods
    have a range of their own that no network sees. The second half is left for what you put beside.
    """

    subnet_id: str
    """Known at preview."""
    outbound_ip: pulumi.Output[str]
    """The address nodes are seen by outside."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:azure:Network", name, {"cidr": args["cidr"]}, opts)
        names = Names(args["cluster_name"], args["subscription_id"], args["location"], args["resource_group_name"])
        child, tags = child_of(self, opts), args.get("tags") or None
        self.subnet_id = names.subnet_id
        address = azure.network.PublicIPAddress(
            f"{name}-out",
            public_ip_address_name=names.part("out"),
            resource_group_name=names.resource_group,
            location=names.location,
            public_ip_allocation_method="Static",
            public_ip_address_version="IPv4",
            sku={"name": "Standard"},
            tags=tags,
            opts=child,
        )
        # A load balancer would give each node 1,024 ports or fewer to go out by, and a gang that pulls images and
        # writes logs runs out of them.
        gateway = azure.network.NatGateway(
            f"{name}-nat",
            nat_gateway_name=names.part("nat"),
            resource_group_name=names.resource_group,
            location=names.location,
            sku={"name": "Standard"},
            public_ip_addresses=[{"id": address.id}],
            tags=tags,
            opts=child,
        )
        network = azure.network.VirtualNetwork(
            f"{name}-network",
            virtual_network_name=names.network,
            resource_group_name=names.resource_group,
            location=names.location,
            address_space={"address_prefixes": [args["cidr"]]},
            tags=tags,
            # subnets are resources of their own; Azure lists them here too
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=["subnets"])),
        )
        first, _ = ipaddress.IPv4Network(args["cidr"]).subnets(prefixlen_diff=1)
        azure.network.Subnet(
            f"{name}-nodes",
            subnet_name=SUBNET,
            virtual_network_name=names.network,
            resource_group_name=names.resource_group,
            address_prefix=str(first),
            nat_gateway={"id": gateway.id},
            default_outbound_access=False,
            # checkpoints would otherwise pay the NAT gateway's 0.045 USD a GB, and come to storage from outside
            service_endpoints=[{"service": "Microsoft.Storage", "locations": [names.location]}],
            opts=after(child, network),
        )
        self.outbound_ip = address.ip_address.apply(_present)
        self.register_outputs({"subnetId": self.subnet_id})


def _present(address: str | None) -> str:
    # None only at a preview of an address that is not there; what takes it cannot be without a value
    return address or ""
