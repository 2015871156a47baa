"""How the network's range is cut: nodes, pods and services each take a part of it."""

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spotproof.settings.pools import Pool

PODS_ACCELERATED: Final = 32
"""Pods of a node with accelerators: a trainer or a few, and about a dozen of GKE's own."""
PODS: Final = 64
"""Pods of any other node. GKE's default of 110 takes a /24 a node, of which a /16 holds 128 beside nodes."""


@dataclass(frozen=True)
class Ranges:
    """IPv4 ranges of the subnet: nodes on its primary one, pods and services on secondary ones."""

    nodes: str
    pods: str
    services: str


def plan(cidr: str) -> Ranges:
    """Half for pods, a quarter for nodes, an eighth for services; the last eighth stays free for load balancers.

    Args:
        cidr: The network's range, /16 to /20: pods then have 32,768 to 2,048 addresses.
    """
    pods, rest = ipaddress.IPv4Network(cidr).subnets()
    nodes, last = rest.subnets()
    services, _ = last.subnets()
    return Ranges(str(nodes), str(pods), str(services))


def pods_per_node(*, accelerated: bool) -> int:
    """The most pods of one node."""
    return PODS_ACCELERATED if accelerated else PODS


def needed(pools: "tuple[Pool, ...]", system_nodes: int) -> int:
    """Pod addresses when every pool is full: GKE keeps twice as many for each node as it may have pods."""
    full = sum(2 * pods_per_node(accelerated=pool.accelerator is not None) * pool.max_nodes for pool in pools)
    return full + 2 * PODS * system_nodes


def available(cidr: str) -> int:
    """Pod addresses of a network's range."""
    return ipaddress.IPv4Network(plan(cidr).pods).num_addresses
