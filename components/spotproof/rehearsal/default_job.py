"""The job of a rehearsal that names none: a gang of two on the first spot pool that a policy, or the stack, has."""

import math
from collections.abc import Sequence
from typing import Any, Final

from spotproof.settings import Environment
from spotproof.settings.experiment.checks import Case
from spotproof.settings.experiment.load import load_experiment
from spotproof.settings.experiment.model import JOBSET, KUBERAY
from spotproof.settings.experiment.room import likely, rooms
from spotproof.settings.fallback import FallbackPolicy
from spotproof.settings.pools import Pool

NAME: Final = "rehearsal"
PODS: Final = 2
SHARE: Final = 0.6
"""Of a node, for one pod: more than half of it, so that every pod has a node of its own."""
UNKNOWN: Final = {"cpus": 1, "memory": 2}
"""Of machines of which nothing is known."""


class NothingToTake(Exception):  # noqa: N818 - the name is the sentence
    """The stack has nothing that can be reclaimed; the text says what is missing."""


def default_case(env: Environment) -> Case:
    """The job.

    Raises:
        NothingToTake: the stack has no spot pool that a job could be on.
    """
    policy = next((each for each in env.fallback_policies if env.pool(each.tiers[0].pool).is_spot), None)
    pool = env.pool(policy.tiers[0].pool) if policy else next(iter(env.spot_pools), None)
    if pool is None:
        raise NothingToTake(
            "this stack has no spot pool, so there is nothing to take away; add a pool with `capacity: spot`"
        )
    return load_experiment(document(env, pool, policy), env, stem=NAME, source="the job of the rehearsal")


def document(env: Environment, pool: Pool, policy: FallbackPolicy | None) -> dict[str, Any]:
    """The experiment, as a file would have it."""
    pools = [env.pool(tier.pool) for tier in policy.tiers] if policy else [pool]
    pods, resources = _size(env, pools)
    where = {"fallbackPolicy": policy.name} if policy else {"pool": pool.name}
    role = {"count": pods, "resources": resources}
    if env.operators.jobset.mode != "off":
        job: dict[str, Any] = {"operator": JOBSET, "types": {"Worker": role}}
    else:
        types = {"Head": {"resources": UNKNOWN}, "Workers": [{"name": "worker", **role}]}
        job = {"operator": KUBERAY, "types": types}
    return {"name": NAME, "spec": {**job, "image": "none", "command": ["none"], **where}}


def _size(env: Environment, pools: Sequence[Pool]) -> tuple[int, dict[str, Any]]:
    """How many pods, and what each asks for: most of the smallest node of any of the pools, with all of its GPUs."""
    offered = [room for pool in pools for room in rooms(env, pool, likely)]
    cpus = [room.vcpus for room in offered if room.vcpus is not None]
    memory = [room.memory_gib for room in offered if room.memory_gib is not None]
    gpus = min(pool.accelerator.count if pool.accelerator else 0 for pool in pools)
    known = len(cpus) == len(memory) == len(offered)
    asked = {"cpus": _part(cpus), "memory": _part(memory)} if known else dict(UNKNOWN)
    pods = min(PODS, *(pool.max_nodes for pool in pools)) if known or gpus else PODS
    return pods, {**asked, **({"accelerators": {"gpu": {"count": gpus}}} if gpus else {})}


def _part(offered: Sequence[float]) -> int:
    return max(1, math.floor(min(offered) * SHARE))
