"""Which addresses each zone's subnets get."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_EIGHTHS: Final = 3
"""Bits: the range in eight parts. Six zones at most take one each for nodes and pods; the last part is for the public
subnets, which hold a NAT gateway each and nothing else."""


@dataclass(frozen=True)
class ZoneSubnets:
    """The two IPv4 ranges of one zone."""

    zone: str
    private: str
    public: str


def plan(cidr: str, zones: Sequence[str]) -> tuple[ZoneSubnets, ...]:
    """Private and public range of every zone; a zone's ranges stay when another is added behind it.

    Args:
        cidr: The VPC's range, /16 to /20: a private subnet then has 8,192 to 512 addresses.
        zones: Zone names, at most six.

    Raises:
        ValueError: more zones than parts.
    """
    *private, last = ipaddress.IPv4Network(cidr).subnets(prefixlen_diff=_EIGHTHS)
    public = list(last.subnets(prefixlen_diff=_EIGHTHS))
    if len(zones) > len(private):
        raise ValueError(f"{cidr} is cut for {len(private)} zones, and there are {len(zones)}. Name fewer zones.")
    return tuple(ZoneSubnets(zone, str(private[index]), str(public[index])) for index, zone in enumerate(zones))
