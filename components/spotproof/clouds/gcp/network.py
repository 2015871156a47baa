"""The VPC: one subnet with ranges of its own for pods and services, and a way out for nodes without addresses."""

from typing import Final, TypedDict

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.gcp.names import Names
from spotproof.settings.gcp.addresses import plan

PODS: Final = "pods"
SERVICES: Final = "services"
MAX_PORTS: Final = 4096
"""Connections one node may have open to one address outside: image pulls of several pods at once want hundreds."""


class NetworkArgs(TypedDict):
    """A VPC's place and size."""

    cluster_name: str
    """Name of the GKE cluster whose nodes live here."""
    project: str
    """The project's id."""
    region: str
    """The region."""
    cidr: str
    """IPv4 range, /16 to /20, cut into parts for nodes, pods and services."""


class Network(pulumi.ComponentResource):
    """A VPC whose nodes have private addresses only, and reach Google's APIs without leaving its network.

    Cloud NAT is one for the region and survives the loss of a zone by itself: it is no machine.
    """

    network_id: pulumi.Output[str]
    subnetwork_id: pulumi.Output[str]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("spotproof:gcp:Network", name, {"cidr": args["cidr"]}, opts)
        names = Names(args["cluster_name"], args["project"], args["region"])
        child = pulumi.ResourceOptions(parent=self)
        ranges = plan(args["cidr"])
        network = gcp.compute.Network(
            f"{name}-vpc", name=names.network, auto_create_subnetworks=False, routing_mode="REGIONAL", opts=child
        )
        subnetwork = gcp.compute.Subnetwork(
            f"{name}-nodes",
            name=names.part("nodes"),
            network=network.id,
            region=args["region"],
            ip_cidr_range=ranges.nodes,
            secondary_ip_ranges=[
                {"range_name": PODS, "ip_cidr_range": ranges.pods},
                {"range_name": SERVICES, "ip_cidr_range": ranges.services},
            ],
            # checkpoints and images of Artifact Registry would otherwise pay Cloud NAT's 0.045 USD a GiB
            private_ip_google_access=True,
            opts=child,
        )
        router = gcp.compute.Router(
            f"{name}-router", name=names.part("router"), network=network.id, region=args["region"], opts=child
        )
        gcp.compute.RouterNat(
            f"{name}-nat",
            name=names.part("nat"),
            router=router.name,
            region=args["region"],
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": subnetwork.id, "source_ip_ranges_to_nats": ["ALL_IP_RANGES"]}],
            enable_dynamic_port_allocation=True,
            enable_endpoint_independent_mapping=False,  # excludes the former
            max_ports_per_vm=MAX_PORTS,
            log_config={"enable": True, "filter": "ERRORS_ONLY"},
            opts=child,
        )
        self.network_id, self.subnetwork_id = network.id, subnetwork.id
        self.register_outputs({"networkId": self.network_id})
