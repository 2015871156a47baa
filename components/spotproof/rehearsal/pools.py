"""A stack's pools as a local Karpenter makes them: machines of the same size, labels, taints and limits, of no cloud.

Every pool becomes a NodePool of Karpenter's kwok provider, GKE's and somebody else's node pools too: what a rehearsal
shows of them is where pods land and what a reclaim does, never how their own autoscaler behaves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spotproof.manifests.karpenter import NodeClassRef, node_pool
from spotproof.manifests.metadata import metadata
from spotproof.prices import ASSUMED_SPOT_SHARE, Prices
from spotproof.settings import Environment
from spotproof.settings.machines import Machine
from spotproof.settings.pools import Pool
from spotproof.vocabulary import GPU_RESOURCE, KARPENTER_CAPACITY_LABEL, ON_DEMAND, SPOT, ZONE_LABEL, Capacity, Manifest

NODE_CLASS: Final = NodeClassRef("karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass")
NODE_CLASS_NAME: Final = "rehearsal"
REGISTRATION_DELAY: Final = "2s"
"""From a launched instance to its node. A cloud takes one to three minutes; a rehearsal is watched."""
NOWHERE: Final = ("zone-a",)
"""The zone of clusters that do not say which they have."""
UNKNOWN_MACHINE: Final = Machine(vcpus=64, memory_gib=512)
"""For types that no table has, as on clusters somebody else made: large enough for the usual pod of any accelerator."""


@dataclass(frozen=True)
class RehearsedPools:
    """What the local Karpenter needs: `instance_types` as its kwok provider reads them, `objects` to apply."""

    instance_types: tuple[dict[str, Any], ...]
    objects: tuple[Manifest, ...]


def rehearsed(environment: Environment, prices: Prices) -> RehearsedPools:
    """The environment's pools for a local control plane.

    Args:
        environment: Whose pools.
        prices: Prices of nodes, by which Karpenter chooses among a pool's types.
    """
    kinds = {kind.name: kind for pool in environment.pools for kind in _kinds(environment, pool)}
    return RehearsedPools(
        tuple(_instance_type(environment, kind, prices) for kind in kinds.values()),
        (_node_class(), *(_node_pool(environment, pool) for pool in environment.pools)),
    )


@dataclass(frozen=True)
class _Kind:
    """An instance type with what is attached to it. Karpenter knows a type by its name alone."""

    name: str
    type: str
    machine: Machine
    gpus: int


def _kinds(environment: Environment, pool: Pool) -> Iterator[_Kind]:
    gpus = pool.accelerator.count if pool.accelerator else 0
    for each in pool.instance_types or (pool.name,):
        machine = environment.provider.machine(each) or UNKNOWN_MACHINE
        own = machine.accelerator_count == gpus
        yield _Kind(each if own else f"{each}.{pool.name}", each, machine, gpus)


def _instance_type(environment: Environment, kind: _Kind, prices: Prices) -> dict[str, Any]:
    capacities: tuple[Capacity, ...] = (SPOT, ON_DEMAND)
    zones = dict.fromkeys(zone for pool in environment.pools for zone in _zones(environment, pool))
    return {
        "name": kind.name,
        "architecture": kind.machine.architecture,
        "operatingSystems": ["linux"],
        "resources": {
            "cpu": str(kind.machine.vcpus or UNKNOWN_MACHINE.vcpus),
            "memory": f"{kind.machine.memory_gib or UNKNOWN_MACHINE.memory_gib:g}Gi",
            "ephemeral-storage": f"{max(pool.disk_gib for pool in environment.pools)}Gi",
            **({GPU_RESOURCE: str(kind.gpus)} if kind.gpus else {}),
        },
        "offerings": [
            _offering(zone, capacity, _usd_per_hour(environment, kind, capacity, prices))
            for zone in zones
            for capacity in capacities
        ],
    }


def _offering(zone: str, capacity: Capacity, usd_per_hour: float) -> dict[str, Any]:
    where = {KARPENTER_CAPACITY_LABEL: capacity, ZONE_LABEL: zone}
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in where.items()]
    return {"Price": usd_per_hour, "Available": True, "Requirements": requirements}


def _usd_per_hour(environment: Environment, kind: _Kind, capacity: Capacity, prices: Prices) -> float:
    provider = environment.provider
    price = prices.node(provider.cloud, provider.place, kind.type, capacity)
    # Unknown machines are compared by size, as a market roughly does; nobody is shown the number.
    size = float(kind.machine.vcpus or 0) * (ASSUMED_SPOT_SHARE if capacity == SPOT else 1.0)
    return price.usd_per_hour if price else size


def _zones(environment: Environment, pool: Pool) -> Sequence[str]:
    return environment.zones_of(pool) or NOWHERE


def _node_class() -> Manifest:
    return {
        "apiVersion": f"{NODE_CLASS.group}/{NODE_CLASS.version}",
        "kind": NODE_CLASS.kind,
        "metadata": metadata(NODE_CLASS_NAME),
        "spec": {"nodeRegistrationDelay": REGISTRATION_DELAY},
    }


def _node_pool(environment: Environment, pool: Pool) -> Manifest:
    kinds = {kind.name: kind.machine for kind in _kinds(environment, pool)}
    manifest: Any = node_pool(
        pool.model_copy(update={"instance_types": tuple(kinds)}),
        node_class=NODE_CLASS,
        node_class_name=NODE_CLASS_NAME,
        zones=_zones(environment, pool),
        machine=kinds.get,
        spot_taint=environment.provider.spot_taint,
    )
    labels = manifest["spec"]["template"]["metadata"]["labels"]
    labels |= {**environment.provider.node_labels.get(pool.capacity, {}), **pool.selector}
    return manifest
