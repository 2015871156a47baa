"""What `spotproof plan` takes from a stack: a policy with its prices, limits of pools, and what is always paid for."""

import os
from dataclasses import dataclass
from pathlib import Path

from spotproof.economics.plan_document import AlwaysOn
from spotproof.fallback.policy import Policy, Tier, policy_of
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests.fallback_policy import fallback_policy, read_policy, resolve_tiers
from spotproof.manifests.scheduling import placement
from spotproof.preview.project import Project, ProjectError, unknown_name
from spotproof.prices import Price, Prices, load_prices
from spotproof.settings import Environment, SettingsError, clock, load_stack, read_stack_file
from spotproof.settings.near import one_of
from spotproof.settings.pools import Pool
from spotproof.vocabulary import ON_DEMAND


class ContentsError(ValueError):
    """The stack's contents cannot be planned with; one sentence."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """One stack's policy and what it is bought for."""

    name: str
    env: Environment
    resolved: ResolvedPolicy
    policy: Policy
    on_demand: Tier
    prices: Prices

    @property
    def limits(self) -> dict[str, int]:
        """Pool -> the most nodes it may have."""
        return {pool.name: pool.max_nodes for pool in self.env.pools}

    @property
    def assumed(self) -> frozenset[str]:
        """Tiers whose price nobody has seen in this place; the on-demand price of theirs among them."""
        return frozenset(pool.name for pool in self._pools if (price := self._price(pool)) and price.assumed)

    @property
    def _pools(self) -> list[Pool]:
        tiers = {tier.pool for tier in self.policy.tiers}
        return [pool for pool in self.env.pools if pool.name in tiers]

    def _price(self, pool: Pool) -> Price | None:
        return self.prices.pool(self.env.provider, pool)

    @property
    def head(self) -> tuple[float, str] | None:
        """USD per hour and pool of the cheapest on-demand node without accelerators; None where there is none."""
        trains = {tier.pool for tier in self.policy.tiers}
        plain = [pool for pool in self.env.pools if not (pool.is_spot or pool.accelerator or pool.name in trains)]
        priced = [(price.usd_per_hour, pool.name) for pool in plain if (price := self._price(pool))]
        return min(priced, default=None)

    def tiers(self) -> list[dict[str, object]]:
        """The policy's tiers for a report."""
        return [
            {
                "pool": tier.pool,
                "capacity": tier.capacity,
                "usdPerNodeHour": tier.usd_per_node_hour,
                "priceSource": tier.price_source,
                "assumed": tier.pool in self.assumed,
            }
            for tier in self.resolved.tiers
        ]


def read_stack(project: Project, name: str, policy: str | None) -> Stack:
    """A stack's policy with its prices; no program runs.

    Raises:
        ProjectError: there is no such stack or policy, or it is not said which.
        SettingsError: the stack file or the prices file cannot work.
        ContentsError: the policy cannot be planned with.
    """
    file = project.stack_file(name)
    env = load_stack(read_stack_file(file), today=clock.today(), source=file.name)
    prices = load_prices(file.parent / env.prices if env.prices else None)
    chosen = _policy(env, policy, file.name)
    pools = {pool.name: pool for pool in env.pools}
    where = {each: placement(pool, env.provider.spot_taint) for each, pool in pools.items()}
    written = next(each for each in env.fallback_policies if each.name == chosen)
    tiers = resolve_tiers(written, pools=pools, scheduling=where, price=lambda pool: prices.pool(env.provider, pool))
    # as the object in the cluster holds it, and as its controller reads it
    resolved = read_policy(fallback_policy(written, tiers=tiers))
    _priced(resolved, file.name)
    rule = policy_of(resolved)
    return Stack(
        name=name,
        env=env,
        resolved=resolved,
        policy=rule,
        on_demand=rule.on_demand or _instead(rule, pools, env, prices, file.name),
        prices=prices,
    )


def _policy(env: Environment, asked: str | None, source: str) -> str:
    known = {policy.name: policy for policy in env.fallback_policies}
    if not known:
        raise ContentsError(f"{source} has no fallback policy, so there is none to plan with; write fallbackPolicies")
    if asked is None and len(known) > 1:
        raise ProjectError(f"which policy? Write --policy {one_of(known)}")
    if asked is not None and asked not in known:
        raise ProjectError(unknown_name("fallback policy", asked, known))
    return asked or next(iter(known))


def _priced(resolved: ResolvedPolicy, source: str) -> None:
    if not any(tier.capacity != ON_DEMAND for tier in resolved.tiers):
        raise ContentsError(
            f"{source}: fallback policy {resolved.name} has no spot tier, so there is nothing to compare; name another"
        )
    staying = [tier.pool for tier in resolved.tiers if tier.capacity == ON_DEMAND]
    if len(staying) > 1:
        raise ContentsError(
            f"{source}: fallback policy {resolved.name} has the on-demand tiers {', '.join(staying)}, and a job that "
            "is on one never needs another, so their prices cannot be compared; leave one of them"
        )
    unknown = [tier.pool for tier in resolved.tiers if not tier.usd_per_node_hour]
    if unknown:
        raise ContentsError(
            f"{source}: no price is known for pool {one_of(unknown).replace(' or ', ' and ')}, so no cost can be "
            "told; write usdPerHour and spotUsdPerHour of its instanceTypes into a prices file, and name it as prices"
        )


def _instead(policy: Policy, pools: dict[str, Pool], env: Environment, prices: Prices, source: str) -> Tier:
    """The machines of the first tier, bought on-demand: what a policy without such a tier is compared with."""
    first = policy.tiers[0].pool
    price = prices.pool(env.provider, pools[first], ON_DEMAND)
    if price is None or not price.usd_per_hour:
        raise ContentsError(
            f"{source}: no on-demand price is known for the machines of pool {first}, so no saving can be told; "
            "write usdPerHour of its instanceTypes into a prices file, and name it as prices"
        )
    return Tier(f"{first}-on-demand", spot=False, usd=price.usd_per_hour)


def always_on(stack: Stack, idle: tuple[float | None, str]) -> AlwaysOn:
    """What is paid for whether the job runs or not, and the node a Ray head needs.

    Args:
        stack: The stack.
        idle: What a preview says of it, from idle_usd.
    """
    system, note = idle
    head = stack.head
    notes = [note]
    if head is None:
        notes.append("No on-demand pool without accelerators has a price, so a Ray head's node is not in here.")
    else:
        notes.append(f"A Ray head takes one on-demand node of pool {head[1]} while the job runs; a JobSet has none.")
    return AlwaysOn(system_usd=system, head_usd=head[0] if head else None, note=" ".join(notes))


def idle_usd(program: Path, stack: str, prices_file: Path | None, *, makes_nodes: bool) -> tuple[float | None, str]:
    """USD per hour of an environment without jobs, as `spotproof preview` has it, and what is in it.

    Runs the stack's program, and so loads a cloud's SDK: to be called in a process of its own.
    """
    if not makes_nodes:
        return None, "Nodes and control plane of a cluster somebody else made are not known here."
    os.environ.setdefault("PULUMI_ERROR_OUTPUT_STRING", "true")
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from spotproof.preview import cost  # noqa: PLC0415
    from spotproof.preview.errors import ProgramError  # noqa: PLC0415
    from spotproof.preview.project import load_project  # noqa: PLC0415
    from spotproof.preview.regions import default_regions  # noqa: PLC0415
    from spotproof.preview.run import capture  # noqa: PLC0415

    try:
        project = load_project(program)
        captured = capture(project.program, project.target(stack), "unknown", set())
        regions = default_regions(read_stack_file(project.stack_files[stack]))
        found = cost.estimate(captured, load_prices(prices_file), regions)
    except (ProgramError, ProjectError, SettingsError) as error:
        return None, f"What is always on is not known, as the stack cannot be previewed: {str(error).splitlines()[0]}"
    missing = f", without {', '.join(found.unpriced)}, which have no price" if found.unpriced else ""
    what = ", ".join(f"{charge.count:g} x {charge.what}" for charge in found.idle)
    return found.idle_usd, f"Always on, and shared by all jobs: {what or 'nothing'}{missing}."
