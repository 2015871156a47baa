"""One quantity over another, as a line or as steps, with the points that matter marked and named."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from spotproof.page.charts.axes import Scale, across, number_ticks, room, up
from spotproof.page.charts.labels import Labels, box_of
from spotproof.page.charts.legend import Key, legend, series_key
from spotproof.page.charts.svg import (
    LINE,
    WIDE,
    Box,
    add,
    colour,
    marker,
    markup,
    outline,
    picture,
    shortened,
    written,
)

Point = tuple[float, float]
_PIECE: Final = 6


@dataclass(frozen=True)
class Axis:
    """What is counted, and in what."""

    title: str
    unit: str = ""


@dataclass(frozen=True)
class Line:
    """A picture of one curve. With `steps` a value holds until the next one is seen; marks are points with words."""

    title: str
    description: str
    across: Axis
    up: Axis
    points: Sequence[Point]
    marks: Sequence[tuple[Point, str]] = ()
    steps: bool = False
    below: str = ""
    """What it means to lie below nothing; the part of the picture is tinted where it is given."""

    def draw(self, width: int) -> Markup:
        """The picture, `width` units wide."""
        wide = width >= WIDE
        top, bottom = LINE + 14, 320
        seen = [*self.points, *(point for point, _ in self.marks)]
        lowest, highest = min(0.0, *(y for _, y in seen)), max(0.0, *(y for _, y in seen))
        low, high = lowest, highest + ((highest - lowest) * 0.1 or 1)
        values = number_ticks(low, high, 8, self.up.unit)
        first, last = min(x for x, _ in seen), max(x for x, _ in seen)
        x = Scale(first, last if last > first else first + 1, room(values.labels), width - 18)
        y = Scale(low, high, bottom, top)
        root = picture(width, 0, self.title, self.description)
        if low < 0 and self.below:
            under = [(x.start, y(0)), (x.end, y(0)), (x.end, bottom), (x.start, bottom)]
            add(root, "path", class_="loss", d=outline(under) + "z")
        up(root, self.up.title, values, y, (x.start, x.end))
        ticks = number_ticks(x.low, x.high, 12 if wide else 6, self.across.unit)
        across(root, self.across.title, ticks, x, (top, bottom))
        labels = Labels(Box(x.start, top, x.end, bottom), [Box(x.start, y(0) - 2, x.end, y(0) + 2)])
        drawn = [(x(h), y(v)) for h, v in self._corners()]
        add(root, "path", class_="curve c0", d=outline(drawn))
        labels.taken += [box for one, other in pairwise(drawn) for box in _along(one, other)]
        spots = [(x(h), y(v)) for (h, v), _ in self.marks]
        for h, v in spots:
            labels.cover(h, v, 7)
        if low < 0 and self.below:
            add(root, "text", self.below, x=x.start + 6, y=bottom - 8, class_="aside")
            labels.taken.append(box_of(self.below, x.start + 6, bottom - 8))
        unnamed: list[Key] = []
        for number, ((_, words), (h, v)) in enumerate(zip(self.marks, spots, strict=True), 1):
            add(root, "path", class_=f"centre {colour(number)}", d=marker(number, h, v, 6))
            if not labels.beside(root, shortened(words, x.end - x.start), (h, v), clear=6, class_="strong"):
                unnamed.append(series_key(number, words))
        end = legend(root, unnamed, width, bottom + 2 * LINE + 14)
        root.set("viewBox", f"0 0 {width} {written(end if unnamed else bottom + 2 * LINE + 8)}")
        return markup(root)

    def _corners(self) -> Sequence[Point]:
        if not self.steps:
            return self.points
        turns = [((x, before), (x, y)) for (_, before), (x, y) in pairwise(self.points)]
        return [*self.points[:1], *(corner for turn in turns for corner in turn)]


def _along(one: Point, other: Point) -> Iterator[Box]:
    """What a straight piece covers, as small boxes in a row: a single one would cover a whole corner."""
    (a, b), (c, d) = one, other
    pieces = max(1, math.ceil(max(abs(c - a), abs(d - b)) / _PIECE))
    for each in range(pieces):
        h, v = a + (c - a) * (each + 0.5) / pieces, b + (d - b) * (each + 0.5) / pieces
        yield Box(h - _PIECE / 2, v - _PIECE / 2, h + _PIECE / 2, v + _PIECE / 2)
