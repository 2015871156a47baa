"""What Azure and AKS would refuse or quietly ignore, found before anything is bought; pools have their own file."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from spotproof.settings.azure import pool_checks
from spotproof.settings.azure.regions import ZONES
from spotproof.settings.errors import Problem, shown
from spotproof.settings.stack_file import join

if TYPE_CHECKING:
    from spotproof.settings.azure.model import Azure
    from spotproof.settings.environment import Environment

GUID: Final = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
"""An id of Entra or of a subscription, as the Azure CLI prints it."""

SERVICE_CIDR: Final = "172.20.0.0/16"
"""Addresses of Kubernetes services. AKS's own default, 10.0.0.0/16, is in many networks that people peer with."""
POD_CIDR: Final = "10.192.0.0/10"
"""Addresses of pods, which no network sees. Every node takes a /24 of it, so it holds 16,384 nodes; AKS's own default
of a /16 would hold 256."""

RETAIN_DAYS: Final = (30, 730)
"""What a Log Analytics workspace of the tier PerGB2018 takes."""
MAX_RANGES: Final = 200
"""Authorised ranges of an AKS cluster; one is the way out of its own nodes."""
CONTAINER: Final = re.compile(r"^[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]$")
"""A container's name: 3 to 63 lower-case letters, digits and single hyphens."""
AKS_NAMESPACES: Final = frozenset({"gatekeeper-system", "aks-command", "app-routing-system"})
MAX_TAGS: Final = 40
"""Azure takes 50; AKS and Karpenter write some of their own."""
TAG_NAME: Final = re.compile(r"^(?!(?i:microsoft|azure|windows))[^<>%&\\?/\x00-\x1f\x7f]+$")


def check(azure: "Azure", env: "Environment") -> Iterator[Problem]:
    """Every problem this cloud's checks find."""
    for one in (*pool_checks.CHECKS, *CHECKS):
        yield from one(env)
    for one in CHECKS_OF_THE_REGION:
        yield from one(azure, env)


def zones_belong_to_the_region(azure: "Azure", env: "Environment") -> Iterator[Problem]:
    """Zone names of the network, as nodes carry them."""
    location, count, zones = azure.location, ZONES.get(azure.location, 0), env.network.zones
    if isinstance(zones, int):
        if 0 < count < zones:
            yield Problem(
                "network.zones",
                f"is {zones}, and {location} has {count}",
                "no node could be made in a zone that is not there",
                f"Write {count}, or the zones by name",
            )
        return
    known = [f"{location}-{number}" for number in range(1, count + 1)]
    for number, zone in enumerate(zones):
        if zone not in known:
            yield Problem(
                f"network.zones[{number}]",
                f"is {shown(zone)}, which is no zone of {location}{'' if count else ', as that region has none'}",
                "no node could be made there",
                f"Write a zone as in {known[0]}" if known else "Remove `zones`, or write a region that has zones",
            )


def pools_name_zones_where_there_are_some(azure: "Azure", env: "Environment") -> Iterator[Problem]:
    """In a region without zones a pool has none to choose."""
    if ZONES.get(azure.location, 0):
        return
    for index, pool in enumerate(env.pools):
        if pool.zones:
            yield Problem(
                f"pools[{index}].zones",
                f"is {', '.join(pool.zones)}, and {azure.location} has no zones",
                "the pool could never launch a node",
                "Remove it",
            )


def people_are_groups(env: "Environment") -> Iterator[Problem]:
    """AKS takes groups of Entra ID as administrators, by object id; members are written the same way."""
    for key, who in env.people:
        if not re.fullmatch(GUID, who):
            yield Problem(
                key,
                f"is {shown(who)}, which is not the object id of an Entra group",
                "nobody would get in by it",
                f"Write it in small letters, {who.lower()}"
                if re.fullmatch(GUID, who.lower())
                else "Write the id that `az ad group show --group NAME --query id` prints, as in "
                "00000000-0000-4000-8000-000000000003",
            )


def logs_are_kept_for_a_possible_time(env: "Environment") -> Iterator[Problem]:
    """Log Analytics keeps for 30 to 730 days."""
    least, most = RETAIN_DAYS
    days = env.logs.retain_days
    if not least <= days <= most:
        yield Problem(
            "logs.retainDays",
            f"is {days}",
            f"a Log Analytics workspace keeps for {least} to {most} days, the first {least} of them for nothing",
            f"Write {least if days < least else most}",
        )


def namespaces_can_name_containers(env: "Environment") -> Iterator[Problem]:
    """Every workspace has a container of its own, called like its namespace; and AKS keeps some namespaces."""
    for index, workspace in enumerate(env.workspaces):
        key, name = f"workspaces[{index}].namespace", workspace.namespace
        if name in AKS_NAMESPACES:
            yield Problem(
                key,
                f"is {name}, which AKS keeps for itself",
                "its members could change what AKS runs there",
                "Write a name of the team's own, as in `namespace: research`",
            )
        elif not CONTAINER.match(name):
            yield Problem(
                key,
                f"is {name}, and a container of that name holds its checkpoints",
                "a container's name has 3 to 63 lower-case letters, digits and single hyphens",
                "Write a longer name without `--`, as in `namespace: research`",
            )


def ranges_are_few(env: "Environment") -> Iterator[Problem]:
    """AKS takes so many authorised ranges, and one is the nodes' own."""
    count = len(env.control_plane.public_access_cidrs)
    if count >= MAX_RANGES:
        yield Problem(
            "controlPlane.publicAccessCidrs",
            f"has {count} ranges",
            f"AKS takes {MAX_RANGES}, of which one is the way out of the nodes",
            "Write wider ranges, and fewer",
        )


def gpu_plugin_is_there(env: "Environment") -> Iterator[Problem]:
    """AKS installs the driver, never the device plugin (AKS docs, GPU node pools)."""
    if env.operators.gpu_plugin.mode == "off" and any(pool.accelerator for pool in env.pools):
        yield Problem(
            "operators.gpuPlugin.mode",
            "is off, with a pool that has accelerators",
            "nodes would never offer nvidia.com/gpu, and pods would stay pending",
            "Write `mode: install`, or existing where somebody else keeps it",
        )


def tags_are_ours_to_write(env: "Environment") -> Iterator[Problem]:
    """Names that Azure keeps for itself or cannot read."""
    for name in env.tags:
        if not TAG_NAME.match(name):
            yield Problem(
                join("tags", name),
                "has one of < > % & \\ ? / or a control character in it, or begins with microsoft, azure or windows",
                "Azure refuses the request that carries it",
                "Write a name of your own, as in `team`",
            )
    if len(env.tags) > MAX_TAGS:
        yield Problem(
            "tags", f"has {len(env.tags)} tags", "Azure takes 50 a resource, AKS's own included", f"Keep {MAX_TAGS}"
        )


def warnings(azure: "Azure", env: "Environment") -> Iterator[Problem]:
    """What is possible, and surely not meant by whoever runs `up` for the first time."""
    yield from pool_checks.sizes_without_a_price(azure, env)
    if not env.control_plane.public_access_cidrs:
        yield Problem(
            "controlPlane.publicAccessCidrs",
            "is empty, and the network is made here",
            "only a machine in that network, or routed into it, reaches the API server, so the first `up` stops when "
            "it comes to what is inside the cluster",
            "Write the range you work from, as in `publicAccessCidrs: [203.0.113.0/24]`",
        )


CHECKS: Final[tuple[Callable[["Environment"], Iterator[Problem]], ...]] = (
    people_are_groups,
    logs_are_kept_for_a_possible_time,
    namespaces_can_name_containers,
    ranges_are_few,
    gpu_plugin_is_there,
    tags_are_ours_to_write,
)
CHECKS_OF_THE_REGION: Final[tuple[Callable[["Azure", "Environment"], Iterator[Problem]], ...]] = (
    zones_belong_to_the_region,
    pools_name_zones_where_there_are_some,
)
