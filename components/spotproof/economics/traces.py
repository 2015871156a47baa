"""Recorded spot markets: what two kinds of probe files hold, read from anywhere.

A market is one digit per tick: 1, a request would have succeeded; 0, it would not. Raw probe files of others mark the
opposite (1 = the launch failed), so nothing but the two formats is read, and a raw file is named as one.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from spotproof.settings.errors import shown

WHOLE: Final = "spot-trace/1"
WINDOWS: Final = "spot-trace-windows/1"


class TraceError(ValueError):
    """A trace that cannot be used; its text is one sentence for a person, and names the file."""


class Window(NamedTuple):
    """An unbroken record of one market.

    `id` joins windows of one time across files, and is None for a whole trace. `start` is as the file writes it.
    """

    id: int | None
    start: str | None
    capacity: str


@dataclass(frozen=True)
class Trace:
    """The record of one market: one window where the file is a whole trace, any number of them otherwise."""

    name: str
    zone: str
    instance: str
    gap_seconds: int
    windows: tuple[Window, ...]
    whole: bool

    @property
    def availability(self) -> float:
        """Share of all ticks with capacity, 0 to 1."""
        up = sum(window.capacity.count("1") for window in self.windows)
        return up / sum(len(window.capacity) for window in self.windows)


def read_trace(path: Path) -> Trace:
    """One probe file.

    Raises:
        TraceError: the file cannot be read, is not in one of the two formats, or contradicts itself.
    """
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise TraceError(f"{path}: holds {shown(raw)}, not a trace; {_FORMATS}")
    values = cast("dict[str, Any]", raw)
    model = _MODELS.get(values["format"]) if isinstance(values.get("format"), str) else None
    if model is None:
        raise TraceError(f"{path}: {_foreign(values)}")
    try:
        read = model.model_validate(values)
    except ValidationError as error:
        raise TraceError(f"{path}: {_sentence(error.errors()[0])}") from None
    windows = read.as_windows()
    if wrong := read.contradiction() or _twice(windows):
        raise TraceError(f"{path}: {wrong}")
    return Trace(path.stem, read.zone, read.instance, read.gap_seconds, windows, whole=model is _Whole)


def read_json(path: Path) -> object:
    """What a JSON file holds.

    Raises:
        TraceError: there is no such file, it cannot be read, or it is not JSON in UTF-8.
    """
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}: is not text in UTF-8 (byte {error.start}); write the JSON in UTF-8") from None
    except RecursionError:
        raise TraceError(f"{path}: is nested too deeply to be a trace; {_FORMATS}") from None
    except json.JSONDecodeError as error:
        at = f"{error.msg} in line {error.lineno}"
        raise TraceError(f"{path}: is not JSON ({at}); {_FORMATS}") from None
    except ValueError as error:
        raise TraceError(f"{path}: is not JSON ({error}); {_FORMATS}") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror or error}); name the file of one trace") from None


_FORMATS: Final = f"a trace is a JSON object whose format is {WHOLE} or {WINDOWS}"
_Seconds = Annotated[int, Field(gt=0)]
_Capacity = Annotated[str, Field(pattern=r"\A[01]+\z")]


class _File(BaseModel):
    """What both formats have; what else a file says of its origin is not read."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    zone: str
    instance: str
    gap_seconds: _Seconds


class _Whole(_File):
    start: str | None = None
    ticks: int | None = None
    capacity: _Capacity

    def as_windows(self) -> tuple[Window, ...]:
        return (Window(None, self.start, self.capacity),)

    def contradiction(self) -> str | None:
        if self.ticks is None or self.ticks == len(self.capacity):
            return None
        return f"ticks is {self.ticks}, and capacity has {len(self.capacity)} digits; one digit is one tick"


class _OneWindow(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    id: int
    start: str | None = None
    capacity: _Capacity


class _Windows(_File):
    ticks_per_window: int | None = None
    windows: Annotated[list[_OneWindow], Field(min_length=1)]

    def as_windows(self) -> tuple[Window, ...]:
        return tuple(Window(each.id, each.start, each.capacity) for each in self.windows)

    def contradiction(self) -> str | None:
        for each in self.windows:
            if self.ticks_per_window not in {None, len(each.capacity)}:
                digits = f"the capacity of window {each.id} has {len(each.capacity)} digits"
                return f"ticks_per_window is {self.ticks_per_window}, and {digits}; one digit is one tick"
        return None


_MODELS: Final[Mapping[str, type[_Whole | _Windows]]] = {WHOLE: _Whole, WINDOWS: _Windows}


def _twice(windows: tuple[Window, ...]) -> str | None:
    window, count = Counter(each.id for each in windows).most_common(1)[0]
    return None if count == 1 else f"window {window} is there {count} times; windows of several files are joined by id"


def _foreign(values: dict[str, Any]) -> str:
    """Of what kind a file is that is in neither format."""
    if "format" in values:
        return f"its format is {shown(values['format'])}, which holds no market per tick; {_FORMATS}"
    if "data" in values:
        return f"is a raw probe file, whose 1 may mean that the launch failed; {_FORMATS}, where 1 is capacity"
    return f"has no format; {_FORMATS}"


_MEANING: Final[Mapping[str, str]] = {
    "zone": "the zone's name",
    "instance": "the instance type's name",
    "gap_seconds": "the length of a tick, a whole number of seconds from 1",
    "capacity": "one digit per tick, 1 with capacity and 0 without, as in 110",
    "start": "the time of the first tick as text",
    "ticks": "the number of ticks",
    "ticks_per_window": "the number of ticks of every window",
    "windows": "a list of at least one window",
    "id": "a whole number, the same in every file for windows of one time",
}


def _sentence(error: ErrorDetails) -> str:
    """What is wrong with one key, and what it has to be."""
    *above, last = error["loc"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    name = str(last) if isinstance(last, str) else str(above[-1] if above else "")
    if isinstance(last, int):
        return f"{key} is {shown(error['input'])}; it has to be a window with id and capacity"
    has_to_be = f"it has to be {_MEANING.get(name, 'left out')}"
    if error["type"] == "missing":
        return f"{key} is missing; {has_to_be}"
    value = error["input"]
    if name == "capacity" and isinstance(value, str) and (foreign := re.search(r"[^01]", value)):
        return f"{key} has {shown(foreign.group())} at tick {foreign.start()}; {has_to_be}"
    return f"{key} is {shown(value)}; {has_to_be}"
