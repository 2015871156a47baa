"""A recording as a story: what a person wants to know of it, in order, each thing once."""

from collections.abc import Callable, Iterable
from typing import Final

from spotproof.rehearsal.history import History
from spotproof.rehearsal.recording import Recording
from spotproof.rehearsal.story import jobs, nodes, pods, runs
from spotproof.rehearsal.story.moment import Moment

__all__ = ["OBSERVATIONS", "Moment", "story", "told"]

Observation = Callable[[History], Iterable[Moment]]

OBSERVATIONS: Final[tuple[Observation, ...]] = (
    jobs.submitted,
    nodes.reclaimed,
    nodes.drained,
    nodes.vanished,
    nodes.silent,
    pods.evicted,
    pods.broken,
    pods.ended,
    jobs.replaced,
    jobs.restarted,
    jobs.retried,
    runs.counted,
    runs.decided,
    jobs.suspended,
    jobs.moved,
    pods.waiting,
    nodes.bought,
    nodes.refused,
    jobs.running,
    jobs.over,
    runs.left_alone,
)
"""What is looked for. Of what happens at one moment the cause comes before what follows from it."""


def story(recording: Recording) -> tuple[Moment, ...]:
    """Everything worth telling, in order of time; of one moment in the order of the table."""
    return told(History(recording))


def told(history: History) -> tuple[Moment, ...]:
    """The same, of a history that is there already."""
    found = [(rank, moment) for rank, observe in enumerate(OBSERVATIONS) for moment in observe(history)]
    return tuple(moment for _, moment in sorted(found, key=lambda each: (each[1].at, each[0])))
