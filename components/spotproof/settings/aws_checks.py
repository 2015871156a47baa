"""What AWS, EKS and Karpenter would refuse or quietly ignore, found before anything is bought."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

from spotproof.settings import aws_instances
from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import near, one_of
from spotproof.settings.pools import Pool

SERVICE_CIDR: Final = "172.20.0.0/16"
"""Addresses of Kubernetes services; written out, because EKS otherwise picks one of two by itself."""

LOG_RETENTION_DAYS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""The values PutRetentionPolicy takes (CloudWatch Logs API reference)."""

KARPENTER_TAGS = ("karpenter.sh/", "karpenter.k8s.aws/", "kubernetes.io/cluster/", "eks:eks-cluster-name")
MAX_TAGS = 40
"""AWS takes 50; Karpenter and EKS write some of their own."""


def check(env: Environment) -> Iterator[Problem]:
    """Every problem this cloud's checks find."""
    for one in CHECKS:
        yield from one(env)


def instance_types_exist(env: Environment) -> Iterator[Problem]:
    """Names that do not look like EC2's."""
    for index, pool in enumerate(env.pools):
        for number, name in enumerate(pool.instance_types):
            key = f"pools[{index}].instanceTypes[{number}]"
            if not aws_instances.INSTANCE_TYPE.match(name):
                guess = near(name, aws_instances.KNOWN_TYPES)
                yield Problem(
                    key,
                    f"is {shown(name)}, which is not the form of an EC2 instance type",
                    "Karpenter would find no offering, and pods would stay pending",
                    f"Write {guess}" if guess else "Write family.size, as in p4d.24xlarge",
                )
            elif name in pool.instance_types[:number]:
                yield Problem(key, f"is {name} a second time", "it would change nothing", "Keep one of them")


def accelerators_are_what_the_types_have(env: Environment) -> Iterator[Problem]:
    """All types of one pool have the accelerators that the pool says."""
    for index, pool in enumerate(env.pools):
        said = pool.accelerator
        if said is not None and said.type not in MEMORY_GIB:
            guess = near(said.type, MEMORY_GIB)
            yield Problem(
                f"pools[{index}].accelerator.type",
                f"is {shown(said.type)}, which is not known",
                "its memory could not be compared between tiers",
                f"Write {guess}" if guess else f"Write one of {one_of(MEMORY_GIB)}",
            )
            continue
        yield from _accelerator_problems(f"pools[{index}]", pool)


def _accelerator_problems(at: str, pool: Pool) -> Iterator[Problem]:
    said = (pool.accelerator.type, pool.accelerator.count) if pool.accelerator else None
    for number, name in enumerate(pool.instance_types):
        has = aws_instances.accelerator(name)
        if has is not None and has != said:
            wanted = f"{said[1]} x {said[0]}" if said else "none"
            yield Problem(
                f"{at}.instanceTypes[{number}]",
                f"is {name} with {has[1]} x {has[0]}, in a pool whose accelerator is {wanted}",
                "ranks of one gang would differ, or pods would not fit",
                f"Make a pool of its own for {name}, or write `accelerator: {{type: {has[0]}, count: {has[1]}}}`",
            )
        elif has is None and said is not None and not aws_instances.is_accelerated(name) and _is_general(name):
            yield Problem(
                f"{at}.accelerator",
                f"is {said[0]}, and {name} has none",
                "pods that ask for a GPU would wait for ever",
                "Remove it, or write an instance type that has it",
            )


def _is_general(instance_type: str) -> bool:
    """Compute, general and memory families: those that surely have no accelerator."""
    return re.match(r"^[cmrt]\d", instance_type) is not None


def one_architecture_a_pool(env: Environment) -> Iterator[Problem]:
    """One image does not run on two architectures."""
    for index, pool in enumerate(env.pools):
        kinds = {aws_instances.architecture(name) for name in pool.instance_types}
        if len(kinds) > 1:
            yield Problem(
                f"pools[{index}].instanceTypes",
                "mixes Graviton (arm64) and x86 (amd64) types",
                "an image built for one crashes on the other, on whichever node it happens to get",
                "Make a pool for each architecture",
            )


def spot_price_caps_are_refused(env: Environment) -> Iterator[Problem]:
    """Karpenter has no field for a spot price cap (aws/karpenter-provider-aws #3244, PR #7899)."""
    for index, pool in enumerate(env.pools):
        if pool.spot_max_price is not None:
            yield Problem(
                f"pools[{index}].spotMaxPrice",
                f"is {pool.spot_max_price:g}, and Karpenter on EKS has nothing that keeps it",
                "nodes would be bought at the market price all the same, up to on-demand",
                "Remove it; spot never costs more than on-demand, and a fallback policy decides when to leave it",
            )


def zones_belong_to_the_region(env: Environment) -> Iterator[Problem]:
    """Zone names of the network, and of pools within it."""
    region = env.provider.region
    zones = env.network.zones
    named = () if isinstance(zones, int) else zones
    for number, zone in enumerate(named):
        if not re.fullmatch(rf"{region}[a-z]", zone):
            yield Problem(
                f"network.zones[{number}]",
                f"is {shown(zone)}, which is no zone of {region}",
                "its subnet could not be made",
                f"Write a zone as in {region}a",
            )
        elif zone in named[:number]:
            yield Problem(
                f"network.zones[{number}]", f"is {zone} a second time", "one zone would get two subnets", "Remove it"
            )
    if isinstance(zones, int) and zones > len(env.zones):
        yield Problem(
            "network.zones",
            f"is {zones}, and {region} has {len(env.zones)} for new accounts",
            "a subnet would have no zone",
            f"Write {len(env.zones)}, or the zones by name",
        )
    if env.network.existing is not None and isinstance(zones, int):
        yield Problem(
            "network.zones",
            f"is {zones}, beside a VPC that exists",
            "where its subnets are is not known here, and pools would look for nodes in zones that have none",
            f"Write the zones of its subnets by name, as in `zones: [{region}a, {region}b]`",
        )
    for index, pool in enumerate(env.pools):
        for number, zone in enumerate(pool.zones or ()):
            if zone not in env.zones:
                yield Problem(
                    f"pools[{index}].zones[{number}]",
                    f"is {shown(zone)}, where this network has no subnet",
                    "the pool could never launch a node there",
                    f"Write one of {one_of(env.zones)}",
                )


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
            f"is {text}; a VPC here is a /{MIN_PREFIX} to /{MAX_PREFIX}",
            "AWS refuses larger ones, and in smaller ones pods run out of addresses",
            "Write `cidr: 10.40.0.0/16`",
        )
    if not any(network.subnet_of(private) for private in PRIVATE):
        yield Problem(
            key,
            f"is {text}, which is public address space",
            "its real owners would be out of reach from the cluster",
            "Write a private range, as in 10.40.0.0/16",
        )
    if network.overlaps(ipaddress.IPv4Network(SERVICE_CIDR)):
        yield Problem(
            key,
            f"is {text} and overlaps {SERVICE_CIDR}, the range of Kubernetes services",
            "some pods and services would share addresses",
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
            yield Problem(key, f"is {shown(text)}, which is not an IPv4 range", "EKS would refuse it", better)
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
                "nobody comes to the public endpoint from there; from inside the VPC the private one answers",
                "Write the public range your network goes out by",
            )
        elif any(network.overlaps(other) for other in seen):
            yield Problem(
                key, f"is {text}, which overlaps one before it", "it would change nothing", "Keep the wider one"
            )
        seen.append(network)


def people_are_of_this_account(env: Environment) -> Iterator[Problem]:
    """EKS access entries take principals of the cluster's own account; one entry each."""
    listed = [(f"access.admins[{i}]", arn) for i, arn in enumerate(env.access.admins)]
    for index, workspace in enumerate(env.workspaces):
        listed += [(f"workspaces[{index}].members[{i}]", arn) for i, arn in enumerate(workspace.members)]
    for key, arn in listed:
        _, partition, _, _, account, name = arn.split(":", 5)
        if account != env.provider.account_id or partition != env.provider.partition:
            yield Problem(
                key,
                f"is of account {account} ({partition}), not {env.provider.account_id} ({env.provider.partition})",
                "EKS refuses access entries for principals of other accounts",
                "Write a role of this account that those people may assume",
            )
        elif "/aws-service-role/" in f"/{name}":
            yield Problem(
                key,
                "is a service-linked role",
                "EKS refuses access entries for those",
                "Write a role that people assume",
            )
    yield from _listed_twice("access.admins", env.access.admins)
    for index, workspace in enumerate(env.workspaces):
        yield from _listed_twice(f"workspaces[{index}].members", workspace.members)


def _listed_twice(key: str, arns: tuple[str, ...]) -> Iterator[Problem]:
    for index, arn in enumerate(arns):
        if arn in arns[:index]:
            yield Problem(f"{key}[{index}]", f"is {arn} a second time", "it would change nothing", "Remove it")


def logs_are_kept_for_a_possible_time(env: Environment) -> Iterator[Problem]:
    """CloudWatch takes certain numbers of days only."""
    days = env.logs.retain_days
    if days not in LOG_RETENTION_DAYS:
        closest = min(LOG_RETENTION_DAYS, key=lambda known: (abs(known - days), known))
        yield Problem(
            "logs.retainDays",
            f"is {days}, which CloudWatch does not take",
            "the log group could not be made",
            f"Write {closest}, or another of {', '.join(str(known) for known in LOG_RETENTION_DAYS)}",
        )


def gpu_plugin_matches_the_image(env: Environment) -> Iterator[Problem]:
    """AL2023 has no device plugin; Bottlerocket brings its own, and two of them fight."""
    mode, alias = env.operators.gpu_plugin.mode, env.provider.ami_alias
    accelerated = any(pool.accelerator for pool in env.pools)
    if accelerated and mode == "off" and alias.startswith("al2023"):
        yield Problem(
            "operators.gpuPlugin.mode",
            "is off with AL2023 nodes and a pool that has accelerators",
            "nodes would never become ready, because Karpenter waits for nvidia.com/gpu",
            "Write `mode: install`, or existing where somebody else keeps it",
        )
    if accelerated and mode != "off" and alias.startswith("bottlerocket"):
        yield Problem(
            "operators.gpuPlugin.mode",
            f"is {mode} with {alias}, which brings the plugin itself",
            "two plugins would register the same GPUs",
            "Write `gpuPlugin: {mode: off}`",
        )


def tags_are_ours_to_write(env: Environment) -> Iterator[Problem]:
    """Tags that AWS or Karpenter keep for themselves."""
    for name in env.tags:
        owner = "AWS" if name.lower().startswith("aws:") else "Karpenter" if name.startswith(KARPENTER_TAGS) else None
        if owner:
            yield Problem(
                f"tags.{name}",
                f"is a tag that {owner} writes itself",
                "the request that carries it is refused",
                "Write a name of your own, as in `team`",
            )
    if len(env.tags) > MAX_TAGS:
        yield Problem("tags", f"has {len(env.tags)} tags", "AWS takes 50 a resource, ours included", f"Keep {MAX_TAGS}")


def warnings(env: Environment) -> Iterator[Problem]:
    """What is possible, and surely not meant by whoever runs `up` for the first time."""
    if env.network.existing is None and not env.control_plane.public_access_cidrs:
        yield Problem(
            "controlPlane.publicAccessCidrs",
            "is empty, and the VPC is made here",
            "only a machine in that VPC, or routed into it, reaches the API server, so the first `up` stops when it "
            "comes to what is inside the cluster",
            "Write the range you work from, as in `publicAccessCidrs: [203.0.113.0/24]`",
        )


CHECKS: Final[tuple[Callable[[Environment], Iterator[Problem]], ...]] = (
    instance_types_exist,
    accelerators_are_what_the_types_have,
    one_architecture_a_pool,
    spot_price_caps_are_refused,
    zones_belong_to_the_region,
    network_ranges_fit,
    public_access_is_narrow,
    people_are_of_this_account,
    logs_are_kept_for_a_possible_time,
    gpu_plugin_matches_the_image,
    tags_are_ours_to_write,
)
