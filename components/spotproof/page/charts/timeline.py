"""What was where, and when: one band a job, policy or pod, all on one axis of hours.

A band has three floors: what waits lies on the ground, spot above it, on-demand on top. So a move is seen as a step,
and what is paid as a height, without any colour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal
from xml.etree.ElementTree import Element

from markupsafe import Markup

from spotproof.page.charts.axes import Scale, across, time_ticks
from spotproof.page.charts.legend import Key, legend
from spotproof.page.charts.svg import (
    FONT,
    LINE,
    WIDE,
    add,
    markup,
    name_column,
    picture,
    said,
    shortened,
    text_width,
    written,
)
from spotproof.page.text import hours

Kind = Literal["spot", "on-demand", "waiting"]
_FLOORS: Final[Mapping[Kind, int]] = {"on-demand": 0, "spot": 1, "waiting": 2}
_FLOOR: Final = 15
_GAP: Final = 14
_SHADES: Final = 4
"""Of spot; the number in a block tells tiers apart where the shade does not."""


@dataclass(frozen=True)
class State:
    """One thing that a band can be in: a tier by its pool, or waiting."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Span:
    """A stretch of a band, in hours; `state` is its place in the timeline's states."""

    state: int
    start: float
    end: float


@dataclass(frozen=True)
class Band:
    """One line of the timeline."""

    name: str
    note: str
    spans: Sequence[Span]
    strong: bool = False


@dataclass(frozen=True)
class Timeline:
    """Bands under each other; `at` is an hour with a line and a word."""

    title: str
    description: str
    states: Sequence[State]
    bands: Sequence[Band]
    at: tuple[float, str] | None = None

    def draw(self, width: int) -> Markup:
        """The picture, `width` units wide."""
        wide = width >= WIDE
        ends = [span.end for band in self.bands for span in band.spans] + ([self.at[0]] if self.at else [])
        last = max([*ends, 1 / 60]) * 1.02
        column = name_column([text for band in self.bands for text in (band.name, band.note)], width) if wide else 0
        x = Scale(0, last, column + 16 if wide else 6, width - 14)
        root = picture(width, 0, self.title, self.description)
        above = legend(root, self._keys(), width, 0) + (LINE + 14 if self.at else 8)
        head = 0 if wide else LINE + 4
        each = head + 3 * _FLOOR + _GAP
        bottom = above + each * len(self.bands)
        across(root, "Time from the start", time_ticks(0, last, 14 if wide else 7), x, (above, bottom))
        if self.at:
            hour, words = x(self.at[0]), self.at[1]
            add(root, "path", class_="limit", d=f"M{written(hour)} {written(above - 4)}V{written(bottom)}")
            end = max(min(hour + text_width(words) / 2, float(width)), text_width(words))
            add(root, "text", words, x=end, y=above - 8, class_="aside", text_anchor="end")
        for number, band in enumerate(self.bands):
            top = above + each * number + _GAP / 2
            if wide:
                _heading_beside(root, band, top, column)
            else:
                _heading_above(root, band, top, width)
            _Drawn(root, self.states, x, top + head, wide=wide).band(band)
        root.set("viewBox", f"0 0 {width} {written(bottom + 2 * LINE + 8)}")
        return markup(root)

    def _keys(self) -> list[Key]:
        numbers = _numbers(self.states)
        keys: list[Key] = []
        for number, state in zip(numbers, self.states, strict=True):
            words = f"{number} {state.name}" if number else state.name
            keys.append(Key(words, partial(_sign, _class(state.kind, number), state.kind)))
        broken = any(_cut(band.spans, at, self.states) for band in self.bands for at in range(len(band.spans)))
        return [*keys, Key("end of a stay on spot", _notch_sign)] if broken else keys


class _Drawn:
    """One band being drawn.

    What is too short for its number is collected into one path a class, and so is everything on a phone, which has no
    pointer to bring up an hour: a job of a hundred evictions would fill the page otherwise.
    """

    def __init__(self, root: Element, states: Sequence[State], x: Scale, top: float, *, wide: bool) -> None:
        self._group, self._states, self._numbers = add(root, "g", class_="band"), states, _numbers(states)
        self._x, self._top, self._wide = x, top, wide

    def band(self, band: Band) -> None:
        ground = self._top + 3 * _FLOOR
        add(
            self._group,
            "path",
            class_="ground",
            d=f"M{written(self._x.start)} {written(ground)}H{written(self._x.end)}",
        )
        short: dict[str, str] = {}
        labels: list[tuple[str, float, float]] = []
        notches = ""
        for at, span in enumerate(band.spans):
            state, number = self._states[span.state], self._numbers[span.state]
            left, right, floor = self._x(span.start), self._x(span.end), self._top + _FLOORS[state.kind] * _FLOOR
            shape, kind = _block(left, right, floor, state.kind, _FLOOR), _class(state.kind, number)
            roomy = right - left >= text_width(str(number)) + 4
            if roomy and self._wide:
                block = add(self._group, "path", class_=kind, d=shape)
                said(block, f"{state.name}, {hours(span.start)} to {hours(span.end)}")
            else:
                short[kind] = short.get(kind, "") + shape
            if roomy and number:
                labels.append((str(number), (left + right) / 2, floor + _FLOOR - 3.5))
            if _cut(band.spans, at, self._states):
                notches += _notch(right, floor - 4)
        for kind, shapes in short.items():
            add(self._group, "path", class_=kind, d=shapes)
        for label, h, v in labels:
            add(self._group, "text", label, x=h, y=v, class_="inside", text_anchor="middle")
        if notches:
            add(self._group, "path", class_="notch", d=notches)


def _heading_beside(root: Element, band: Band, top: float, column: float) -> None:
    group = add(root, "g", class_="names")
    add(group, "text", shortened(band.name, column), x=0, y=top + LINE, class_="strong" if band.strong else "")
    add(group, "text", shortened(band.note, column), x=0, y=top + 2 * LINE, class_="aside")


def _heading_above(root: Element, band: Band, top: float, width: int) -> None:
    group, note = add(root, "g", class_="names"), shortened(band.note, width * 0.5)
    name = shortened(band.name, width - text_width(note) - 36)
    add(group, "text", name, x=6, y=top + FONT, class_="strong" if band.strong else "")
    add(group, "text", note, x=width - 14, y=top + FONT, class_="aside", text_anchor="end")


def _block(left: float, right: float, top: float, kind: Kind, height: float) -> str:
    right = max(right, left + 0.6)
    if kind == "waiting":
        return f"M{written(left)} {written(top + height / 2)}H{written(right)}"
    inset = 0.4 if right - left > 2 else 0.0  # noqa: PLR2004 - two blocks of one tier stay two
    across = written(right - left - 2 * inset)
    return f"M{written(left + inset)} {written(top + 1)}h{across}v{written(height - 2)}h-{across}z"


def _notch(x: float, y: float) -> str:
    return f"M{written(x)} {written(y + 4)}l-3-6h6z"


def _notch_sign(group: Element, x: float, y: float) -> None:
    add(group, "path", class_="notch", d=_notch(x, y))


def _sign(class_: str, kind: Kind, group: Element, x: float, y: float) -> None:
    add(group, "path", class_=class_, d=_block(x - 8, x + 8, y - 6, kind, 12))


def _cut(spans: Sequence[Span], at: int, states: Sequence[State]) -> bool:
    """Whether a stay on spot ended before the band did."""
    return states[spans[at].state].kind == "spot" and at + 1 < len(spans)


def _numbers(states: Sequence[State]) -> list[int]:
    """Numbers of the spot tiers from 1, in their order; 0 for what is no spot."""
    found: list[int] = []
    for state in states:
        found.append(max(found, default=0) + 1 if state.kind == "spot" else 0)
    return found


def _class(kind: Kind, number: int) -> str:
    return f"spot s{(number - 1) % _SHADES}" if number else kind
