"""Pools against the machines they name: what no cloud could make sense of."""

from collections.abc import Iterator

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.near import near, one_of
from spotproof.settings.pools import Pool


def pools_name_machines(env: Environment) -> Iterator[Problem]:
    """Where nodes are made, a pool says of what; and says it once."""
    for index, pool in enumerate(env.pools):
        at = f"pools[{index}].instanceTypes"
        if env.provider.makes_nodes and not pool.instance_types:
            example = one_of(env.provider.default_types.get("gpu", ())[:1])
            yield Problem(
                at,
                "is missing",
                "it has no default, because a guess would be wrong (the cloud's own names, one or many)",
                f"Write `instanceTypes: [{example}]`",
            )
        for number, name in enumerate(pool.instance_types):
            if name in pool.instance_types[:number]:
                yield Problem(
                    f"{at}[{number}]", f"is {name} a second time", "it would change nothing", "Keep one of them"
                )


def accelerators_are_known(env: Environment) -> Iterator[Problem]:
    """A type of accelerator is one of the table, whose memory can be compared between tiers."""
    for index, pool in enumerate(env.pools):
        if pool.accelerator is not None and pool.accelerator.type not in MEMORY_GIB:
            guess = near(pool.accelerator.type, MEMORY_GIB)
            yield Problem(
                f"pools[{index}].accelerator.type",
                f"is {shown(pool.accelerator.type)}, which is not known",
                "its memory could not be compared between tiers",
                f"Write {guess}" if guess else f"Write one of {one_of(MEMORY_GIB)}",
            )
        else:
            yield from _of_the_machines(env, f"pools[{index}]", pool)


def _of_the_machines(env: Environment, at: str, pool: Pool) -> Iterator[Problem]:
    """All types of one pool have the accelerators that the pool says."""
    said = (pool.accelerator.type, pool.accelerator.count) if pool.accelerator else None
    for number, name in enumerate(pool.instance_types):
        machine = env.provider.machine(name)
        if machine is None or not machine.accelerators_known:
            continue
        has = (machine.accelerator, machine.accelerator_count) if machine.accelerator else None
        if has is not None and has != said:
            wanted = f"{said[1]} x {said[0]}" if said else "none"
            yield Problem(
                f"{at}.instanceTypes[{number}]",
                f"is {name} with {has[1]} x {has[0]}, in a pool whose accelerator is {wanted}",
                "ranks of one gang would differ, or pods would not fit",
                f"Make a pool of its own for {name}, or write `accelerator: {{type: {has[0]}, count: {has[1]}}}`",
            )
        elif has is None and said is not None and not machine.takes_accelerators:
            yield Problem(
                f"{at}.accelerator",
                f"is {said[0]}, and {name} has none",
                "pods that ask for a GPU would wait for ever",
                "Remove it, or write an instance type that has it",
            )


def one_architecture_a_pool(env: Environment) -> Iterator[Problem]:
    """One image does not run on two architectures."""
    for index, pool in enumerate(env.pools):
        machines = [env.provider.machine(name) for name in pool.instance_types]
        if len({machine.architecture for machine in machines if machine}) > 1:
            yield Problem(
                f"pools[{index}].instanceTypes",
                "mixes arm64 and x86 (amd64) types",
                "an image built for one crashes on the other, on whichever node it happens to get",
                "Make a pool for each architecture",
            )


def pools_keep_to_the_networks_zones(env: Environment) -> Iterator[Problem]:
    """A pool's zones are some of the network's."""
    for index, pool in enumerate(env.pools):
        for number, zone in enumerate(pool.zones or ()):
            if env.zones and zone not in env.zones:
                yield Problem(
                    f"pools[{index}].zones[{number}]",
                    f"is {shown(zone)}, where this network has no subnet",
                    "the pool could never launch a node there",
                    f"Write one of {one_of(env.zones)}",
                )


CHECKS = (pools_name_machines, accelerators_are_known, one_architecture_a_pool, pools_keep_to_the_networks_zones)
