"""What GKE and Compute Engine would refuse or quietly ignore, found before anything is bought."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.errors import Problem, shown
from spotproof.settings.gcp import addresses, machines, regions
from spotproof.settings.near import SAME_CLOUD, near, one_of
from spotproof.settings.stack_file import join

if TYPE_CHECKING:
    from spotproof.settings.environment import Environment
    from spotproof.settings.gcp.model import Gcp
    from spotproof.settings.pools import Pool

SYSTEM_POOL: Final = "spotproof-system"
"""Name of the node pool that carries the operators."""
SYSTEM_NODES: Final = 2

PERSON: Final = re.compile(r"^(user|group|serviceAccount):[^\s:@]+@[^\s:@]+\.[^\s:@]+$")
LABEL_KEY: Final = re.compile(r"^[a-z][a-z0-9_-]{0,62}$")
LABEL_VALUE: Final = re.compile(r"^[a-z0-9_-]{0,63}$")
MAX_LABELS: Final = 32
"""GKE takes 64 a node pool, its own included."""
MAX_LOG_DAYS: Final = 3650
MAX_NETWORKS: Final = 50
"""Authorised networks of one cluster (Kubernetes Engine API, MasterAuthorizedNetworksConfig)."""


def check(gcp: "Gcp", env: "Environment") -> Iterator[Problem]:
    """Every problem this cloud's checks find."""
    for one in CHECKS:
        yield from one(env)
    for one in CHECKS_OF_THE_PROJECT:
        yield from one(gcp, env)


def regions_exist(gcp: "Gcp", env: "Environment") -> Iterator[Problem]:
    """The region is one of the table, whose zones are known."""
    del env
    if gcp.region not in regions.ZONES:
        guess = near(gcp.region, regions.ZONES, SAME_CLOUD)
        yield Problem(
            "provider.region",
            f"is {shown(gcp.region)}, which is no region of Compute Engine",
            "its zones are not known, and nothing could be placed in them",
            f"Write `region: {guess or 'us-central1'}`",
        )


def zones_belong_to_the_region(gcp: "Gcp", env: "Environment") -> Iterator[Problem]:
    """Zone names of the network, or their number."""
    known = regions.zones_of(gcp.region)
    if not known:
        return
    zones = env.network.zones
    if isinstance(zones, int):
        if zones > len(known):
            yield Problem(
                "network.zones",
                f"is {zones}, and {gcp.region} has {len(known)}",
                "nodes would have no zone",
                f"Write {len(known)}",
            )
        return
    for number, zone in enumerate(zones):
        if zone not in known:
            yield Problem(
                f"network.zones[{number}]",
                f"is {shown(zone)}, which is no zone of {gcp.region}",
                "GKE would refuse the cluster",
                f"Write one of {one_of(known)}",
            )


def one_machine_type_a_pool(env: "Environment") -> Iterator[Problem]:
    """A node pool of GKE has one machine type."""
    for index, pool in enumerate(env.pools):
        if len(pool.instance_types) > 1:
            yield Problem(
                f"pools[{index}].instanceTypes",
                f"has {len(pool.instance_types)} machine types",
                "a node pool of GKE has one, and the others would never be bought",
                "Make a pool of its own for each, and name them as tiers of one fallback policy",
            )


def machine_types_exist(env: "Environment") -> Iterator[Problem]:
    """Names that do not look like Compute Engine's."""
    for index, pool in enumerate(env.pools):
        for number, name in enumerate(pool.instance_types):
            if not machines.MACHINE_TYPE.match(name):
                guess = near(name, machines.ACCELERATED, SAME_CLOUD)
                yield Problem(
                    f"pools[{index}].instanceTypes[{number}]",
                    f"is {shown(name)}, which is not the form of a machine type",
                    "GKE would refuse the node pool",
                    f"Write {guess}" if guess else "Write series-kind-size, as in n2-standard-8",
                )


def accelerators_can_be_attached(env: "Environment") -> Iterator[Problem]:
    """To N1 some accelerators can be attached, in certain numbers and up to a size of machine."""
    for index, pool in enumerate(env.pools):
        machine_type = next(iter(pool.instance_types), "")
        found = machines.machine(machine_type)
        if pool.accelerator is None or pool.accelerator.type not in MEMORY_GIB:
            continue  # a type that nobody knows is said by the checks of every cloud
        if found is None or not found.takes_accelerators:
            continue
        kind, count = pool.accelerator.type, pool.accelerator.count
        most = machines.ATTACHABLE.get(kind, {})
        if count not in most:
            yield Problem(
                f"pools[{index}].accelerator" + (".count" if most else ".type"),
                f"is {count} x {kind}, which {machine_type} does not take",
                "GKE would refuse the node pool",
                f"Write a count of {one_of(str(number) for number in most)}"
                if most
                else f"Write one of {one_of(machines.ATTACHABLE)}, or a machine type that comes with {kind}",
            )
        elif found.vcpus is not None and found.vcpus > most[count]:
            yield Problem(
                f"pools[{index}].instanceTypes[0]",
                f"is {machine_type} with {count} x {kind}, which go with up to {most[count]} vCPUs",
                "GKE would refuse the node pool",
                f"Write a smaller machine type, or more accelerators; {count} x {kind} take up to {most[count]} vCPUs",
            )


def accelerators_are_offered(gcp: "Gcp", env: "Environment") -> Iterator[Problem]:
    """A pool's zones sell what it is made of."""
    for index, pool in enumerate(env.pools):
        if pool.accelerator is None or gcp.region not in regions.ZONES:
            continue
        kind = pool.accelerator.type
        for number, zone in enumerate(pool.zones or ()):
            if zone in env.zones and not regions.offered_in(kind, zone):
                yield Problem(
                    f"pools[{index}].zones[{number}]",
                    f"is {zone}, which has no {kind}",
                    "GKE would refuse the node pool",
                    _where(gcp.region, kind),
                )
        if pool.zones is None and not regions.narrowed(env.zones, kind):
            yield Problem(
                _key_of_the_accelerator(index, pool),
                f"has {kind}, and no zone of this network does ({one_of(env.zones)})",
                "GKE would refuse the node pool",
                _where(gcp.region, kind),
            )


def _key_of_the_accelerator(index: int, pool: "Pool") -> str:
    found = machines.machine(next(iter(pool.instance_types), ""))
    attached = found is not None and found.takes_accelerators
    return f"pools[{index}].accelerator.type" if attached else f"pools[{index}].instanceTypes"


def _where(region: str, kind: str) -> str:
    """Zones of the region that have it, else the regions that do."""
    here = regions.narrowed(regions.zones_of(region), kind)
    if here:
        return f"Write zones that have it ({one_of(here)}), in network.zones too"
    return f"Write a region that has it, as {one_of(sorted(regions.ACCELERATOR_ZONES[kind]))}, or another machine type"


def spot_only_machines_are_spot(env: "Environment") -> Iterator[Problem]:
    """Smaller A3 machines are not sold on-demand."""
    for index, pool in enumerate(env.pools):
        for number, name in enumerate(pool.instance_types):
            if name in machines.ONLY_SPOT and not pool.is_spot:
                yield Problem(
                    f"pools[{index}].instanceTypes[{number}]",
                    f"is {name}, which Compute Engine sells as spot only, in an on-demand pool",
                    "no node would ever be made",
                    "Write a3-highgpu-8g, or `capacity: spot`",
                )


def pool_names_fit(env: "Environment") -> Iterator[Problem]:
    """A node pool is called like its pool; GKE's names begin with a letter."""
    for index, pool in enumerate(env.pools):
        if not pool.name[0].isalpha() or pool.name == SYSTEM_POOL:
            ours = pool.name == SYSTEM_POOL
            yield Problem(
                f"pools[{index}].name",
                f"is {pool.name}, " + ("the pool of the operators" if ours else "which does not begin with a letter"),
                "GKE would refuse the node pool",
                "Write a name of its own" if ours else f"Write a letter first, as in `name: p{pool.name}`",
            )


def people_have_an_address(gcp: "Gcp", env: "Environment") -> Iterator[Problem]:
    """People are IAM members; groups only where GKE may look them up."""
    for key, person in env.people:
        if not (PERSON.fullmatch(person) and person.isprintable()):
            yield Problem(
                key,
                f"is {shown(person)}, which is not the form of an IAM member",
                "IAM would refuse the binding",
                "Write user:, group: or serviceAccount: before an e-mail address, as in user:researcher@example.com",
            )
        elif person.startswith("group:") and gcp.security_group is None:
            yield Problem(
                key,
                f"is {person}, and provider.securityGroup is not set",
                "GKE would not look up who is in the group, and role bindings for it would bind nobody",
                "Write `securityGroup: gke-security-groups@<your domain>` (Google Groups for RBAC), or list people",
            )


def pods_have_addresses(env: "Environment") -> Iterator[Problem]:
    """Full pools fit into the part of the network that is for pods."""
    try:
        have = addresses.available(env.network.cidr)
    except ValueError:
        return
    need = addresses.needed(env.pools, SYSTEM_NODES)
    if need > have:
        yield Problem(
            "network.cidr",
            f"is {env.network.cidr}, whose {have} pod addresses are fewer than the {need} that full pools take",
            "GKE would stop adding nodes before maxNodes is reached",
            "Write a larger range, up to a /16, or lower maxNodes: a node takes "
            f"{2 * addresses.PODS_ACCELERATED} addresses with accelerators, {2 * addresses.PODS} without",
        )


def namespaces_are_not_gkes(env: "Environment") -> Iterator[Problem]:
    """Namespaces that GKE makes and keeps for itself."""
    for index, workspace in enumerate(env.workspaces):
        if workspace.namespace.startswith(("gke-", "gmp-")):
            yield Problem(
                f"workspaces[{index}].namespace",
                f"is {workspace.namespace}, and GKE keeps such names for itself",
                "its members could change what GKE runs there",
                "Write a name of the team's own, as in `namespace: research`",
            )


def tags_are_labels(env: "Environment") -> Iterator[Problem]:
    """Tags become labels of GCP resources, whose alphabet is small."""
    for name, value in env.tags.items():
        key = join("tags", name)
        if not LABEL_KEY.fullmatch(name) or name.startswith("goog"):
            yield Problem(
                key,
                "is no key that a label of GCP may have",
                "every resource that carries it would be refused",
                "Write lower-case letters, digits, _ and -, a letter first and not goog, at most 63",
            )
        elif not LABEL_VALUE.fullmatch(value):
            yield Problem(
                key,
                f"is {shown(value)}, no value that a label of GCP may have",
                "every resource that carries it would be refused",
                "Write lower-case letters, digits, _ and -, at most 63",
            )
    if len(env.tags) > MAX_LABELS:
        what = f"has {len(env.tags)} tags"
        yield Problem("tags", what, "GKE takes 64 labels a node pool, its own included", f"Keep {MAX_LABELS}")


def limits_are_kept(env: "Environment") -> Iterator[Problem]:
    """Numbers that GCP bounds."""
    if env.logs.retain_days > MAX_LOG_DAYS:
        yield Problem(
            "logs.retainDays",
            f"is {env.logs.retain_days}, and a log bucket keeps lines for at most {MAX_LOG_DAYS} days",
            "the log bucket could not be made",
            f"Write {MAX_LOG_DAYS} or less",
        )
    if len(env.control_plane.public_access_cidrs) > MAX_NETWORKS:
        yield Problem(
            "controlPlane.publicAccessCidrs",
            f"has {len(env.control_plane.public_access_cidrs)} ranges",
            f"GKE takes {MAX_NETWORKS}",
            "Write wider ranges, or none: the API server also answers by its DNS name, to whoever IAM lets in",
        )


CHECKS: Final[tuple[Callable[["Environment"], Iterator[Problem]], ...]] = (
    one_machine_type_a_pool,
    machine_types_exist,
    accelerators_can_be_attached,
    spot_only_machines_are_spot,
    pool_names_fit,
    pods_have_addresses,
    namespaces_are_not_gkes,
    tags_are_labels,
    limits_are_kept,
)
CHECKS_OF_THE_PROJECT: Final[tuple[Callable[["Gcp", "Environment"], Iterator[Problem]], ...]] = (
    regions_exist,
    zones_belong_to_the_region,
    accelerators_are_offered,
    people_have_an_address,
)
