"""What AWS, EKS and Karpenter would refuse or quietly ignore, found before anything is bought."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from spotproof.settings.aws import instances
from spotproof.settings.aws.regions import REGIONS
from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import SAME_CLOUD, near
from spotproof.settings.stack_file import join

if TYPE_CHECKING:
    from spotproof.settings.aws.model import Aws
    from spotproof.settings.environment import Environment

SERVICE_CIDR: Final = "172.20.0.0/16"
"""Addresses of Kubernetes services; written out, because EKS otherwise picks one of two by itself."""

LOG_RETENTION_DAYS: Final = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""The values PutRetentionPolicy takes (CloudWatch Logs API reference)."""

KARPENTER_TAGS = ("karpenter.sh/", "karpenter.k8s.aws/", "kubernetes.io/cluster/", "eks:eks-cluster-name")
PRINCIPAL: Final = re.compile(r"^arn:(aws[a-z-]*):iam::([0-9]{12}):((?:role|user)/[\x21-\x7e]+)$")
"""ARN of an IAM role or user -> partition, account, kind and path (IAM identifiers, IAM user guide)."""
TAG: Final = re.compile(r"^[\w .:/=+@-]*$")
"""Letters and digits of any script, spaces and these, in a tag's name and value (EC2 user guide, tag restrictions)."""
MAX_TAGS = 40
"""AWS takes 50; Karpenter and EKS write some of their own."""


def check(aws: "Aws", env: "Environment") -> Iterator[Problem]:
    """Every problem this cloud's checks find."""
    for one in CHECKS:
        yield from one(env)
    for one in CHECKS_OF_THE_ACCOUNT:
        yield from one(aws, env)


def region_has_eks(aws: "Aws", env: "Environment") -> Iterator[Problem]:
    """A region of EKS; one that is misspelt, or not known here, is better found before the first call."""
    del env
    if aws.region not in REGIONS:
        guess = near(aws.region, REGIONS, SAME_CLOUD)
        yield Problem(
            "provider.region",
            f"is {aws.region}, where no EKS is known",
            "nothing could be built there, or with names that are wrong there",
            f"Write `region: {guess}`" if guess else "Write a region of AWS, as in us-west-2",
        )


def instance_types_exist(env: "Environment") -> Iterator[Problem]:
    """Names that do not look like EC2's."""
    for index, pool in enumerate(env.pools):
        for number, name in enumerate(pool.instance_types):
            key = f"pools[{index}].instanceTypes[{number}]"
            if not instances.INSTANCE_TYPE.match(name):
                guess = near(name, instances.KNOWN_TYPES, SAME_CLOUD)
                yield Problem(
                    key,
                    f"is {shown(name)}, which is not the form of an EC2 instance type",
                    "Karpenter would find no offering, and pods would stay pending",
                    f"Write {guess}" if guess else "Write family.size, as in p4d.24xlarge",
                )


def spot_price_caps_are_refused(env: "Environment") -> Iterator[Problem]:
    """Karpenter has no field for a spot price cap (aws/karpenter-provider-aws #3244, PR #7899)."""
    for index, pool in enumerate(env.pools):
        if pool.spot_max_price is not None:
            yield Problem(
                f"pools[{index}].spotMaxPrice",
                f"is {pool.spot_max_price:g}, and Karpenter on EKS has nothing that keeps it",
                "nodes would be bought at the market price all the same, up to on-demand",
                "Remove it; spot never costs more than on-demand, and a fallback policy decides when to leave it",
            )


def zones_belong_to_the_region(aws: "Aws", env: "Environment") -> Iterator[Problem]:
    """Zone names of the network, and of pools within it."""
    region = aws.region
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


def people_are_of_this_account(aws: "Aws", env: "Environment") -> Iterator[Problem]:
    """EKS access entries take principals of the cluster's own account; one entry each."""
    for key, arn in env.people:
        principal = PRINCIPAL.fullmatch(arn)
        if principal is None:
            yield Problem(
                key,
                f"is {shown(arn)}, which is not the ARN of an IAM role or user",
                "EKS makes access entries for those only",
                f"Write it whole, as in arn:{aws.partition}:iam::{aws.account_id}:role/Platform",
            )
            continue
        partition, account, name = principal.groups()
        if account != aws.account_id or partition != aws.partition:
            yield Problem(
                key,
                f"is of account {account} ({partition}), not {aws.account_id} ({aws.partition})",
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


def logs_are_kept_for_a_possible_time(env: "Environment") -> Iterator[Problem]:
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


def gpu_plugin_matches_the_image(aws: "Aws", env: "Environment") -> Iterator[Problem]:
    """AL2023 has no device plugin; Bottlerocket brings its own, and two of them fight."""
    mode, alias = env.operators.gpu_plugin.mode, aws.ami_alias
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


def tags_are_ours_to_write(env: "Environment") -> Iterator[Problem]:
    """Tags that AWS or Karpenter keep for themselves."""
    for name, value in env.tags.items():
        key = join("tags", name)
        if not (TAG.fullmatch(name) and TAG.fullmatch(value)):
            yield Problem(
                key,
                f"is {shown(value)}, and its name or its value has a character that no tag of AWS may have",
                "the request that carries it is refused",
                "Write letters, digits, spaces and _ . : / = + - @ only",
            )
        owner = "AWS" if name.lower().startswith("aws:") else "Karpenter" if name.startswith(KARPENTER_TAGS) else None
        if owner:
            yield Problem(
                key,
                f"is a tag that {owner} writes itself",
                "the request that carries it is refused",
                "Write a name of your own, as in `team`",
            )
    if len(env.tags) > MAX_TAGS:
        yield Problem("tags", f"has {len(env.tags)} tags", "AWS takes 50 a resource, ours included", f"Keep {MAX_TAGS}")


def warnings(env: "Environment") -> Iterator[Problem]:
    """What is possible, and surely not meant by whoever runs `up` for the first time."""
    if env.network.existing is None and not env.control_plane.public_access_cidrs:
        yield Problem(
            "controlPlane.publicAccessCidrs",
            "is empty, and the VPC is made here",
            "only a machine in that VPC, or routed into it, reaches the API server, so the first `up` stops when it "
            "comes to what is inside the cluster",
            "Write the range you work from, as in `publicAccessCidrs: [203.0.113.0/24]`",
        )


CHECKS: Final[tuple[Callable[["Environment"], Iterator[Problem]], ...]] = (
    instance_types_exist,
    spot_price_caps_are_refused,
    logs_are_kept_for_a_possible_time,
    tags_are_ours_to_write,
)
CHECKS_OF_THE_ACCOUNT: Final[tuple[Callable[["Aws", "Environment"], Iterator[Problem]], ...]] = (
    region_has_eks,
    zones_belong_to_the_region,
    people_are_of_this_account,
    gpu_plugin_matches_the_image,
)
