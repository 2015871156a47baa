"""Jobs that stand in each other's way: of one name, of one run, or with one place for their checkpoints.

Who is refused because of another is looked at again when that other one ends, goes, or becomes something else, and at
no other time: of a job that goes on as it was nobody hears.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import RUN, Kind, Object
from spotproof.controller.relations import MANAGED, Index, Key, Link, Place, Relation, holdings, place

HELD: Final = frozenset({Relation.JOB_SAVING_TO, Relation.JOB_OF_RUN})
LEFT: Final = frozenset({"Refused", "Succeeded", "Failed"})
"""Phases of a record whose job is not managed, whatever was said of it before."""


def accepted(run: Object | None) -> str:
    """The uid of the job that a TrainingRun says is managed; empty where none is."""
    status: Mapping[str, Any] = (run or {}).get("status") or {}
    if run is None or status.get("phase") in LEFT:
        return ""
    is_managed = any(
        each.get("type") == "Accepted" and each.get("status") == "True" for each in status.get("conditions") or ()
    )
    return str(_job_of(run).get("uid", "")) if is_managed else ""


def _job_of(run: Object) -> Mapping[str, Any]:
    return (run.get("spec") or {}).get("job") or {}


class Rivals:
    """Of the jobs of a cache, whose lock is held in all of this.

    Args:
        index: What its jobs say of others.
        objects: What it has of each kind.
    """

    def __init__(self, index: Index, objects: Mapping[Kind, dict[Place, Object]]) -> None:
        self._index = index
        self._objects = objects
        self.encounters = 0
        """How often something of a job that has rivals has changed which they look at."""
        self._unheard: set[Place] = set()
        """Records that a write of ours has turned: whoever is concerned is told when the watch has it too."""

    def of(self, key: Key, held: Iterable[Link]) -> list[Key]:
        """The other jobs that have a job's name, or something of what it has to itself (relations.holdings)."""
        where = (key.namespace, key.name)
        found = {Key(kind, *where) for kind in MANAGED if where in self._objects[MANAGED[kind]]}
        for relation, (_, *to) in held:
            if relation in HELD:
                found.update(Key(kind, *there) for kind in MANAGED for there in self._index.at(relation, kind, *to))
        return sorted(found - {key})

    def met(
        self, kind: Kind, before: Object | None, after: Object | None, was: Iterable[Link], said: Iterable[Link]
    ) -> Sequence[Key]:
        """Who has to look again as one version of an object follows another, None for one that is not there.

        `was` and `said` are what the two say of others.
        """
        met = self._turned(before, after) if kind == RUN else self._changed(kind, before, after, (was, said))
        self.encounters += bool(met)
        return met

    def _changed(
        self, kind: Kind, before: Object | None, after: Object | None, links: tuple[Iterable[Link], Iterable[Link]]
    ) -> Sequence[Key]:
        thing, (was, said) = after or before, links
        if thing is None or kind.kind not in MANAGED:
            return ()
        if before is not None and after is not None and was == said and _bar(before) == _bar(after):
            return ()
        return self.of(Key(kind.kind, *place(thing)), (*was, *said))

    def heard(self, run: Object) -> Sequence[Key]:
        """Who is concerned by a record that our own write has turned, now that the watch has it."""
        if place(run) not in self._unheard:
            return ()
        self._unheard.discard(place(run))
        return self._of_run(run)

    def _turned(self, before: Object | None, after: Object | None) -> Sequence[Key]:
        run = after or before
        if run is None:
            return ()
        if after is None:
            self._unheard.discard(place(run))
        if accepted(before) == accepted(after):
            return ()
        if after is not None:
            self._unheard.add(place(run))
        return self._of_run(run)

    def _of_run(self, run: Object) -> Sequence[Key]:
        kind, where = str(_job_of(run).get("kind", "")), place(run)
        job = self._objects[MANAGED[kind]].get(where) if kind in MANAGED else None
        return () if job is None else self.of(Key(kind, *where), holdings(job))


def _bar(job: Object) -> tuple[object, bool]:
    """What is in the way of others, beside what its links say: which job it is, and whether it still writes."""
    return job["metadata"].get("uid"), JOBS[job["kind"]].has_ended(job)
