"""Address ranges, zones and people, as they are wrong on every cloud."""

import ipaddress
from collections.abc import Iterator

from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown

MIN_PREFIX, MAX_PREFIX = 16, 20
PRIVATE = tuple(ipaddress.IPv4Network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))


def network_ranges_fit(env: Environment) -> Iterator[Problem]:
    """The VPC's range is a private one of a size that holds the subnets, apart from the services' range."""
    key, text = "network.cidr", env.network.cidr
    network = _network(text)
    if network is None or str(network) != text:
        better = f"Write `cidr: {network}`" if network else "Write `cidr: 10.40.0.0/16`"
        yield Problem(key, f"is {shown(text)}, which is not an IPv4 range", "no subnet could be cut from it", better)
        return
    if not MIN_PREFIX <= network.prefixlen <= MAX_PREFIX:
        yield Problem(
            key,
            f"is {text}; a network here is a /{MIN_PREFIX} to /{MAX_PREFIX}",
            "larger ones are refused or wasted, and in smaller ones pods run out of addresses",
            "Write `cidr: 10.40.0.0/16`",
        )
    if not any(network.subnet_of(private) for private in PRIVATE):
        yield Problem(
            key,
            f"is {text}, which is public address space",
            "its real owners would be out of reach from the cluster",
            "Write a private range, as in 10.40.0.0/16",
        )
    for taken, whose in env.provider.reserved_ranges.items():
        if network.overlaps(ipaddress.IPv4Network(taken)):
            yield Problem(
                key,
                f"is {text} and overlaps {taken}, the range of {whose}",
                "two of them would share addresses",
                "Write another range, as in 10.40.0.0/16",
            )


def _network(text: str) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError:
        return None


def public_access_is_narrow(env: Environment) -> Iterator[Problem]:
    """Ranges that reach the API server from outside: real ones, public ones, not everybody."""
    seen: list[ipaddress.IPv4Network] = []
    for index, text in enumerate(env.control_plane.public_access_cidrs):
        key = f"controlPlane.publicAccessCidrs[{index}]"
        network = _network(text)
        if network is None or str(network) != text:
            better = f"Write {network}" if network else "Write your office's range, as in 203.0.113.0/24"
            yield Problem(key, f"is {shown(text)}, which is not an IPv4 range", "the cloud would refuse it", better)
            continue
        if network.prefixlen == 0:
            yield Problem(
                key,
                "is 0.0.0.0/0, the whole internet",
                "anybody could try their luck on the API server",
                "Write the ranges you work from, as in 203.0.113.0/24",
            )
        elif any(network.subnet_of(private) for private in PRIVATE):
            yield Problem(
                key,
                f"is {text}, a private range",
                "nobody comes to the public endpoint from there; from inside the network the private one answers",
                "Write the public range your network goes out by",
            )
        elif any(network.overlaps(other) for other in seen):
            yield Problem(
                key, f"is {text}, which overlaps one before it", "it would change nothing", "Keep the wider one"
            )
        seen.append(network)


def zones_are_named_once(env: Environment) -> Iterator[Problem]:
    """Two subnets in one zone are one subnet too many."""
    named = () if isinstance(env.network.zones, int) else env.network.zones
    for number, zone in enumerate(named):
        if zone in named[:number]:
            yield Problem(
                f"network.zones[{number}]", f"is {zone} a second time", "one zone would get two subnets", "Remove it"
            )


def people_are_listed_once(env: Environment) -> Iterator[Problem]:
    """Somebody listed twice is a slip, and often a name that was meant to be another."""
    yield from _listed_twice("access.admins", env.access.admins)
    for index, workspace in enumerate(env.workspaces):
        yield from _listed_twice(f"workspaces[{index}].members", workspace.members)


def _listed_twice(key: str, people: tuple[str, ...]) -> Iterator[Problem]:
    for index, person in enumerate(people):
        if person in people[:index]:
            yield Problem(f"{key}[{index}]", f"is {person} a second time", "it would change nothing", "Remove it")


CHECKS = (network_ranges_fit, public_access_is_narrow, zones_are_named_once, people_are_listed_once)
