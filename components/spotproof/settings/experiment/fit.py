"""Why a pod of a part does not fit on a node of a pool, and GPUs that nobody knows."""

from collections.abc import Iterator

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.experiment.accelerators import ANY, is_slice, meant
from spotproof.settings.experiment.model import Gpu
from spotproof.settings.experiment.parts import Part
from spotproof.settings.experiment.room import largest, rooms
from spotproof.settings.near import one_of
from spotproof.settings.pools import Accelerator, Pool


def misfits(part: Part, pool: Pool, env: Environment) -> Iterator[Problem]:
    """Why not one pod of a part fits on any node of a pool."""
    if part.gpu is not None:
        yield from _gpu_misfits(part.gpu, f"{part.at}.resources.accelerators.gpu", pool)
    resources = part.role.resources
    memory_key = "ramRatio" if resources.memory is None else "memory"
    nodes = rooms(env, pool)
    for key, unit, asked, offered in (
        ("cpus", "CPUs", resources.cpus, largest(room.vcpus for room in nodes)),
        (memory_key, "GiB", resources.memory_gib, largest(room.memory_gib for room in nodes)),
    ):
        if offered is not None and asked > offered:
            yield Problem(
                f"{part.at}.resources.{key}",
                f"comes to {asked:g} {unit}, and the largest node of pool {pool.name} has {offered:.4g} for pods, as "
                "the kubelet keeps a part of every node",
                "the pods would wait for ever",
                "Ask for less, or name a pool with larger nodes",
            )


def _gpu_misfits(gpu: Gpu, at: str, pool: Pool) -> Iterator[Problem]:
    if pool.accelerator is None:
        yield Problem(
            f"{at}.count",
            f"is {gpu.count}, and the nodes of pool {pool.name} have no GPU",
            "the pods would wait for ever",
            "Name a pool or a policy with GPUs, or remove accelerators",
        )
        return
    if gpu.count > pool.accelerator.count:
        yield Problem(
            f"{at}.count",
            f"is {gpu.count}, and a node of pool {pool.name} has {pool.accelerator.count}",
            "the pods would wait for ever",
            f"Write `count: {pool.accelerator.count}` or less; more pods get more GPUs",
        )
    yield from _other_gpus(gpu, at, pool.name, pool.accelerator)


def _other_gpus(gpu: Gpu, at: str, pool: str, accelerator: Accelerator) -> Iterator[Problem]:
    for key, name in _named(gpu):
        if accelerator.type not in meant(name):
            yield Problem(
                f"{at}.{key}",
                f"is {shown(name)}, and pool {pool} has {accelerator.type}",
                "the job would run on another GPU than it asks for",
                f"Write `{key}: {accelerator.type}`, or name a pool or policy that has it",
            )


def _named(gpu: Gpu) -> Iterator[tuple[str, str]]:
    """The keys that say which GPU, with what they say; `type: gpu` says none."""
    if gpu.product is not None:
        yield "product", gpu.product
    if gpu.type is not None and gpu.type.lower() != ANY:
        yield "type", gpu.type


def unknown_gpus(part: Part) -> Iterator[Problem]:
    """Names of GPUs that nobody here knows, whatever the pool."""
    for key, name in _named(part.gpu) if part.gpu else ():
        at = f"{part.at}.resources.accelerators.gpu.{key}"
        if is_slice(name):
            yield Problem(
                at,
                f"is {shown(name)}, a slice of a GPU",
                "pools offer whole GPUs, so the pods would wait for ever",
                "Write `type: gpu` and count whole GPUs",
            )
        elif not meant(name):
            yield Problem(
                at,
                f"is {shown(name)}, which is no GPU known here",
                "it could not be checked that the job runs on it",
                f"Write one of {one_of(MEMORY_GIB)}",
            )
