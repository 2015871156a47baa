"""What is judged of a job in the end: what was counted, that it is where it is said to be, and what is left of ours."""

from typing import Final

from spotproof.controller.kinds import POD, RUN
from spotproof.vocabulary import MOVE_ANNOTATION, PROBE_OF_ANNOTATION
from tests.world.line import Call
from tests.world.managed import Managed
from tests.world.things import annotations, name, namespace

SETTLED_SECONDS: Final = 3 * 3600.0
QUIET_SECONDS: Final = 1200.0
QUIET_CALLS: Final = 70
"""Of a job to which nothing happens, in that time: a move takes 20, a question 6, and a loop far more."""

IDLE_WRITES: Final = 3
"""Writes without a change that late watches may lead to."""


def judge(world: Managed, job: str) -> None:
    """Let a job come to rest, judge it, let nothing happen for a while, and judge it again.

    Raises:
        AssertionError: it does not come to rest, or something about it is not as it has to be.
    """
    world.run_until(lambda: is_at_rest(world, job), SETTLED_SECONDS)
    _judge(world, job)
    calls = len(world.process.line.calls)
    world.run(QUIET_SECONDS)
    assert len(world.process.line.calls) - calls <= QUIET_CALLS, world.process.line.calls[calls : calls + 40]
    if world.moves is not None:
        world.moves.overdue(job)
    # the quiet may have been long enough for a return, or for the deadline
    world.run_until(lambda: is_at_rest(world, job), SETTLED_SECONDS)
    _judge(world, job)


def is_at_rest(world: Managed, job: str) -> bool:
    """Whether nothing is under way: the gang is whole, or the job is over, failed, or in somebody's hands."""
    status = world.status(job)
    if world.is_over(job):
        return status.phase in {"Succeeded", "Failed"}
    if status.phase in {"HandedBack", "Refused"}:
        return True
    if status.phase == "Failed":
        return world.suspended_by_us(job) == "failed"
    return world.is_whole(job) and status.phase == "Running" and status.interruption is None


def _judge(world: Managed, job: str) -> None:
    status, ledger = world.status(job), world.ledger(job)
    story = "\n".join(ledger.entries)
    assert status.move is None, status.move
    assert ledger.evictions.holds(status.evictions), (status.evictions, ledger.evictions, story)
    assert ledger.errors.holds(status.errors), (status.errors, ledger.errors, story)
    if world.is_over(job):
        left = left_of_ours(world, job)
        assert left == [], left
    if world.is_over(job) or status.phase != "Running":
        return
    assert status.tier == world.tier(job), (status.tier, world.tier(job))
    unchanged = [call for call in world.process.line.calls if _is_idle(call)]
    assert len(unchanged) <= IDLE_WRITES + sum(world.process.line.happened.values()), unchanged


def left_of_ours(world: Managed, job: str, *, record: bool = False) -> list[str]:
    """What the controller has left on a job that it moves no more; `record` is whether its TrainingRun is one of it."""
    thing = world.job(job)
    asked = f"{thing['kind']}/{namespace(thing)}/{name(thing)}"
    found = [name(pod) for pod in world.all(POD) if annotations(pod).get(PROBE_OF_ANNOTATION) == asked]
    found += [MOVE_ANNOTATION] if MOVE_ANNOTATION in annotations(thing) else []
    return [*found, *([job] if record and world.get(RUN, job) is not None else [])]


def _is_idle(call: Call) -> bool:
    """A write that changed nothing. One that is refused is none: it tells of what a late watch has still to bring."""
    return call.verb == "patch" and call.taken and not call.changed
