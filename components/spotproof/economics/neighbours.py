"""The policies a plan compares: the one as written, and what one setting more or less would make of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from spotproof.economics.text import time
from spotproof.fallback.policy import NEVER_MOVES, Mode, Policy, Tier

SHORTEST_TIMEOUT: Final = 900
"""A healthy launch may take 15 minutes; a shorter pendingTimeout would fire on it."""
MIN_STAY: Final = 7200
"""What `return` is tried with where a policy has none: the settings' own default."""
TIMEOUT: Final = 3600
"""Two thirds of all outages are over by then, and one that is not takes 3 to 4 hours more."""
LONG_TIMEOUT: Final = 7200
"""Where the deadline leaves more than a quarter of the work."""
ROOMY: Final = 0.25
DEFAULT_FAILURES: Final = 5
"""What stands in for -1 where a number is to be halved or doubled."""

AS_WRITTEN: Final = "as written"
JOB: Final = "restart and checkpointEvery"
"""As what a candidate changes: the policy's idea of a restart, where the job has another."""
AS_THE_JOB: Final = "with this job's restart"
ON_DEMAND_ALONE: Final = "on-demand alone"
SPOT_ALONE: Final = "spot alone"


@dataclass(frozen=True)
class Candidate:
    """A policy with what it is called in a plan, and the setting in which it differs; empty for none."""

    name: str
    policy: Policy
    changes: str = ""

    @property
    def yardstick(self) -> bool:
        """Whether it is one of the two that need no rule."""
        return self.name in {ON_DEMAND_ALONE, SPOT_ALONE}


@dataclass(frozen=True)
class Fit:
    """What of a job decides which neighbours make sense. Seconds; `slack` is None without a deadline."""

    restart: int
    checkpoint_every: int
    slack_share: float | None
    """Deadline over work, less 1."""


def neighbourhood(written: Policy, on_demand: Tier, fit: Fit) -> list[Candidate]:
    """The policy as written first, its neighbours, and the two that need no rule; none of them twice.

    Args:
        written: The policy; without a deadline its mode has no effect, and is taken as `off`.
        on_demand: What the job would run on without spot.
        fit: What is known of the job.
    """
    has_deadline = fit.slack_share is not None
    chosen = written if has_deadline else replace(written, mode="off")
    base = replace(chosen, restart=fit.restart, checkpoint_every=fit.checkpoint_every)
    if not chosen.spot:
        return [Candidate(AS_WRITTEN, chosen)]
    found = [Candidate(AS_WRITTEN, chosen), Candidate(AS_THE_JOB, base, JOB)]
    found += _failures(base)
    found += _timeouts(base)
    found += _return(base)
    if has_deadline:
        found += [Candidate(f"deadline {mode}", replace(base, mode=mode), "deadline") for mode in _MODES]
    found += _together(base, fit)
    found.append(Candidate(ON_DEMAND_ALONE, replace(chosen, tiers=(on_demand,), mode="off")))
    spot = tuple(tier._replace(max_failures=NEVER_MOVES) for tier in chosen.spot)
    found.append(Candidate(SPOT_ALONE, replace(chosen, tiers=spot, mode="off")))
    return list(_once(found))


_MODES: tuple[Mode, ...] = ("off", "guard", "pace")


def _with(policy: Policy, failures: dict[str, int] | None = None, timeouts: dict[str, int] | None = None) -> Policy:
    """The policy with other numbers on its spot tiers."""
    tiers = tuple(
        tier._replace(
            max_failures=(failures or {}).get(tier.pool, tier.max_failures),
            pending_timeout=(timeouts or {}).get(tier.pool, tier.pending_timeout),
        )
        for tier in policy.tiers
    )
    return replace(policy, tiers=tiers)


def _failures(base: Policy) -> Iterator[Candidate]:
    written = {tier.pool: tier.max_failures for tier in base.spot}
    counted = {pool: DEFAULT_FAILURES if most == NEVER_MOVES else most for pool, most in written.items()}
    for values in (
        dict.fromkeys(written, 0),
        {pool: most // 2 for pool, most in counted.items()},
        counted,
        {pool: most * 2 for pool, most in counted.items()},
        dict.fromkeys(written, NEVER_MOVES),
    ):
        policy = _with(base, failures=values)
        yield Candidate(f"maxFailures {failures_text(policy)}", policy, "maxFailures")


def _timeouts(base: Policy) -> Iterator[Candidate]:
    written = {tier.pool: tier.pending_timeout for tier in base.spot}
    for values in (
        {pool: min(max(each // 2, SHORTEST_TIMEOUT), each) for pool, each in written.items()},
        {pool: each * 2 for pool, each in written.items()},
    ):
        policy = _with(base, timeouts=values)
        yield Candidate(f"pendingTimeout {timeout_text(policy)}", policy, "pendingTimeout")


def _return(base: Policy) -> Iterator[Candidate]:
    if base.min_stay is None:
        yield Candidate(f"return {time(MIN_STAY)}", replace(base, min_stay=MIN_STAY), "return")
    else:
        yield Candidate("return off", replace(base, min_stay=None), "return")


def _together(base: Policy, fit: Fit) -> Iterator[Candidate]:
    """Several settings at once, as docs/how-to/plan.md starts from: nothing is counted, and jobs come back."""
    roomy = fit.slack_share is not None and fit.slack_share > ROOMY
    timeout = LONG_TIMEOUT if roomy else TIMEOUT
    policy = _with(
        replace(base, min_stay=base.min_stay or MIN_STAY),
        failures={tier.pool: NEVER_MOVES for tier in base.spot},
        timeouts={tier.pool: timeout for tier in base.spot},
    )
    name = f"maxFailures -1, return {time(policy.min_stay or 0)}"
    if fit.slack_share is None:
        yield Candidate(name, policy, "all")
        return
    for mode in ("guard", "pace"):
        yield Candidate(f"{name}, {mode}", replace(policy, mode=mode), "all")


def _once(found: list[Candidate]) -> Iterator[Candidate]:
    seen: list[Policy] = []
    for one in found:
        what = _essence(one.policy)
        if what not in seen:
            seen.append(what)
            yield one


def _essence(policy: Policy) -> Policy:
    """What of a policy can matter: `pace` with one spot tier asks nothing but the deadline."""
    if policy.mode != "pace" or len(policy.spot) != 1:
        return policy
    tiers = tuple(tier._replace(max_failures=NEVER_MOVES, pending_timeout=TIMEOUT) for tier in policy.tiers)
    return replace(policy, tiers=tiers, min_stay=None)


def failures_text(policy: Policy) -> str:
    """`maxFailures` of the spot tiers, as `3`, or `3/5` where they differ."""
    return _each([str(tier.max_failures) for tier in policy.spot])


def timeout_text(policy: Policy) -> str:
    """`pendingTimeout` of the spot tiers, as `30m`, or `30m/1h` where they differ."""
    return _each([time(tier.pending_timeout) for tier in policy.spot])


def return_text(policy: Policy) -> str:
    """`minStay` of `return`, or `off`."""
    return "off" if policy.min_stay is None else time(policy.min_stay)


def _each(texts: list[str]) -> str:
    return "/".join(texts if len(set(texts)) > 1 else texts[:1])
