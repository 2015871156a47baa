"""How a JobSet restarts: never beside its old pods, and more often than the job's own limit."""

from collections.abc import Iterator

from spotproof.controller.annotations import backoff_limit_of
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View


def restarts(view: View) -> Iterator[Finding]:
    """BlockingRecreate, and a maxRestarts that leaves the last word to the controller.

    Evictions do not count here. Errors do: up to the job's own limit, with which the controller ends it whatever the
    policy tolerates; and without one, with `countErrors`, up to the last that moves the job, since a JobSet that has
    failed is not moved.
    """
    policy = view.spec.get("failurePolicy") or {}
    if (strategy := policy.get("restartStrategy") or "not written, which means Recreate") != "BlockingRecreate":
        yield finding("RestartStrategy", "spec.failurePolicy.restartStrategy", strategy=strategy)
    limit, own = policy.get("maxRestarts") or 0, backoff_limit_of(view.job)
    needed = view.errors if own is None else own
    if limit < needed:
        of = "of the job's own limit" if own is not None else "errors that the policy counts until none moves the job"
        yield finding("MaxRestarts", "spec.failurePolicy.maxRestarts", limit=limit, needed=needed, sum=f"{needed} {of}")
