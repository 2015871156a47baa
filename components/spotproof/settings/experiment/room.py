"""How much of a pool the parts of a job take: what a node offers, how many pods it holds, how many nodes it takes."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from spotproof.settings.environment import Environment
from spotproof.settings.experiment.parts import Part
from spotproof.settings.machines import Machine
from spotproof.settings.pools import Pool


@dataclass(frozen=True)
class Room:
    """What one node has for pods: CPUs and GiB; None is not known."""

    vcpus: float | None
    memory_gib: float | None


Offer: TypeAlias = Callable[[Machine], Room]
"""From a whole machine to what is left of it for pods."""

CPU_KEPT: Final = ((1, 0.06), (1, 0.01), (2, 0.005), (math.inf, 0.0025))
"""Of each further band of vCPUs the share that the kubelet keeps: GKE's table of node allocatable resources, and the
bootstrap of EKS images; AKS keeps more."""
MEMORY_KEPT: Final = ((4, 0.25), (4, 0.2), (8, 0.1), (112, 0.06), (math.inf, 0.02))
"""The same of GiB on GKE and AKS; EKS keeps by the number of pods, which comes to less."""
LEAST_MEMORY_KEPT_GIB: Final = 355 / 1024
"""What every cloud keeps at least: EKS keeps 255 MiB and 11 MiB a pod, and evicts at 100 MiB."""
EVICTION_GIB: Final = 100 / 1024
"""Free memory at which a kubelet evicts; no part of what pods can ask for."""
AGENTS_VCPUS: Final = 0.5
AGENTS_GIB: Final = 0.75
"""What DaemonSets ask for on a node: network, storage, logs and GPU plugin come to 0.3 to 0.5 CPUs on the three
clouds. A rule of thumb, so nothing is refused by it."""


def at_most(machine: Machine) -> Room:
    """What pods can have of a machine on any cloud: nothing that needs more could ever start."""
    return _less(machine, _kept(machine.vcpus, CPU_KEPT), LEAST_MEMORY_KEPT_GIB)


def likely(machine: Machine) -> Room:
    """What is left where the kubelet keeps most, and beside the agents of a usual cluster."""
    memory = _kept(machine.memory_gib, MEMORY_KEPT) + EVICTION_GIB + AGENTS_GIB
    return _less(machine, _kept(machine.vcpus, CPU_KEPT) + AGENTS_VCPUS, memory)


def _less(machine: Machine, vcpus: float, gib: float) -> Room:
    return Room(
        None if machine.vcpus is None else machine.vcpus - vcpus,
        None if machine.memory_gib is None else machine.memory_gib - gib,
    )


def _kept(amount: float | None, bands: Sequence[tuple[float, float]]) -> float:
    kept, left = 0.0, amount or 0.0
    for width, share in bands:
        kept += min(left, width) * share
        left = max(0.0, left - width)
    return kept


def rooms(env: Environment, pool: Pool, offer: Offer = at_most) -> list[Room]:
    """What each machine of the pool has for pods; one of which nothing is known where it names none."""
    machines = [env.provider.machine(name) for name in pool.instance_types]
    return [offer(machine) if machine else Room(None, None) for machine in machines] or [Room(None, None)]


def largest(offered: Iterable[float | None]) -> float | None:
    """The largest of what is offered; None where one of them is not known."""
    known = list(offered)
    return max((each for each in known if each is not None), default=None) if None not in known else None


def pods_of_a_node(part: Part, room: Room, pool: Pool) -> int | None:
    """How many pods of a part fit into what a node has; None where nothing of it is known."""
    asked = part.role.resources
    bounds: list[int] = []
    if room.vcpus is not None:
        bounds.append(math.floor(room.vcpus / asked.cpus))
    if room.memory_gib is not None:
        bounds.append(math.floor(room.memory_gib / asked.memory_gib))
    if part.gpu:
        bounds.append((pool.accelerator.count if pool.accelerator else 0) // part.gpu.count)
    return min(bounds, default=None)


def pods_of_the_best_node(env: Environment, part: Part, pool: Pool, offer: Offer = at_most) -> int | None:
    """How many pods of a part the pool's roomiest machine holds; None where nothing limits it that is known."""
    held = [pods_of_a_node(part, room, pool) for room in rooms(env, pool, offer)]
    known = [count for count in held if count is not None]
    return max(known) if len(known) == len(held) else None


def nodes_needed(env: Environment, parts: Sequence[Part], pool: Pool, offer: Offer = at_most) -> float:
    """Fewest nodes of the pool that could hold these parts, never more than it takes.

    Infinite where a pod of one of them fits on none.
    """
    offered = rooms(env, pool, offer)
    totals = (
        (sum(part.role.count * part.role.resources.cpus for part in parts), largest(room.vcpus for room in offered)),
        (
            sum(part.role.count * part.role.resources.memory_gib for part in parts),
            largest(room.memory_gib for room in offered),
        ),
        (
            sum(part.role.count * part.gpu.count for part in parts if part.gpu),
            pool.accelerator.count if pool.accelerator else None,
        ),
    )
    held = [(part.role.count, pods_of_the_best_node(env, part, pool, offer)) for part in parts]
    alone = [count / fit if fit else math.inf for count, fit in held if fit is not None]
    together = [asked / most for asked, most in totals if most is not None and most > 0]
    needed = max([*alone, *together], default=0)
    return needed if math.isinf(needed) else math.ceil(round(needed, 6))
