"""What a recording says of a job beside the judge's answers: who suspended it and when, and what two jobs held."""

from collections.abc import Callable
from typing import NamedTuple

from spotproof.rehearsal.history import History, Life, labels, node_of, phase, waits
from spotproof.rehearsal.recording import Recording, Version
from spotproof.vocabulary import MOVE_ANNOTATION, RUN_LABEL


class Suspension(NamedTuple):
    """From when to when a job was suspended, None where it still is, and whether by the controller."""

    since: float
    until: float | None
    is_ours: bool


def suspensions(recording: Recording, job: str) -> list[Suspension]:
    """Every suspension of the job of a name, in order."""
    return [
        Suspension(since, until, MOVE_ANNOTATION in _annotations(life, since))
        for life in _lives(recording, job)
        for since, until in life.stretches(lambda thing: thing["spec"].get("suspend"))
    ]


def versions(recording: Recording, kind: str, job: str) -> list[Version]:
    """Every version of the job's own object, in order."""
    return [each for each in recording.versions if each.kind == kind and each.object["metadata"]["name"] == job]


def when_stuck(recording: Recording, pool: str, nodes: int, *jobs: str) -> float | None:
    """When each of the jobs first held so many nodes of a pool while others of its pods found none; None: never."""
    held, missing = {job: dict[str, str]() for job in jobs}, {job: set[str]() for job in jobs}
    for each in recording.versions:
        job = labels(each.object).get(RUN_LABEL, "")
        if each.kind != "Pod" or job not in held or not _is_for(each, pool):
            continue
        held[job].pop(each.uid, None)
        missing[job].discard(each.uid)
        if each.change != "deleted" and phase(each.object) == "Running":
            held[job][each.uid] = node_of(each.object)
        elif each.change != "deleted" and waits(each.object):
            missing[job].add(each.uid)
        if all(len(set(held[one].values())) == nodes and missing[one] for one in jobs):
            return each.at
    return None


def marked(recording: Recording, did: str) -> float:
    """When the test did something, the last time."""
    return next(each.at for each in reversed(recording.marks) if each.did == did)


def first(recording: Recording, kind: str, name: str, holds: Callable[[Version], bool]) -> float | None:
    """When something first held of an object; None: never."""
    return next((each.at for each in versions(recording, kind, name) if holds(each)), None)


def _lives(recording: Recording, job: str) -> list[Life]:
    return [each.life for each in History(recording).jobs if each.life.name == job]


def _annotations(life: Life, second: float) -> dict[str, str]:
    thing = life.at(second)
    return {} if thing is None else dict(thing["metadata"].get("annotations") or {})


def _is_for(version: Version, pool: str) -> bool:
    return pool in (version.object["spec"].get("nodeSelector") or {}).values()
