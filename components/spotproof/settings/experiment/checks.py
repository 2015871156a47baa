"""What an experiment must agree with, its operator and its environment: one function each, in an explicit table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem, shown
from spotproof.settings.experiment import landing, names, selectors
from spotproof.settings.experiment.fit import misfits, unknown_gpus
from spotproof.settings.experiment.landing import Landing, Landings, landings
from spotproof.settings.experiment.model import KUBERAY, OPERATORS, Experiment
from spotproof.settings.experiment.parts import HEAD, RAY_WORKERS, Part, parts_of
from spotproof.settings.near import near, one_of


@dataclass(frozen=True)
class Case:
    """One experiment in one environment, under the name it is to run by."""

    experiment: Experiment
    env: Environment
    run: str

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the job."""
        return parts_of(self.experiment)

    @cached_property
    def landings(self) -> Landings:
        """Where they land, and what stands in the way."""
        return landings(self.experiment, self.env)

    @property
    def landed(self) -> list[Landing]:
        """Where they land."""
        return self.landings.found


def operator_recovers(case: Case) -> Iterator[Problem]:
    """Two operators restart a gang; another one is refused, on spot for the reason the document gives."""
    operator = case.experiment.spec.operator
    if operator in OPERATORS:
        return
    on_spot = any(pool.is_spot for landed in case.landed for pool in landed.pools)
    guess = near(operator, OPERATORS)
    yield Problem(
        "spec.operator",
        f"is {shown(operator)}; recovering from eviction is supported by two operators, jobset and kuberay"
        if on_spot
        else f"is {shown(operator)}, which is not rendered here",
        "the job would fail when the eviction happens" if on_spot else "nothing would come of the file",
        f"Write `operator: {guess}`" if guess else "Write `operator: jobset`, or `operator: kuberay` for Ray",
    )


def operator_is_there(case: Case) -> Iterator[Problem]:
    """A job needs its operator on the cluster."""
    operator = case.experiment.spec.operator
    modes = {"jobset": case.env.operators.jobset.mode, "kuberay": case.env.operators.kuberay.mode}
    if modes.get(operator) == "off":
        yield Problem(
            "spec.operator",
            f"is {operator}, and the stack has `operators.{operator}.mode: off`",
            "nothing on the cluster would know the job",
            f"Write `operators: {{{operator}: {{mode: install}}}}` in the stack file, or use the other operator",
        )


def one_way_to_land(case: Case) -> Iterator[Problem]:
    """A policy or a pool, not both."""
    spec = case.experiment.spec
    if spec.fallback_policy is not None and spec.pool is not None:
        yield Problem(
            "spec.pool",
            f"is {spec.pool} beside `fallbackPolicy: {spec.fallback_policy}`",
            "the job would be told to stay on a pool and to move between pools",
            "Keep one of them; a role that is to stay has a `pool` of its own",
        )


def names_are_the_stacks(case: Case) -> Iterator[Problem]:
    """Policies and pools are those of the stack."""
    spec, env = case.experiment.spec, case.env
    pools = [pool.name for pool in env.pools]
    policies = [policy.name for policy in env.fallback_policies]
    named = [
        ("spec.fallbackPolicy", "fallbackPolicy", spec.fallback_policy, policies, "fallback policy"),
        ("spec.pool", "pool", spec.pool, pools, "pool"),
        *((f"{part.at}.pool", "pool", part.role.pool, pools, "pool") for part in case.parts),
    ]
    for at, key, name, known, kind in named:
        if name is not None and name not in known:
            guess = near(name, known)
            yield Problem(
                at,
                f"is {name}, and this stack has no such {kind}",
                "the job would wait for ever" if kind == "pool" else "nobody would move the job",
                f"Write `{key}: {guess}`"
                if guess
                else f"Write one of {one_of(known)}"
                if known
                else f"Add a {kind} to the stack, or remove it",
            )


def roles_are_the_operators(case: Case) -> Iterator[Problem]:
    """KubeRay knows a head and workers; JobSet any role, but no list of them."""
    spec = case.experiment.spec
    if spec.operator != KUBERAY:
        yield from (
            Problem(
                f"spec.types.{name}",
                "is a list, as KubeRay's Workers are",
                "JobSet has no groups inside a role",
                "Write each group as a role of its own",
            )
            for name, role in spec.types.items()
            if isinstance(role, tuple)
        )
        return
    for name in spec.types:
        if name not in (HEAD, *RAY_WORKERS):
            guess = near(name, (HEAD, *RAY_WORKERS))
            remedy = f"Write {guess}" if guess else "Write Head and Workers, with groups of workers as a list"
            yield Problem(f"spec.types.{name}", "is no role of a Ray cluster", "it would run nothing", remedy)
    head = spec.types.get(HEAD)
    if head is None and HEAD not in {near(name, (HEAD, *RAY_WORKERS)) for name in spec.types}:
        yield Problem(
            "spec.types",
            "has no Head",
            "a Ray cluster has one, where the job's own program runs",
            "Write `Head: {resources: {cpus: 4, ramRatio: 4}}`",
        )
    elif head is not None and (isinstance(head, tuple) or head.count != 1):
        yield Problem(
            f"spec.types.{HEAD}{'' if isinstance(head, tuple) else '.count'}",
            "is more than one head",
            "a Ray cluster has one",
            "Write one Head without a count",
        )


def heads_stay(case: Case) -> Iterator[Problem]:
    """A head on spot ends the whole RayJob; what stays and what moves must be told apart."""
    spec = case.experiment.spec
    tiers = {tier.pool for tier in policy.tiers} if (policy := landing.policy_of(case.experiment, case.env)) else set()
    for landed in case.landed:
        part = landed.part
        if part.is_ray_head and landed.pool.is_spot:
            yield Problem(
                f"{part.at}.pool" if part.role.pool else f"{part.at}.extraSelectors",
                f"puts the head on {landed.pool.name}, a spot pool",
                "a head that is not back within 5 minutes fails the RayJob for good, and KubeRay does not retry that",
                "Remove it: the head is put on-demand, the workers on spot",
            )
        elif part.role.pool in tiers and not part.is_ray_head:
            yield Problem(
                f"{part.at}.pool",
                f"is {part.role.pool}, a tier of fallback policy {spec.fallback_policy}",
                "a move changes the pool of every role that stands on a tier, so it would not stay there",
                "Remove it, and the role moves with the job; or name a pool that is no tier",
            )
    if tiers and not any(landed.moves for landed in case.landed):
        yield Problem(
            "spec.fallbackPolicy",
            f"is {spec.fallback_policy}, and no role could move: those without a `pool` of their own ask for no GPU, "
            "as its tiers have",
            "the policy would have no effect",
            "Ask for accelerators in the role that is to move, remove its `pool`, or name a policy without GPUs",
        )


def gpus_are_known(case: Case) -> Iterator[Problem]:
    """Only what is a GPU can be looked for in a pool."""
    for part in case.parts:
        yield from unknown_gpus(part)


def shared_memory_is_memory(case: Case) -> Iterator[Problem]:
    """Shared memory is a part of the pod's own."""
    for part in case.parts:
        resources = part.role.resources
        if resources.shm_size_gb > resources.memory_gib:
            yield Problem(
                f"{part.at}.resources.shmSizeGB",
                f"is {resources.shm_size_gb:g}, more than the pod's {resources.memory_gib:g} GiB of memory",
                "shared memory is a part of it, and the pod would be killed when it is used",
                "Write less, or give the pod more memory",
            )


def pods_fit(case: Case) -> Iterator[Problem]:
    """Every pod fits a node of every pool its role may run on, and the pools hold the whole gang."""
    known = {part.at for part in case.parts if not any(unknown_gpus(part))}
    yield from (problem for problem in case.landings.problems if problem.key in known)
    first: dict[str, Problem] = {}
    for landed in case.landed:
        for pool in landed.pools if landed.part.at in known else ():
            for problem in misfits(landed.part, pool, case.env):
                first.setdefault(problem.key, problem)
    yield from first.values()
    yield from landing.too_many(case.env, case.landed)


def an_eviction_can_be_survived(case: Case) -> Iterator[Problem]:
    """On spot, without anybody who moves the job, no restarts means none at all."""
    spec = case.experiment.spec
    if spec.restart_policy.backoff_limit or spec.fallback_policy is not None:
        return
    if on_spot := [landed.pool.name for landed in case.landed if landed.pool.is_spot]:
        yield Problem(
            "spec.restartPolicy.backoffLimit",
            f"is 0, on {on_spot[0]}, a spot pool",
            "the first eviction would end the job, whatever it has computed",
            "Write `backoffLimit: 5`, or name a fallbackPolicy",
        )


def names_fit(case: Case) -> Iterator[Problem]:
    """Names of objects and pods, made of the run's and the roles' names."""
    return names.problems(case.experiment, case.run)


def selectors_can_be_met(case: Case) -> Iterator[Problem]:
    """Extra selectors and tolerations against where the roles land."""
    return selectors.problems(case.parts, case.landed, case.env)


CHECKS: Final[tuple[Callable[[Case], Iterator[Problem]], ...]] = (
    operator_recovers,
    operator_is_there,
    one_way_to_land,
    names_are_the_stacks,
    roles_are_the_operators,
    heads_stay,
    gpus_are_known,
    shared_memory_is_memory,
    pods_fit,
    an_eviction_can_be_survived,
    names_fit,
    selectors_can_be_met,
)
