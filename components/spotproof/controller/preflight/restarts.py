"""How a JobSet restarts: never beside its old pods, and more often than the job's own limit."""

from collections.abc import Iterator

from spotproof.controller.annotations import backoff_limit_of
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View


def restarts(view: View) -> Iterator[Finding]:
    """BlockingRecreate, and a maxRestarts that leaves the last word to the controller.

    Evictions do not count here. Errors do: up to the job's own limit, and with `countErrors` so many that one of them
    moves the job, since a JobSet that has failed is not moved.
    """
    policy = view.spec.get("failurePolicy") or {}
    if (strategy := policy.get("restartStrategy") or "not written, which means Recreate") != "BlockingRecreate":
        yield finding("RestartStrategy", "spec.failurePolicy.restartStrategy", strategy=strategy)
    limit = policy.get("maxRestarts") or 0
    own = backoff_limit_of(view.job)
    failures = max((tier.max_failures for tier in view.policy.tiers[:-1]), default=0) if view.policy.count_errors else 0
    needed = max(failures, 0) + max(own or 0, 1 if failures > 0 else 0)
    if limit < needed:
        parts = [
            f"{own or 1} of the job's own limit",
            f"{failures} failures that a tier tolerates, as errors count too",
        ]
        written = " and ".join(parts if failures > 0 else parts[:1])
        yield finding("MaxRestarts", "spec.failurePolicy.maxRestarts", limit=limit, needed=needed, sum=written)
