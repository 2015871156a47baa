"""Where the parts of an experiment land: a policy's tiers, a pool, or on-demand; and why."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spotproof.settings.base import render_duration
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem
from spotproof.settings.experiment.fit import misfits
from spotproof.settings.experiment.model import Experiment
from spotproof.settings.experiment.parts import Part, parts_of
from spotproof.settings.experiment.room import likely, nodes_needed
from spotproof.settings.fallback import FallbackPolicy
from spotproof.settings.near import one_of
from spotproof.settings.pools import Pool
from spotproof.vocabulary import ON_DEMAND, SPOT, Capacity

TIERS = "tiers"


@dataclass(frozen=True)
class Landing:
    """Pools a part may run on, the first where it starts; `notes` are what was decided for its author.

    `by_capacity`: the file named no pool for it, only a capacity, or nothing.
    """

    part: Part
    pools: tuple[Pool, ...]
    moves: bool = False
    by_capacity: bool = False
    notes: tuple[str, ...] = ()

    @property
    def pool(self) -> Pool:
        """Where it starts."""
        return self.pools[0]

    @property
    def gang(self) -> str:
        """The pods it lands together with: those of the same tiers, or of the same pool."""
        return TIERS if self.moves else f"pool-{self.pool.name}"


@dataclass
class Landings:
    """Every part's landing, and what stands in the way."""

    found: list[Landing] = field(default_factory=list[Landing])
    problems: list[Problem] = field(default_factory=list[Problem])


def policy_of(experiment: Experiment, env: Environment) -> FallbackPolicy | None:
    """The fallback policy the experiment names, where the stack has it."""
    wanted = experiment.spec.fallback_policy
    return next((policy for policy in env.fallback_policies if policy.name == wanted), None)


def landings(experiment: Experiment, env: Environment) -> Landings:
    """Where each part lands; parts whose policy or pool the stack does not have are left out."""
    result = Landings()
    for part in parts_of(experiment):
        landed = _landing(part, experiment, env)
        if isinstance(landed, Landing):
            result.found.append(landed)
        elif landed is not None:
            result.problems.append(landed)
    return result


def _landing(part: Part, experiment: Experiment, env: Environment) -> Landing | Problem | None:
    spec = experiment.spec
    if part.role.pool is not None:
        return _on(part, part.role.pool, env)
    if spec.fallback_policy is not None:
        policy = policy_of(experiment, env)
        return _on_tiers(part, policy, env) if policy else None
    if spec.pool is not None:
        landed = _on(part, spec.pool, env)
        if landed is None or not (part.is_ray_head and landed.pool.is_spot):
            return landed
        return _first(part, env, ON_DEMAND, f"{part.name} runs on-demand, because a RayJob dies with its head")
    capacity = _asked_capacity(part)
    said = (
        "its extraSelectors say so" if part.capacity_selectors else "neither spec.fallbackPolicy nor spec.pool is given"
    )
    where = "on spot" if capacity == SPOT else "on-demand"
    return _first(part, env, capacity, f"{part.name} runs {where}: {said}")


def _on(part: Part, name: str, env: Environment) -> Landing | None:
    return next((Landing(part, (pool,)) for pool in env.pools if pool.name == name), None)


def _on_tiers(part: Part, policy: FallbackPolicy, env: Environment) -> Landing | Problem | None:
    pools = {pool.name: pool for pool in env.pools}
    tiers = tuple(pools[tier.pool] for tier in policy.tiers)
    if part.is_ray_head:
        return _first(
            part, env, ON_DEMAND, f"{part.name} stays on-demand when the job moves, because a RayJob dies with its head"
        )
    if part.gpu is None and tiers[0].accelerator is not None:
        landed = _first(part, env, ON_DEMAND, f"{part.name} stays on-demand when the job moves: it asks for no GPU")
        # on a tier's own pool it would move with the others anyway, by the same value of the same label
        if isinstance(landed, Landing) and landed.pool not in tiers:
            return landed
    return Landing(part, tiers, moves=True)


def _asked_capacity(part: Part) -> Capacity:
    asked = {capacity for _, capacity in part.capacity_selectors.values()}
    return SPOT if SPOT in asked else ON_DEMAND


def _first(part: Part, env: Environment, capacity: Capacity, why: str) -> Landing | Problem:
    """The first pool of a capacity that has room; without GPUs asked for, one without GPUs where there is one."""
    of_capacity = [pool for pool in env.pools if pool.capacity == capacity]
    room = [pool for pool in of_capacity if next(misfits(part, pool, env), None) is None]
    room = [pool for pool in room if nodes_needed(env, [part], pool) <= pool.max_nodes]
    room.sort(key=lambda pool: part.gpu is None and pool.accelerator is not None)
    if not room:
        looked = f"{one_of(pool.name for pool in of_capacity)} do not fit" if of_capacity else "there is none"
        return Problem(
            part.at,
            f"needs {_size(part)} on {capacity}, and no {capacity} pool of this stack has room for it ({looked})",
            "its pods would wait for ever",
            f"Add {'an on-demand' if capacity == ON_DEMAND else 'a spot'} pool to the stack, ask for less, or write a "
            "`pool` that is there",
        )
    note = why
    others = [pool.name for pool in room[1:]]
    if others and not part.is_ray_head:
        note += f" (`pool` chooses another: {one_of(others)})"
    return Landing(part, (room[0],), by_capacity=True, notes=(note,))


def _size(part: Part) -> str:
    asks = part.role.resources
    gpus = f", {part.gpu.count} GPU of {part.gpu.product or 'any kind'}" if part.gpu else ""
    return f"{part.role.count} x {asks.cpus:g} CPUs, {asks.memory_gib:g} GiB{gpus}"


def too_many(env: Environment, found: Sequence[Landing]) -> Iterator[Problem]:
    """A gang that a pool could not hold, each pool with all the parts that may be on it at once."""
    for pool, here in _by_pool(found):
        needed = nodes_needed(env, here, pool)
        if pool.max_nodes < needed < math.inf:  # a pod that fits on no node is a problem of its own
            largest = max(here, key=lambda part: nodes_needed(env, [part], pool))
            yield Problem(
                f"{largest.at}.count",
                f"is {largest.role.count}: the job needs at least {needed} nodes of pool {pool.name}, whose maxNodes "
                f"is {pool.max_nodes}",
                "a part of the gang would hold nodes and wait for the rest for ever",
                f"Write a smaller count, or raise maxNodes of {pool.name} in the stack file",
            )


def _by_pool(found: Sequence[Landing]) -> Iterator[tuple[Pool, list[Part]]]:
    for pool in {pool.name: pool for landing in found for pool in landing.pools}.values():
        yield pool, [landing.part for landing in found if pool in landing.pools]


def tight(env: Environment, found: Sequence[Landing]) -> Iterator[str]:
    """What fits on paper and may wait for ever: pods that leave a node little for its kubelet and its agents."""
    for pool, here in _by_pool(found):
        needed = nodes_needed(env, here, pool, likely)
        if needed > pool.max_nodes:
            comes_to = "one pod fills it" if math.isinf(needed) else f"the job comes to {needed} of them"
            yield (
                f"{' and '.join(part.name for part in here)} may not fit on {pool.name}: kubelet and agents take a "
                f"part of every node, and {comes_to}; if pods stay Pending, ask for less"
            )


def zones_apart(env: Environment, found: Sequence[Landing]) -> Iterator[str]:
    """Gangs that need the whole of a pool that is in several zones, where Karpenter buys its nodes.

    Of a gang with a required affinity to one zone Karpenter 1.14 buys about every eighth in two: the zone of its first
    pod is drawn twice (`nextDomainAffinity`), either is taken. It buys again in the right one, if the pool is not full.
    """
    if not env.provider.node_class_group:
        return
    for pool, here in _by_pool(found):
        needed = nodes_needed(env, here, pool)
        if 1 < needed == pool.max_nodes and len(env.zones_of(pool)) > 1:
            yield (
                f"the job needs all {needed} nodes of {pool.name}: Karpenter may buy one of them in another zone than "
                "the rest, where the job waits until it has been empty for consolidateAfter "
                f"({render_duration(pool.consolidate_after)}); a maxNodes of {needed + 1} leaves it room to buy another"
            )
