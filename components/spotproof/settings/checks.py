"""Cross-checks of a whole environment that hold on every cloud: one function each, in an explicit table."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from spotproof.settings.accelerators import MEMORY_GIB
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem
from spotproof.settings.fallback import Tier
from spotproof.settings.near import near, one_of
from spotproof.settings.operators import UNFIT, is_unfit
from spotproof.settings.pools import Pool
from spotproof.vocabulary import SYSTEM_NAMESPACE


def unique_names(env: Environment) -> Iterator[Problem]:
    """Two things of one kind with one name would be one thing."""
    lists: tuple[tuple[str, str, Iterable[str]], ...] = (
        ("pools", "name", (pool.name for pool in env.pools)),
        ("workspaces", "namespace", (workspace.namespace for workspace in env.workspaces)),
        ("fallbackPolicies", "name", (policy.name for policy in env.fallback_policies)),
    )
    for key, field, names in lists:
        first: dict[str, int] = {}
        for index, name in enumerate(names):
            if name in first:
                yield Problem(
                    f"{key}[{index}].{field}",
                    f"is {name}, as {key}[{first[name]}].{field} is",
                    "the second would overwrite the first",
                    "Give it a name of its own",
                )
            first.setdefault(name, index)


def tiers_name_pools(env: Environment) -> Iterator[Problem]:
    """A tier names a pool of this environment."""
    names = [pool.name for pool in env.pools]
    for at, tier in _tiers(env):
        if tier.pool not in names:
            guess = near(tier.pool, names)
            yield Problem(
                f"{at}.pool",
                f"is {tier.pool}, and there is no such pool",
                "a job that came to this tier would wait for ever",
                f"Write `pool: {guess}`" if guess else f"Write one of {one_of(names)}",
            )


def tiers_are_interchangeable(env: Environment) -> Iterator[Problem]:
    """A gang's pods ask for the same on every tier, so the pools must offer the same."""
    pools = {pool.name: pool for pool in env.pools}
    for index, policy in enumerate(env.fallback_policies):
        there = [(number, pools[tier.pool]) for number, tier in enumerate(policy.tiers) if tier.pool in pools]
        # an accelerator that nobody knows is refused for itself
        known = [each for each in there if (offer := each[1].accelerator) is None or offer.type in MEMORY_GIB]
        for (_, before), (number, pool) in pairwise(known):
            if _offer(before) != _offer(pool):
                yield Problem(
                    f"fallbackPolicies[{index}].tiers[{number}].pool",
                    f"is {pool.name} with {_offer(pool)}, after {before.name} with {_offer(before)}",
                    "a job that moved there would not fit, or run with other ranks than its checkpoint has",
                    "Name pools with the same accelerator type and count, or write a policy of its own for each kind",
                )


def _offer(pool: Pool) -> str:
    if pool.accelerator is None:
        return "no accelerator"
    return f"{pool.accelerator.count} x {pool.accelerator.type} ({pool.accelerator.memory_gib} GiB each)"


def last_tier_can_wait(env: Environment) -> Iterator[Problem]:
    """After the last tier there is nowhere to go, so a count on a spot one would end the job."""
    spot = {pool.name for pool in env.spot_pools}
    for index, policy in enumerate(env.fallback_policies):
        last = policy.tiers[-1]
        if last.pool in spot and last.max_failures != -1:
            at = f"fallbackPolicies[{index}].tiers[{len(policy.tiers) - 1}]"
            yield Problem(
                f"{at}.maxFailures",
                f"is {last.max_failures} on {last.pool}, a spot pool and the last tier",
                f"the job would have nowhere to go after interruption {last.max_failures + 1}",
                f"Add a last tier with an on-demand pool{_on_demand_of(env, last.pool)}, or write `maxFailures: "
                f"-1` to wait for spot however long it takes",
            )


def _on_demand_of(env: Environment, name: str) -> str:
    wanted = env.pool(name).accelerator
    found = [pool.name for pool in env.pools if not pool.is_spot and pool.accelerator == wanted]
    return f" ({one_of(found)})" if found else ""


def return_has_where_to_go(env: Environment) -> Iterator[Problem]:
    """A policy of one tier cannot climb back."""
    for index, policy in enumerate(env.fallback_policies):
        if policy.return_ is not None and len(policy.tiers) == 1:
            yield Problem(
                f"fallbackPolicies[{index}].return",
                "is set on a policy with one tier",
                "there is no cheaper tier to climb back to",
                "Remove it, or add a tier",
            )


RESERVED_NAMESPACES = (
    *("default", "kube-system", "kube-public", "kube-node-lease", SYSTEM_NAMESPACE),
    # those that the operators' and the logs' parts live in
    *("jobset-system", "kuberay-system", "nvidia-device-plugin", "amazon-cloudwatch"),
)


def namespaces_are_free(env: Environment) -> Iterator[Problem]:
    """A workspace is not a namespace of the cluster's own parts."""
    for index, workspace in enumerate(env.workspaces):
        if workspace.namespace in RESERVED_NAMESPACES or workspace.namespace.startswith("kube-"):
            yield Problem(
                f"workspaces[{index}].namespace",
                f"is {workspace.namespace}, which belongs to the cluster itself",
                "its members could change what runs everybody's jobs",
                "Write a name of the team's own, as in `namespace: research`",
            )


def service_accounts_are_ours(env: Environment) -> Iterator[Problem]:
    """Kubernetes makes `default` itself in every namespace, and creating it again fails."""
    for index, workspace in enumerate(env.workspaces):
        if workspace.service_account == "default":
            yield Problem(
                f"workspaces[{index}].serviceAccount",
                "is default, which Kubernetes makes by itself",
                "making it again fails, and every pod that names none would get the rights of a trainer",
                "Write a name of its own, as in `serviceAccount: trainer`",
            )


def versions_do(env: Environment) -> Iterator[Problem]:
    """A version is that of something that is, or will be, on the cluster; and one that does what jobs need."""
    for key, operator in (
        ("jobset", env.operators.jobset),
        ("kuberay", env.operators.kuberay),
        ("gpuPlugin", env.operators.gpu_plugin),
    ):
        if operator.version is None:
            continue
        if operator.mode == "off":
            yield Problem(
                f"operators.{key}.version",
                f"is {operator.version}, with `mode: off`",
                "nothing of that version would be there",
                "Remove it, or write `mode: install`",
            )
        elif is_unfit(key, operator.version):
            newer = f"{UNFIT[key].before} or newer"
            yield Problem(
                f"operators.{key}.version",
                f"is {operator.version}, and {newer} is needed",
                UNFIT[key].why,
                f"Ask whoever keeps it for {newer}, then write that version; or `mode: install`, once theirs is gone"
                if operator.mode == "existing"
                else f"Write {newer}, or leave it out",
            )


def the_controller_has_an_image(env: Environment) -> Iterator[Problem]:
    """An image is there exactly where it is run."""
    mode, image = env.operators.fallback.mode, env.operators.fallback.image
    if mode == "install" and image is None:
        yield Problem(
            "operators.fallback.image",
            "is missing, with `mode: install`",
            "there would be no controller, and jobs would stay on a tier that has dried up",
            "Write the digest that the workflow `image` printed, as in "
            "`image: <registry>/<path>@sha256:<64 hex digits>`, or `mode: off`",
        )
    elif mode != "install" and image is not None:
        yield Problem(
            "operators.fallback.image",
            f"is there, with `mode: {mode}`",
            "nothing would run it",
            "Remove it, or write `mode: install`",
        )


def the_controller_has_jobs_to_move(env: Environment) -> Iterator[Problem]:
    """It moves JobSets and RayJobs, and knows no others."""
    operators = env.operators
    if operators.fallback.mode == "install" and {operators.jobset.mode, operators.kuberay.mode} == {"off"}:
        yield Problem(
            "operators.fallback.mode",
            "is install, with `jobset: {mode: off}` and `kuberay: {mode: off}`",
            "there would be no job that it can move",
            "Install one of the two operators, or write `fallback: {mode: off}`",
        )


def prices_lie_beside(env: Environment) -> Iterator[Problem]:
    """A prices file is named relative to the stack file."""
    if env.prices is not None and (env.prices.startswith(("/", "~")) or ".." in env.prices.split("/")):
        yield Problem(
            "prices",
            f"is {env.prices}, a path out of the folder of the stack file",
            "it would not be there on another machine",
            "Put the file beside the stack file and write `prices: prices.yaml`",
        )


CHECKS: tuple[Callable[[Environment], Iterator[Problem]], ...] = (
    unique_names,
    tiers_name_pools,
    tiers_are_interchangeable,
    last_tier_can_wait,
    return_has_where_to_go,
    namespaces_are_free,
    service_accounts_are_ours,
    versions_do,
    the_controller_has_an_image,
    the_controller_has_jobs_to_move,
    prices_lie_beside,
)


def _tiers(env: Environment) -> Iterator[tuple[str, Tier]]:
    for index, policy in enumerate(env.fallback_policies):
        for number, tier in enumerate(policy.tiers):
            yield f"fallbackPolicies[{index}].tiers[{number}]", tier
