"""The roles of an experiment as what they become: a part of the job with a name, a size and a place in the file."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spotproof.settings.environment import Environment
from spotproof.settings.experiment import KUBERAY, Experiment, ExtraToleration, Gpu, Role
from spotproof.settings.machines import Machine
from spotproof.settings.pools import Pool
from spotproof.vocabulary import ON_DEMAND, ON_DEMAND_SELECTORS, SPOT, SPOT_SELECTORS, Capacity

HEAD = "Head"
RAY_WORKERS = ("Worker", "Workers")


@dataclass(frozen=True)
class Part:
    """One role, or one group of Ray workers. `at` is its path in the file, `name` what its pods are called."""

    at: str
    name: str
    role: Role
    is_ray_head: bool = False

    @property
    def gpu(self) -> Gpu | None:
        """GPUs of one pod."""
        return self.role.resources.gpu

    def selectors(self) -> Iterator[tuple[str, str, str]]:
        """Every extra selector: its path in the file, key and value."""
        for at, selectors in (
            (f"{self.at}.extraSelectors", self.role.extra_selectors),
            (f"{self.at}.resources.extraSelectors", self.role.resources.extra_selectors),
        ):
            yield from ((f"{at}.{key}", key, value) for key, value in selectors.items())

    def tolerations(self) -> Iterator[tuple[str, ExtraToleration]]:
        """Every extra toleration with its path in the file."""
        for at, tolerations in (
            (f"{self.at}.extraTolerations", self.role.extra_tolerations),
            (f"{self.at}.resources.extraTolerations", self.role.resources.extra_tolerations),
        ):
            yield from ((f"{at}[{index}]", each) for index, each in enumerate(tolerations))

    @property
    def capacity_selectors(self) -> Mapping[str, tuple[str, Capacity]]:
        """Extra selectors that name a capacity, by any cloud's key: path -> (key and value, capacity)."""
        return {
            at: (f"{key}: {value}", capacity)
            for at, key, value in self.selectors()
            if (capacity := capacity_of(key, value)) is not None
        }

    @property
    def other_selectors(self) -> dict[str, str]:
        """Extra selectors that name something else, kept as they are."""
        return {key: value for _, key, value in self.selectors() if not is_capacity_key(key)}


def capacity_of(key: str, value: str) -> Capacity | None:
    """The capacity a node label means, by any key in use for it; None where it means none."""
    if SPOT_SELECTORS.get(key) == value:
        return SPOT
    return ON_DEMAND if ON_DEMAND_SELECTORS.get(key) == value else None


def is_capacity_key(key: str) -> bool:
    """Whether nodes carry their capacity under this label, on whichever cloud."""
    return key in SPOT_SELECTORS


def parts_of(experiment: Experiment) -> tuple[Part, ...]:
    """The parts of a job in the order of the file; a Ray head first."""
    found = [part for name, role in experiment.spec.types.items() for part in _parts(experiment, name, role)]
    return tuple(sorted(found, key=lambda part: not part.is_ray_head))


def _parts(experiment: Experiment, name: str, role: Role | tuple[Role, ...]) -> Iterator[Part]:
    at = f"spec.types.{name}"
    if isinstance(role, Role):
        yield Part(at, dns_name(name), role, experiment.spec.operator == KUBERAY and name == HEAD)
        return
    for index, group in enumerate(role):
        yield Part(f"{at}[{index}]", getattr(group, "name", dns_name(name)), group)


def dns_name(role: str) -> str:
    """A role's name as names in Kubernetes have it: `Worker` is `worker`, `data_loader` is `data-loader`."""
    return re.sub(r"[^a-z0-9]+", "-", role.lower()).strip("-")


def pods_of_a_node(part: Part, machine: Machine | None, pool: Pool) -> int | None:
    """How many pods of a part one machine holds at most; None where nothing of it is known.

    A whole machine is not a pod's: the kubelet keeps a part of its CPUs and memory on every cloud, so a pod that asks
    for all of either fits nowhere.
    """
    bounds: list[int] = []
    if machine and machine.vcpus:
        bounds.append(_whole(machine.vcpus, part.role.resources.cpus))
    if machine and machine.memory_gib:
        bounds.append(_whole(machine.memory_gib, part.role.resources.memory_gib))
    if part.gpu:
        bounds.append((pool.accelerator.count if pool.accelerator else 0) // part.gpu.count)
    return min(bounds, default=None)


def _whole(offered: float, asked: float) -> int:
    """Largest number of pods whose sum stays below what is offered."""
    return math.ceil(offered / asked) - 1


def machines(env: Environment, pool: Pool) -> list[Machine | None]:
    """What the pool's nodes can be; one unknown machine where it names none."""
    return [env.provider.machine(name) for name in pool.instance_types] or [None]


def pods_of_the_best_node(env: Environment, part: Part, pool: Pool) -> int | None:
    """How many pods of a part the pool's roomiest machine holds; None where nothing limits it that is known."""
    held = [pods_of_a_node(part, machine, pool) for machine in machines(env, pool)]
    known = [count for count in held if count is not None]
    return max(known) if len(known) == len(held) else None


def nodes_needed(env: Environment, parts: list[Part], pool: Pool) -> int:
    """Fewest nodes of the pool that could hold these parts; never more than it takes, so a refusal is certain."""
    alone = [part.role.count / held for part in parts if (held := pods_of_the_best_node(env, part, pool))]
    together = [_share(parts, env, pool, "vcpus"), _share(parts, env, pool, "memory_gib"), _gpu_share(parts, pool)]
    return math.ceil(round(max([*alone, *together], default=0), 6))


def _share(parts: list[Part], env: Environment, pool: Pool, what: str) -> float:
    offered = [getattr(machine, what, None) for machine in machines(env, pool)]
    if not all(offered):
        return 0
    asked = sum(
        part.role.count * (part.role.resources.cpus if what == "vcpus" else part.role.resources.memory_gib)
        for part in parts
    )
    return asked / max(each for each in offered if each)


def _gpu_share(parts: list[Part], pool: Pool) -> float:
    asked = sum(part.role.count * part.gpu.count for part in parts if part.gpu)
    return asked / pool.accelerator.count if pool.accelerator else 0
