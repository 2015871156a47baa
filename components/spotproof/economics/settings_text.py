"""A policy of a plan as settings to paste into a stack file."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from spotproof.economics.neighbours import ON_DEMAND_ALONE
from spotproof.economics.plan import Line, Task
from spotproof.fallback.policy import NEVER_MOVES, Tier
from spotproof.settings.base import render_duration
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
        yield f"    failureWindow: {render_duration(written.failure_window)}"
    if policy.min_stay is not None:
        yield f"    return: {{minStay: {_exact(policy.min_stay)}}}"
    if written.probe != Probe():
        yield f"    probe: {{every: {render_duration(written.probe.every)}, nodes: {written.probe.nodes}}}"
    mode = deadline.mode if task.deadline is None else policy.mode
    yield (
        f"    deadline: {{mode: {mode}, restart: {_up(task.restart)}, checkpointEvery: {_up(checkpoint_every)}, "
        f"margin: {render_duration(deadline.margin)}}}"
    )
    if written.max_moves_per_hour != FallbackPolicy.model_fields["max_moves_per_hour"].default:
        yield f"    maxMovesPerHour: {written.max_moves_per_hour}"


def _tier(tier: Tier, *, last: bool) -> str:
    if last and tier.max_failures == NEVER_MOVES:
        return f"pool: {tier.pool}"
    return f"pool: {tier.pool}, maxFailures: {tier.max_failures}, pendingTimeout: {_exact(tier.pending_timeout)}"


def _up(seconds: int) -> str:
    """In whole minutes, rounded up: less would let the guard act too late. No duration of a setting is nothing."""
    return _exact(max(-(-seconds // MINUTE), 1) * MINUTE)


def _exact(seconds: int) -> str:
    return render_duration(timedelta(seconds=seconds))
