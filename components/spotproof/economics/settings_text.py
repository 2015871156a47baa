"""A policy of a plan as settings to paste into a stack file."""

from collections.abc import Iterator
from typing import Final

from spotproof.economics.neighbours import ON_DEMAND_ALONE
from spotproof.economics.plan import Line, Task
from spotproof.economics.text import time
from spotproof.fallback.policy import NEVER_MOVES, Tier
from spotproof.settings.fallback import FallbackPolicy, Probe

MINUTE: Final = 60


def settings_text(written: FallbackPolicy, line: Line, task: Task, checkpoint_every: int) -> str:
    """YAML of one policy under the name it has; what a plan does not compare is as it was written.

    Args:
        written: The policy in the settings.
        line: The policy to write.
        task: The job, whose restart the deadline counts with.
        checkpoint_every: Seconds between two checkpoints.
    """
    return "\n".join(["fallbackPolicies:", f"  - name: {written.name}", *_lines(written, line, task, checkpoint_every)])


def _lines(written: FallbackPolicy, line: Line, task: Task, checkpoint_every: int) -> Iterator[str]:
    policy, deadline = line.candidate.policy, written.deadline
    yield "    tiers:"
    yield from (f"      - {{{_tier(tier, last=tier is policy.tiers[-1])}}}" for tier in policy.tiers)
    if line.candidate.name == ON_DEMAND_ALONE:
        return
    if written.count_errors:
        yield "    countErrors: true"
    if written.failure_window is not None:
        yield f"    failureWindow: {time(written.failure_window.total_seconds())}"
    if policy.min_stay is not None:
        yield f"    return: {{minStay: {time(policy.min_stay)}}}"
    if written.probe != Probe():
        yield f"    probe: {{every: {time(written.probe.every.total_seconds())}, nodes: {written.probe.nodes}}}"
    mode = deadline.mode if task.deadline is None else policy.mode
    yield (
        f"    deadline: {{mode: {mode}, restart: {_up(task.restart)}, checkpointEvery: {_up(checkpoint_every)}, "
        f"margin: {time(deadline.margin.total_seconds())}}}"
    )
    if written.max_moves_per_hour != FallbackPolicy.model_fields["max_moves_per_hour"].default:
        yield f"    maxMovesPerHour: {written.max_moves_per_hour}"


def _tier(tier: Tier, *, last: bool) -> str:
    if last and tier.max_failures == NEVER_MOVES:
        return f"pool: {tier.pool}"
    return f"pool: {tier.pool}, maxFailures: {tier.max_failures}, pendingTimeout: {time(tier.pending_timeout)}"


def _up(seconds: int) -> str:
    """In whole minutes, rounded up: less would let the guard act too late. No duration of a setting is nothing."""
    return time(max(-(-seconds // MINUTE), 1) * MINUTE)
