"""Jobs and policies of real stacks, as the API server and the controller have them."""

import copy
from functools import cache
from typing import Any

from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests.fallback_policy import fallback_policy, read_policy, resolve_tiers
from spotproof.manifests.scheduling import placement
from spotproof.settings import Environment
from tests.unit.manifests.jobs import experiment, rendered, resources, stack, with_controller

Json = dict[str, Any]
Path = tuple[str | int, ...]
GONE = object()

JOB_SPEC: Path = ("spec", "replicatedJobs", 0, "template", "spec")
POD_SPEC: Path = (*JOB_SPEC, "template", "spec")
CLUSTER: Path = ("spec", "rayClusterSpec")
HEAD: Path = (*CLUSTER, "headGroupSpec", "template", "spec")
WORKER: Path = (*CLUSTER, "workerGroupSpecs", 0, "template", "spec")


@cache
def resolved(stack_name: str, policy_name: str | None = None) -> ResolvedPolicy:
    """A policy of a stack, read back from its object as the controller reads it."""
    env = stack(stack_name)
    names = [each.name for each in env.fallback_policies]
    policy = env.fallback_policies[names.index(policy_name) if policy_name else 0]
    tiers = resolve_tiers(
        policy,
        pools={pool.name: pool for pool in env.pools},
        scheduling={pool.name: placement(pool, env.provider.spot_taint) for pool in env.pools},
        price=lambda _pool: None,
    )
    return read_policy(fallback_policy(policy, tiers=tiers))


def policy(**changes: Any) -> ResolvedPolicy:
    """The policy of aws-dev, changed; `tiers` maps a pool to what is different of its tier."""
    made = resolved("aws-dev")
    different: dict[str, Json] = changes.pop("tiers", {})
    tiers = tuple(tier.model_copy(update=different.get(tier.pool, {})) for tier in made.tiers)
    return made.model_copy(update={**changes, "tiers": tiers})


def stored(manifest: Json, *, created: str = "2026-11-21T10:00:00Z", uid: str = "b") -> Json:
    """A job as the API server gives it back."""
    made: Json = copy.deepcopy(manifest)
    made["metadata"] |= {"uid": uid, "creationTimestamp": created, "generation": 1}
    return made


def job(operator: str, env: Environment | None = None, stack_name: str = "aws-dev", policy: int = 0) -> Json:
    """A rendered job on the tiers of a stack's policy, for a cluster with the controller."""
    env = env or with_controller(stack(stack_name))
    wanted = env.fallback_policies[policy]
    pools = [env.pool(tier.pool) for tier in wanted.tiers]
    role = {"count": min(2, *(pool.max_nodes for pool in pools)), "resources": resources(pools[0])}
    return stored(rendered(experiment(operator, role, fallbackPolicy=wanted.name), env, stack_name))


JOBSET = job("jobset")
RAYJOB = job("kuberay")


def changed(manifest: Json, path: Path, value: object) -> Json:
    """A job with one thing different; with GONE without it."""
    made: Json = copy.deepcopy(manifest)
    here: Any = made
    for part in path[:-1]:
        here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
    if value is GONE:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return made
