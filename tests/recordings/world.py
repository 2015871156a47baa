"""A recording played again, write by write: what was there at each moment, and what had been there before."""

from collections.abc import Callable, Iterator
from typing import Any

from spotproof.rehearsal.history import (
    DISRUPTED,
    condition,
    exit_code,
    is_leaving,
    is_true,
    labels,
    node_of,
    phase,
    waits,
    works,
)
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import Recording, Version
from spotproof.vocabulary import POOL_LABEL

Holds = Callable[["World"], object]


class World:
    """The state after one write."""

    def __init__(self) -> None:
        self._there: dict[str, Json] = {}
        self._ever: dict[str, Json] = {}

    def take(self, version: Version) -> None:
        """One more write."""
        self._ever[version.uid] = version.object
        if version.change == "deleted":
            self._there.pop(version.uid, None)
        else:
            self._there[version.uid] = version.object

    def there(self, kind: str) -> list[Json]:
        """Objects of a kind that are there."""
        return [each for each in self._there.values() if each["kind"] == kind]

    def ever(self, kind: str) -> list[Json]:
        """Objects of a kind that are or were there, as they were last."""
        return [each for each in self._ever.values() if each["kind"] == kind]

    def one(self, kind: str) -> Json:
        """The only object of a kind; empty before it is there."""
        found = self.there(kind)
        return found[0] if len(found) == 1 else {}

    def pool_of(self, pod: Json) -> str:
        """The pool of the node a pod is or was bound to; empty where there is none."""
        nodes = (each for each in self.ever("Node") if each["metadata"]["name"] == node_of(pod))
        return next((labels(node).get(POOL_LABEL, "") for node in nodes), "")


def by_write(recording: Recording) -> list[Version]:
    """Versions in the order in which they were written: watches of two kinds deliver out of it."""
    return sorted(recording.versions, key=lambda each: int(each.object["metadata"]["resourceVersion"]))


def told(recording: Recording, steps: list[tuple[str, Holds]]) -> Iterator[tuple[float, str]]:
    """Steps as far as they come one after the other, each with the second in which it first holds."""
    world, left = World(), list(steps)
    for version in by_write(recording):
        world.take(version)
        while left and left[0][1](world):
            yield version.at, left.pop(0)[0]


def has(kind: str, condition: str, count: int = 1) -> Holds:
    """So many objects of a kind have a condition: `Type` or `Type/Reason`, with `!` where its status is False."""
    return lambda world: sum(_has(thing, condition) for thing in world.there(kind)) >= count


def _has(thing: Json, wanted: str) -> bool:
    name, _, reason = wanted.removeprefix("!").partition("/")
    found = condition(thing, name)
    status = "False" if wanted.startswith("!") else "True"
    return found.get("status") == status and (not reason or found.get("reason") == reason)


def running(count: int, pool: str) -> Holds:
    """So many pods run and are ready, on nodes of the pool; nothing is said of others."""
    return lambda world: sum(works(pod) and world.pool_of(pod) == pool for pod in world.there("Pod")) == count


def waiting(count: int) -> Holds:
    """At least so many pods wait, because the scheduler finds no node for them."""
    return lambda world: sum(waits(pod) for pod in world.there("Pod")) >= count


def evicted(count: int, reason: str) -> Holds:
    """So many pods, gone or not, were made targets of a disruption and told to go."""
    return lambda world: sum(is_leaving(pod) and _is_target(pod, reason) for pod in world.ever("Pod")) >= count


def ended(count: int, code: int | None, reason: str = "") -> Holds:
    """So many pods, gone or not, failed with an exit code, or without one: as targets of a disruption, or of none."""
    return lambda world: (
        sum(phase(pod) == "Failed" and exit_code(pod) == code and _is_target(pod, reason) for pod in world.ever("Pod"))
        >= count
    )


def _is_target(pod: Json, reason: str) -> bool:
    if not reason:
        return not is_true(pod, DISRUPTED)
    return _has(pod, f"{DISRUPTED}/{reason}")


def succeeded(count: int) -> Holds:
    """So many pods, gone or not, ended as they should."""
    return lambda world: sum(phase(pod) == "Succeeded" for pod in world.ever("Pod")) >= count


def leaving(kind: str, count: int = 1) -> Holds:
    """So many objects of a kind, gone or not, have been told to go."""
    return lambda world: sum(map(is_leaving, world.ever(kind))) >= count


def made(kind: str, count: int) -> Holds:
    """So many objects of a kind have been made in all."""
    return lambda world: len(world.ever(kind)) >= count


def left(kind: str, count: int) -> Holds:
    """So many objects of a kind are there."""
    return lambda world: len(world.there(kind)) == count


def status(kind: str, **fields: Any) -> Holds:
    """The only object of a kind has these values in its status; None where it has no such field, or 0."""
    return lambda world: (
        bool(world.one(kind))
        and all((world.one(kind).get("status", {}).get(key) or None) == value for key, value in fields.items())
    )


def some(kind: str, **fields: Any) -> Holds:
    """One object of a kind at least has these values in its status."""
    return lambda world: any(
        all(each.get("status", {}).get(key) == value for key, value in fields.items()) for each in world.there(kind)
    )


def suspended(kind: str) -> Holds:
    """Every object of a kind, and there is one, is to be suspended."""
    return lambda world: bool(world.there(kind)) and all(each["spec"].get("suspend") for each in world.there(kind))


def resumed(kind: str) -> Holds:
    """No object of a kind, and there is one, is to be suspended."""
    return lambda world: bool(world.there(kind)) and not any(each["spec"].get("suspend") for each in world.there(kind))


def selects(kind: str, selector: dict[str, str]) -> Holds:
    """Every template of all objects of a kind that moves selects exactly this; heads stay and are not looked at."""

    def holds(world: World) -> bool:
        templates = [each for thing in world.there(kind) for each in _templates(thing)]
        return bool(templates) and all(each["nodeSelector"] == selector for each in templates)

    return holds


def _templates(thing: Json) -> list[Json]:
    if thing["kind"] == "JobSet":
        return [each["template"]["spec"]["template"]["spec"] for each in thing["spec"]["replicatedJobs"]]
    if thing["kind"] == "RayJob":
        return [each["template"]["spec"] for each in thing["spec"]["rayClusterSpec"]["workerGroupSpecs"]]
    return [thing["spec"]["template"]["spec"]]


def event(reason: str, kind: str, words: str = "") -> Holds:
    """An event of this reason about an object of a kind, that says these words."""
    return lambda world: any(
        each.get("reason") == reason and each["involvedObject"]["kind"] == kind and words in each.get("message", "")
        for each in world.ever("Event")
    )


def either(*holds: Holds) -> Holds:
    """One of them."""
    return lambda world: any(each(world) for each in holds)


def both(*holds: Holds) -> Holds:
    """All of them, at one moment."""
    return lambda world: all(each(world) for each in holds)
