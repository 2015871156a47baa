"""Which policy `spotproof simulate` runs, and for which job: by name or from a file, with prices for every tier."""

from dataclasses import dataclass, replace
from typing import Final

from spotproof.cli.simulate_options import OMNISCIENT, SPOTPROOF, Given, Times, Usage, policy_file
from spotproof.cli.simulate_policy_file import load_policy
from spotproof.economics import ticks
from spotproof.economics.baselines import BASELINES
from spotproof.economics.outcome import Job
from spotproof.economics.replay import Baseline, Contender, Omniscient, Ours, pace_policy
from spotproof.fallback.policy import Order, Policy, Tier

ON_DEMAND_USD: Final = 3.06
SPOT_USD: Final = 0.9731
"""p3.2xlarge, as the published figures have it."""
TICK_ORDERS: Final[dict[Order, ticks.Order]] = {Order.LISTED: "list", Order.LEAST_RECENTLY_FAILED: "longest-up"}


@dataclass(frozen=True)
class Setup:
    """A policy with its job, which has a price a spot tier; and how often other tiers are asked, 0 with full sight."""

    contender: Contender
    job: Job
    probe_every: int


def read_setup(given: Given, times: Times, tiers: int) -> Setup:
    """The policy and the job on a market of so many spot tiers.

    Raises:
        PolicyFileError: the policy's file cannot be used.
        Usage: policy, tiers and prices do not fit each other.
    """
    if len(given.spot_prices) not in {0, 1, tiers}:
        many = f"{tiers} spot tiers" if tiers > 1 else "one spot tier (with --as-tiers every file is one)"
        raise Usage([f"--spot-price is given {len(given.spot_prices)} times for {many}; give it once, or once a tier"])
    if given.policy in BASELINES or given.policy in {SPOTPROOF, OMNISCIENT}:
        return _by_name(given, times, tiers)
    policy = _from_file(given, times, tiers)
    spot_usd = tuple(tier.usd or 0 for tier in policy.spot) or (SPOT_USD,) * tiers
    on_demand = policy.on_demand
    job = _job(times, (on_demand.usd if on_demand else given.on_demand_price) or ON_DEMAND_USD, spot_usd)
    return Setup(Ours(policy, given.continuous, given.seed, given.bill), job, policy.probe_every)


def _job(times: Times, on_demand_usd: float, spot_usd: tuple[float, ...]) -> Job:
    return Job(times.work, times.deadline, times.restart, on_demand_usd, spot_usd, probe=times.probe_cost)


def _by_name(given: Given, times: Times, tiers: int) -> Setup:
    prices = given.spot_prices or (SPOT_USD,)
    job = _job(times, given.on_demand_price or ON_DEMAND_USD, prices if len(prices) == tiers else prices * tiers)
    every, order = times.probe_every or 0, given.order or Order.LEAST_RECENTLY_FAILED
    if given.policy == OMNISCIENT:
        return Setup(Omniscient(), job, 0)
    if given.policy != SPOTPROOF:
        return Setup(Baseline(given.policy, TICK_ORDERS[order], every), job, every)
    policy = pace_policy(job, probe_every=every, order=order)
    return Setup(Ours(policy, given.continuous, given.seed, given.bill), job, every)


def _from_file(given: Given, times: Times, tiers: int) -> Policy:
    """The file's policy, with what the options say instead."""
    policy = load_policy(*policy_file(given.policy))
    if policy.spot and len(policy.spot) != tiers:
        pools = ", ".join(tier.pool for tier in policy.spot)
        many = f"{tiers} files are its tiers" if given.as_tiers else "every file is a market of one tier"
        remedy = "give one file a spot tier, in the policy's order, with --as-tiers"
        raise Usage([f"{given.policy}: has {len(policy.spot)} spot tiers ({pools}), and {many}; {remedy}"])
    changed = replace(policy, tiers=tuple(_priced(given, policy, tier) for tier in policy.tiers))
    if len({tier.usd for tier in changed.tiers if not tier.spot}) > 1:
        raise Usage(
            [f"{given.policy}: its on-demand tiers differ in price, and one price is billed; --on-demand-price"]
        )
    return replace(
        changed,
        order=given.order or policy.order,
        probe_every=policy.probe_every if times.probe_every is None else times.probe_every,
    )


def _priced(given: Given, policy: Policy, tier: Tier) -> Tier:
    usd, option = tier.usd, "--spot-price" if tier.spot else "--on-demand-price"
    if not tier.spot:
        usd = given.on_demand_price or usd
    elif given.spot_prices:
        place = policy.spot.index(tier) if len(given.spot_prices) > 1 else 0
        usd = given.spot_prices[place]
    if usd is None:
        raise Usage([f"{given.policy}: tier {tier.pool} has no price; say what a node costs with {option}"])
    return tier._replace(usd=usd)
