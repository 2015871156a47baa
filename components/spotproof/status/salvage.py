"""A TrainingRun as far as it can be read: of another version, edited by hand or cut short."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from spotproof.fallback.record import TrainingRunStatus
from spotproof.status.reading import Object, mapping, name_of, text

Place = tuple[str | int, ...]

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
CUT: Final = {"too_long", "string_too_long"}


class Run(NamedTuple):
    """One TrainingRun.

    `phase` is the word as it is written, known here or not. `unread` are the fields that could not be read, as people
    write them.
    """

    namespace: str
    name: str
    kind: str
    policy: str
    phase: str
    status: TrainingRunStatus
    unread: tuple[str, ...]


def read_run(thing: Object) -> Run:
    """Everything of a TrainingRun that can be read; fields of a later version are passed over."""
    namespace, name = name_of(thing)
    status, lost = salvage(mapping(thing, "status"))
    return Run(
        _printable(namespace),
        _printable(name),
        kind=_printable(text(thing, "spec", "job", "kind")),
        policy=_printable(text(thing, "spec", "policy")),
        phase=_printable(text(thing, "status", "phase")) or status.phase,
        status=status,
        unread=tuple(_dotted(("status", *each)) for each in lost),
    )


def salvage(written: object) -> tuple[TrainingRunStatus, list[Place]]:
    """The status without what is wrong in it, and the places of what was.

    What is wrong is taken out, and the rest is read again: an item that lacks a field goes as a whole; a list or a text
    that is too long is cut, which loses its oldest or its end and is not told.
    """
    lost: list[Place] = []
    # a copy of its own
    raw: Any = _printable(written)
    while True:
        try:
            return TrainingRunStatus.model_validate_json(json.dumps(raw), extra="ignore"), lost
        except ValidationError as error:
            found = error.errors(include_url=False)
        long = [each for each in found if each["type"] in CUT]
        for each in long:
            _cut(raw, each)
        if long:
            continue
        wrong = sorted({_place(raw, each["loc"]) for each in found}, key=_order)
        if () in wrong:
            return TrainingRunStatus(), [*lost, ()]
        # the last first: what stands before it in a list keeps its place, and what is inside goes before what holds it
        for place in reversed(wrong):
            _take_out(raw, place)
        lost += wrong


def _printable(written: Any) -> Any:
    """The same without characters that would command a terminal: who may write a status may not do that."""
    match written:
        case str():
            return CONTROL.sub(" ", written)
        case dict():
            return {_printable(str(key)): _printable(value) for key, value in written.items()}
        case list():
            return [_printable(each) for each in written]
        case _:
            return written


def _cut(raw: Any, error: ErrorDetails) -> None:
    place, most = _place(raw, error["loc"]), int(error.get("ctx", {})["max_length"])
    holder, last = _at(raw, place[:-1]), place[-1]
    long: Any = holder[last]
    holder[last] = long[-most:] if isinstance(long, list) else long[:most]


def _place(raw: Any, loc: Place) -> Place:
    """The part of a path that is there: to what is wrong, or to what lacks something."""
    for depth in range(len(loc)):
        try:
            _at(raw, loc[: depth + 1])
        except (LookupError, TypeError):
            return loc[:depth]
    return loc


def _at(raw: Any, place: Sequence[str | int]) -> Any:
    for key in place:
        raw = raw[key]
    return raw


def _take_out(raw: Any, place: Place) -> None:
    del _at(raw, place[:-1])[place[-1]]


def _order(place: Place) -> tuple[tuple[int, str], ...]:
    return tuple((key, "") if isinstance(key, int) else (0, key) for key in place)


def _dotted(place: Place) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]
