"""Where runs start: one after another in a whole trace, in the first tick of every window of a window file."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

from spotproof.economics.traces import Trace, TraceError, Window, read_json
from spotproof.settings.errors import shown
from spotproof.settings.near import one_of

SPARE_TICKS: Final = 12
"""Ticks a whole trace has beyond the deadline of its last run, as the published figures count."""


class Run(NamedTuple):
    """One start in one market, or in several side by side: what each tier offers from there to the record's end."""

    window: int | None
    start_tick: int
    capacities: tuple[str, ...]


@dataclass(frozen=True)
class Every:
    """A start every so many ticks, from the first tick on, while the deadline lies inside the record."""

    ticks: int = 10


@dataclass(frozen=True)
class Listed:
    """Starts that a file lists; it is named in errors."""

    source: str
    ticks: tuple[int, ...]


Starts: TypeAlias = Every | Listed


def read_starts(text: str) -> Starts:
    """`every:N`, the path of a file of tick indexes, or `FILE:name` for one list of a file of several.

    Raises:
        TraceError: the text is none of these, or the file holds something else.
    """
    if text.startswith("every:"):
        if not re.fullmatch(r"every:0*[1-9]\d{0,8}", text, re.ASCII):
            raise TraceError(f"starts {shown(text)}: has no whole number of ticks from 1; write every:10")
        return Every(int(text.removeprefix("every:")))
    path, name = _path_and_name(text)
    raw = read_json(path)
    if isinstance(raw, dict):
        lists = {str(key): value for key, value in cast("dict[object, object]", raw).items() if isinstance(value, list)}
        names = one_of(f"{path}:{each}" for each in lists)
        if name is None:
            raise TraceError(f"{path}: holds {len(lists)} lists of starts, and which is not said; write {names}")
        if name not in lists:
            raise TraceError(f"{path}: has no list of starts {shown(name)}; write {names}")
        raw = lists[name]
    elif name is not None:
        raise TraceError(f"{path}: holds {shown(raw)}, in which no list has the name {shown(name)}; write {path}")
    return Listed(text, _ticks(text, raw))


def runs(tiers: Sequence[Trace], starts: Starts, deadline: int) -> Iterator[Run]:
    """Every run of one trace, or of several that are the spot tiers of one job, in this order.

    Whole traces run side by side by tick index, windows by equal id, as far as all tiers have them.

    Args:
        tiers: at least one trace.
        starts: for whole traces; window files start every window in its first tick.
        deadline: seconds from a run's start; the last start of `every:N` leaves room for it.

    Raises:
        TraceError: the tiers do not fit each other, or the starts do not fit the record.
    """
    _fit(tiers)
    first = tiers[0]
    if first.whole:
        yield from _of_whole(tiers, starts, deadline)
        return
    if isinstance(starts, Listed):
        raise TraceError(
            f"{starts.source}: starts are for whole traces, and {first.name} starts every window in its first tick"
        )
    by_id = [{window.id: window.capacity for window in trace.windows} for trace in tiers]
    for window in first.windows:
        if all(window.id in windows for windows in by_id):
            yield Run(window.id, 0, tuple(windows[window.id] for windows in by_id))


def _path_and_name(text: str) -> tuple[Path, str | None]:
    """A path may hold a colon itself, so what exists as it stands is a path."""
    whole, (path, colon, name) = Path(text), text.rpartition(":")
    return (Path(path), name) if path and colon and not whole.exists() else (whole, None)


def _ticks(source: str, raw: object) -> tuple[int, ...]:
    values = cast("list[object]", raw) if isinstance(raw, list) else []
    if not values:
        raise TraceError(f"{source}: holds {shown(raw)}, not a list of starts; write tick indexes, as in [0, 10, 20]")
    for value in values:
        if type(value) is not int or value < 0:
            raise TraceError(f"{source}: holds the start {shown(value)}; a start is a whole number of ticks from 0")
    return tuple(cast("list[int]", values))


def _fit(tiers: Sequence[Trace]) -> None:
    first = tiers[0]
    for other in tiers[1:]:
        both = f"{first.name} and {other.name}"
        if other.gap_seconds != first.gap_seconds:
            gaps = f"ticks of {first.gap_seconds} s and of {other.gap_seconds} s"
            raise TraceError(f"{both}: {gaps} cannot run side by side; tiers have ticks of one length")
        if other.whole != first.whole:
            raise TraceError(
                f"{both}: a whole trace and a file of windows cannot run side by side; take two of one kind"
            )
    if not first.whole and not set.intersection(*({window.id for window in trace.windows} for trace in tiers)):
        names = ", ".join(trace.name for trace in tiers)
        raise TraceError(f"{names}: have no window id in common; windows with the same id run side by side")


def _of_whole(tiers: Sequence[Trace], starts: Starts, deadline: int) -> Iterator[Run]:
    capacities = tuple(_only(trace).capacity for trace in tiers)
    ticks, names = min(map(len, capacities)), ", ".join(trace.name for trace in tiers)
    for start in _start_ticks(starts, ticks, -(-deadline // tiers[0].gap_seconds), names):
        yield Run(None, start, tuple(capacity[start:ticks] for capacity in capacities))


def _start_ticks(starts: Starts, ticks: int, deadline_ticks: int, names: str) -> Sequence[int]:
    if isinstance(starts, Listed):
        if beyond := [start for start in starts.ticks if start >= ticks]:
            raise TraceError(f"{starts.source}: holds the start {beyond[0]}, and {names} ends after {ticks} ticks")
        return starts.ticks
    needed = deadline_ticks + SPARE_TICKS
    if ticks <= needed:
        room = f"the deadline needs {needed + 1} ({deadline_ticks} and {SPARE_TICKS} to spare)"
        raise TraceError(f"{names}: {ticks} ticks are too few, {room}; take a longer trace or an earlier deadline")
    return range(0, ticks - needed, starts.ticks)


def _only(trace: Trace) -> Window:
    (window,) = trace.windows
    return window
