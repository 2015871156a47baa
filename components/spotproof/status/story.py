"""The whole story of one managed job: where it is, where it was, what becomes of its deadline, what is to be mended."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from spotproof.controller.kinds import RUN
from spotproof.fallback.record import Cause, Outlook, Past, RunTier, Step, TrainingRunStatus
from spotproof.fallback.run import Instant
from spotproof.status.conditions import Trouble, troubles
from spotproof.status.pods import Pods
from spotproof.status.reading import name_of
from spotproof.status.rows import Row, row
from spotproof.status.salvage import Run, read_run
from spotproof.status.times import hours, moment, span
from spotproof.status.world import World

STEPS: Final[Mapping[Step, str]] = {
    "Suspending": "suspending it",
    "Draining": "waiting for its last pod to go",
    "Rebuilding": "making its Jobs anew",
    "Resuming": "resuming it",
}
"""What a move does next."""
CAUSES: Final[Mapping[Cause, str]] = {
    "eviction": "an eviction",
    "error": "an error of the program",
    "voluntary": "somebody's own doing, which counts for nobody",
    "undecided": "nothing yet, for want of evidence",
}
"""What an interruption is taken for."""


class Doing(NamedTuple):
    """Something that is not over: what, since when, and more of it."""

    what: str
    since: Instant
    more: str


class Story(NamedTuple):
    """Everything of one job. `doing` is what is under way."""

    row: Row
    nodes: int
    doing: tuple[Doing, ...]
    tiers: tuple[RunTier, ...]
    history: tuple[Past, ...]
    deadline: Outlook | None
    troubles: tuple[Trouble, ...]


def stories(world: World, name: str) -> tuple[Story, ...]:
    """The stories of all jobs of a name that have a TrainingRun: one a namespace."""
    pods = Pods(world)
    runs = (read_run(thing) for thing in world.all(RUN) if name_of(thing)[1] == name)
    return tuple(_story(run, pods) for run in runs)


def _story(run: Run, pods: Pods) -> Story:
    status = run.status
    return Story(
        row(run, pods),
        status.nodes,
        tuple(_doing(status)),
        status.tiers,
        status.history,
        status.deadline,
        tuple(troubles(run)),
    )


def _doing(status: TrainingRunStatus) -> Iterator[Doing]:
    if lost := status.interruption:
        nodes = f"on {', '.join(lost.nodes)}, " if lost.nodes else ""
        yield Doing("interrupted", lost.since, f"{nodes}taken for {CAUSES[lost.cause]}: {lost.evidence}")
    if move := status.move:
        way = f"from {move.from_} to {move.to}" if move.from_ != move.to else f"again on {move.to}"
        why = f" ({move.message})" if move.message != status.message else ""
        again = "" if move.resume_at is None else f", not before {moment(move.resume_at)}"
        yield Doing("move begun", move.since, f"{way}{why}, now {STEPS[move.step]}{again}")


def answer(tier: RunTier, now: Instant) -> str:
    """What is known of a tier, and since when."""
    if tier.asking_since is not None:
        return f"being asked for {span(now - tier.asking_since)}"
    seen = tier.up if tier.there else tier.down
    if seen is None:
        return "not looked at yet"
    said = "had room" if tier.there else "had no room"
    asked = f", asked {span(now - tier.asked)} ago" if tier.asked is not None else ""
    return f"{said} {span(now - seen)} ago{asked}"


def outlook(deadline: Outlook, now: Instant) -> str:
    """The deadline, the work, and what is over or lacks."""
    left = deadline.at - now
    when = f"in {span(left)}" if left > 0 else f"{span(-left)} ago"
    spare = deadline.spare_seconds
    rest = f"{span(spare)} to spare" if spare >= 0 else f"{span(-spare)} late"
    done, work = hours(deadline.done_seconds), hours(deadline.work_seconds)
    return (
        f"{moment(deadline.at)}, {when}: {done} of {work} of work is saved ({deadline.progress}); "
        f"without another break {rest}"
    )
