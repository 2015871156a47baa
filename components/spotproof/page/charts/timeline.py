"""What was where, and when: one band a job, policy or pod, all on one axis of hours.

A band has three floors: what waits lies on the ground, spot above it, on-demand on top. So a move is seen as a step,
and what is paid as a height, without any colour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    picture,
    said,
    shortened,
    text_width,
)
from spotproof.page.text import hours

Kind = Literal["spot", "on-demand", "waiting"]
_FLOORS: Final[Mapping[Kind, int]] = {"on-demand": 0, "spot": 1, "waiting": 2}
_FLOOR: Final = 15
_SHADES: Final = 4
"""Of spot; the number in a block tells tiers apart where the shade does not."""
_NAMES: Final = 170


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
        x = Scale(0, last, _NAMES + 12 if wide else 6, width - 14)
        root = picture(width, 0, self.title, self.description)
        above = legend(root, self._keys(), width, 0) + (LINE + 14 if self.at else 8)
        head, gap = (0 if wide else LINE + 4), 14
        each = head + 3 * _FLOOR + gap
        bottom = above + each * len(self.bands)
        across(root, "Time from the start", time_ticks(0, last, 14 if wide else 7), x, (above, bottom))
        for number, band in enumerate(self.bands):
            top = above + each * number + gap / 2
            _heading(root, band, top, width, wide=wide)
            _blocks(root, band, self.states, x, top + head)
        if self.at:
            hour, words = x(self.at[0]), self.at[1]
            add(root, "path", class_="limit", d=f"M{hour:.1f} {above - 4:.1f}V{bottom:.1f}")
            end = max(min(hour + text_width(words) / 2, float(width)), text_width(words))
            add(root, "text", words, x=end, y=above - 8, class_="aside", text_anchor="end")
        root.set("viewBox", f"0 0 {width} {bottom + 2 * LINE + 8:.0f}")
        return markup(root)

    def _keys(self) -> list[Key]:
        numbers = _numbers(self.states)
        keys: list[Key] = []
        for at, state in enumerate(self.states):
            words = state.name if state.kind != "spot" else f"{numbers[at]} {state.name}"

            def sign(group: Element, x: float, y: float, at: int = at, state: State = state) -> None:
                shape = add(
                    group, "path", class_=_class(at, self.states), d=_block(x - 8, x + 8, y - 6, state.kind, 12)
                )
                said(shape, state.name)

            keys.append(Key(words, sign))
        broken = any(_cut(band.spans, at, self.states) for band in self.bands for at in range(len(band.spans)))
        return [*keys, Key("end of a stay on spot: evicted or moved", _notch)] if broken else keys


def _heading(root: Element, band: Band, top: float, width: int, *, wide: bool) -> None:
    group = add(root, "g", class_="names")
    emphasis = "strong" if band.strong else ""
    if wide:
        add(group, "text", shortened(band.name, _NAMES), x=0, y=top + LINE, class_=emphasis)
        add(group, "text", shortened(band.note, _NAMES), x=0, y=top + 2 * LINE, class_="aside")
        return
    note = shortened(band.note, width * 0.5)
    add(group, "text", shortened(band.name, width - text_width(note) - 16), x=6, y=top + FONT, class_=emphasis)
    add(group, "text", note, x=width - 14, y=top + FONT, class_="aside", text_anchor="end")


def _blocks(root: Element, band: Band, states: Sequence[State], x: Scale, top: float) -> None:
    numbers = _numbers(states)
    group = add(root, "g", class_="band")
    add(group, "path", class_="ground", d=f"M{x.start:.1f} {top + 3 * _FLOOR:.1f}H{x.end:.1f}")
    for at, span in enumerate(band.spans):
        state = states[span.state]
        left, right, floor = x(span.start), x(span.end), top + _FLOORS[state.kind] * _FLOOR
        block = add(group, "path", class_=_class(span.state, states), d=_block(left, right, floor, state.kind, _FLOOR))
        said(block, f"{state.name}, {hours(span.start)} to {hours(span.end)}")
        label = str(numbers[span.state]) if state.kind == "spot" else ""
        if label and right - left >= text_width(label) + 4:
            add(
                group,
                "text",
                label,
                x=(left + right) / 2,
                y=floor + _FLOOR - 3.5,
                class_="inside",
                text_anchor="middle",
            )
        if _cut(band.spans, at, states):
            _notch(group, right, floor - 4)


def _block(left: float, right: float, top: float, kind: Kind, height: float) -> str:
    right = max(right, left + 0.6)
    if kind == "waiting":
        return f"M{left:.1f} {top + height / 2:.1f}H{right:.1f}"
    inset = 0.4 if right - left > 2 else 0.0  # noqa: PLR2004 - two blocks of one tier stay two
    return f"M{left + inset:.1f} {top + 1:.1f}H{right - inset:.1f}V{top + height - 1:.1f}H{left + inset:.1f}z"


def _notch(group: Element, x: float, y: float) -> None:
    add(group, "path", class_="notch", d=f"M{x:.1f} {y + 4:.1f}l-3-6h6z")


def _cut(spans: Sequence[Span], at: int, states: Sequence[State]) -> bool:
    """Whether a stay on spot ended before the band did."""
    return states[spans[at].state].kind == "spot" and at + 1 < len(spans)


def _numbers(states: Sequence[State]) -> list[int]:
    """Numbers of the spot tiers from 1, in their order; 0 for what is no spot."""
    found: list[int] = []
    for state in states:
        found.append(max(found, default=0) + 1 if state.kind == "spot" else 0)
    return found


def _class(at: int, states: Sequence[State]) -> str:
    kind = states[at].kind
    return f"spot s{(_numbers(states)[at] - 1) % _SHADES}" if kind == "spot" else kind
