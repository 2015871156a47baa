"""What each of several things did, second by second: one lane a pod or a node, with numbered moments above.

A phase is told by its form as well as by its colour: waiting is a dashed line, starting an empty block, being up a
full one, leaving a low one.
"""

from collections.abc import Iterator, Mapping, Sequence
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
from spotproof.page.text import seconds

Phase = Literal["waiting", "starting", "up", "leaving", "closed"]
WORDS: Final[Mapping[Phase, str]] = {
    "waiting": "waits for a node",
    "starting": "starts",
    "up": "is up",
    "leaving": "is told to leave",
    "closed": "nothing to be had",
}
_BLOCK: Final = 16
_HOUR: Final = 3600
_SHADES: Final = 4


@dataclass(frozen=True)
class Place:
    """A pool, as the legend names it."""

    name: str
    kind: Literal["spot", "on-demand"]


@dataclass(frozen=True)
class Stretch:
    """One phase of a lane, in seconds; `place` is its number in the chart's places, None where it has none."""

    phase: Phase
    start: float
    end: float
    place: int | None = None


@dataclass(frozen=True)
class Lane:
    """One line of the picture."""

    name: str
    note: str
    stretches: Sequence[Stretch]


@dataclass(frozen=True)
class Lanes:
    """Lanes under each other; `marks` are the seconds of moments that are numbered from 1."""

    title: str
    description: str
    places: Sequence[Place]
    lanes: Sequence[Lane]
    marks: Sequence[float]
    seconds: float

    def draw(self, width: int) -> Markup:
        """The picture, `width` units wide."""
        wide = width >= WIDE
        column = (
            name_column([text for lane in self.lanes for text in (lane.name, lane.note)] or [""], width) if wide else 0
        )
        x = Scale(0, max(self.seconds, 1.0) / _HOUR, column + 16 if wide else 6, width - 14)
        root = picture(width, 0, self.title, self.description)
        above = legend(root, self._keys(), width, 0) + 2 * LINE
        head = 0 if wide else LINE
        each = head + (2 * LINE + 2 if wide else _BLOCK + 12)
        bottom = above + each * len(self.lanes)
        ticks = time_ticks(0, max(self.seconds, 1.0) / _HOUR, 14 if wide else 6)
        across(root, "Time from the start", ticks, x, (above, bottom))
        self._numbers(root, x, (above, bottom), width)
        for number, lane in enumerate(self.lanes):
            top = above + each * number
            if wide:
                _beside(root, lane, top, column)
            else:
                _above(root, lane, top, width)
            self._lane(root, lane, x, top + head + (LINE + 2 - _BLOCK / 2 if wide else 6))
        root.set("viewBox", f"0 0 {width} {written(bottom + 2 * LINE + 8)}")
        return markup(root)

    def _lane(self, root: Element, lane: Lane, x: Scale, top: float) -> None:
        group = add(root, "g", class_="lane")
        for stretch in lane.stretches:
            left, right = x(stretch.start / _HOUR), x(stretch.end / _HOUR)
            block = add(group, "path", class_=self._class(stretch), d=_shape(stretch.phase, left, right, top))
            place = "" if stretch.place is None else f" on {self.places[stretch.place].name}"
            where = place if stretch.phase in {"up", "leaving"} else ""
            said(block, f"{WORDS[stretch.phase]}{where}, {seconds(stretch.start)} to {seconds(stretch.end)}")
            label = "" if stretch.place is None else str(stretch.place + 1)
            if stretch.phase == "up" and right - left >= text_width(label) + 4:
                middle = (left + right) / 2
                add(group, "text", label, x=middle, y=top + _BLOCK - 4, class_="inside", text_anchor="middle")

    def _class(self, stretch: Stretch) -> str:
        if stretch.place is None or stretch.phase not in {"up", "starting"}:
            return stretch.phase
        place = self.places[stretch.place]
        shade = f"s{self._shade(stretch.place)}" if place.kind == "spot" else "paid"
        return f"{stretch.phase} {shade}"

    def _shade(self, place: int) -> int:
        return sum(each.kind == "spot" for each in self.places[:place]) % _SHADES

    def _numbers(self, root: Element, x: Scale, between: tuple[float, float], width: int) -> None:
        """The moments' numbers; those that would meet share one place."""
        top, bottom = between
        group = add(root, "g", class_="marks")
        lines = "".join(f"M{written(x(at / _HOUR))} {written(top - 4)}V{written(bottom)}" for at in self.marks)
        if lines:
            add(group, "path", class_="mark", d=lines)
        for label, middle in _labels([x(at / _HOUR) for at in self.marks], width):
            add(group, "text", label, x=middle, y=top - 9, text_anchor="middle")

    def _keys(self) -> list[Key]:
        used = {stretch.phase for lane in self.lanes for stretch in lane.stretches}
        seen = {stretch.place for lane in self.lanes for stretch in lane.stretches}
        keys: list[Key] = []
        for number, place in enumerate(self.places):
            if number in seen:
                shape = Stretch("up", 0, 0, number)
                keys.append(Key(f"{number + 1} {place.name}", partial(_sign, self._class(shape), "up")))
        for phase, words in WORDS.items():
            if phase in used and phase != "up":
                first = min(seen - {None}, default=None, key=lambda each: each or 0)
                shape = Stretch(phase, 0, 0, first)
                keys.append(Key(words, partial(_sign, self._class(shape), phase)))
        return keys


def _labels(at: Sequence[float], width: float) -> Iterator[tuple[str, float]]:
    """Numbers from 1 at these places, with neighbours that would meet in one: `3-5`."""
    groups: list[tuple[int, int]] = []
    for number in range(len(at)):
        groups.append((number, number))
        while len(groups) > 1 and _span(at, groups[-2], width)[1] + 6 > _span(at, groups[-1], width)[0]:
            (first, _), (_, last) = groups[-2:]
            groups[-2:] = [(first, last)]
    for group in groups:
        left, right = _span(at, group, width)
        yield _label(group), (left + right) / 2


def _label(group: tuple[int, int]) -> str:
    first, last = group
    return str(first + 1) if first == last else f"{first + 1}-{last + 1}"


def _span(at: Sequence[float], group: tuple[int, int], width: float) -> tuple[float, float]:
    """What a label covers, kept within the picture."""
    half = text_width(_label(group)) / 2
    middle = (at[group[0]] + at[group[1]]) / 2
    middle = min(max(middle, half), width - half)
    return middle - half, middle + half


def _beside(root: Element, lane: Lane, top: float, column: float) -> None:
    group = add(root, "g", class_="names")
    add(group, "text", shortened(lane.name, column), x=0, y=top + FONT + 2)
    add(group, "text", shortened(lane.note, column), x=0, y=top + FONT + LINE, class_="aside")


def _above(root: Element, lane: Lane, top: float, width: int) -> None:
    group, note = add(root, "g", class_="names"), shortened(lane.note, width * 0.5)
    name = shortened(lane.name, width - text_width(note) - 36)
    add(group, "text", name, x=6, y=top + FONT + 3)
    add(group, "text", note, x=width - 14, y=top + FONT + 3, class_="aside", text_anchor="end")


def _shape(phase: Phase, left: float, right: float, top: float) -> str:
    right = max(right, left + 0.8)
    across_ = written(right - left)
    if phase in {"waiting", "closed"}:
        return f"M{written(left)} {written(top + _BLOCK / 2)}H{written(right)}"
    if phase == "starting":
        return f"M{written(left)} {written(top + 3)}h{across_}v{_BLOCK - 6}h-{across_}z"
    if phase == "leaving":
        return f"M{written(left)} {written(top + _BLOCK / 2)}h{across_}v{_BLOCK // 2}h-{across_}z"
    return f"M{written(left)} {written(top)}h{across_}v{_BLOCK}h-{across_}z"


def _sign(class_: str, phase: Phase, group: Element, x: float, y: float) -> None:
    add(group, "path", class_=class_, d=_shape(phase, x - 8, x + 8, y - _BLOCK / 2))
