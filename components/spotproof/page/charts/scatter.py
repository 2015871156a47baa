"""Runs as clouds of dots, with one large mark each for what they come to: cost over finish time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from markupsafe import Markup

from spotproof.page.charts.axes import Scale, across, number_ticks, room, rounded, time_ticks, up
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
    picture,
    said,
    shortened,
    text_width,
    written,
)
from spotproof.page.text import hours

Point = tuple[float, float]
_RADIUS: Final = 6.5
_LONGEST_NAME: Final = 260
_PAST: Final = 0.5
"""How much of the time from the first end to the deadline is shown beyond the deadline."""


@dataclass(frozen=True)
class Cloud:
    """One series, as (hours, value) pairs."""

    name: str
    points: Sequence[Point]
    centre: Point
    """The large mark."""
    until: float | None
    """Hours at which the line that starts in the large mark ends, its 95th percentile; None where that has no end."""
    strong: bool = False
    says: str = ""
    """What a pointer on the large mark brings up."""


@dataclass(frozen=True)
class Scatter:
    """A picture of clouds over hours; `at` is an hour with a line and a word, `level` a value with the same.

    Where there is a deadline the picture ends soon after it: runs that wait for weeks would squeeze all others into a
    corner. Dots beyond are left out, and `outside` counts them; a large mark beyond stands at the edge, with its hour.
    """

    title: str
    description: str
    value: str
    unit: str
    clouds: Sequence[Cloud]
    at: tuple[float, str] | None = None
    level: tuple[float, str] | None = None

    @property
    def outside(self) -> int:
        """How many dots lie beyond the picture."""
        _, last = self._hours()
        return sum(x > last for cloud in self.clouds for x, _ in cloud.points)

    def _hours(self) -> tuple[float, float]:
        ends = [cloud.centre[0] for cloud in self.clouds]
        first = min([*ends, *(x for cloud in self.clouds for x, _ in cloud.points)])
        last = max([*ends, *(cloud.until for cloud in self.clouds if cloud.until is not None)])
        if self.at:
            first, last = min(first, self.at[0]), max(last, self.at[0])
            last = min(last, self.at[0] + max((self.at[0] - first) * _PAST, 1))
        margin = max(last - first, 0.5) * 0.06
        return max(first - margin, 0), last + margin

    def _highest(self, last: float) -> float:
        """Values start at nothing, so that half as high is half as dear."""
        seen = [y for cloud in self.clouds for x, y in [*cloud.points, cloud.centre] if x <= last]
        return max([*seen, self.level[0] if self.level else 0, 0.01])

    def draw(self, width: int) -> Markup:
        """The picture, `width` units wide."""
        wide = width >= WIDE
        top, bottom = LINE + 14.0, 470.0 if wide else 400.0
        first, last = self._hours()
        low, high = rounded(0, self._highest(last) * 1.02, 6)
        values = number_ticks(low, high, 8, self.unit)
        x, y = Scale(first, last, room(values.labels), width - 14), Scale(low, high, bottom, top)
        root = picture(width, 0, self.title, self.description)
        up(root, self.value, values, y, (x.start, x.end))
        ticks = time_ticks(first, last, 12 if wide else 6)
        across(root, "End of the job, counted from its start", ticks, x, (top, bottom))
        labels = Labels(Box(x.start, top, x.end, bottom))
        self._references(root, x, y)
        for number, cloud in self._strongest_last():
            _dots(root, number, cloud, x, y)
        unnamed = self._centres(root, x, y, labels, wide=wide)
        end = legend(root, [self._key(number, x) for number in unnamed], width, bottom + 2 * LINE + 14)
        root.set("viewBox", f"0 0 {width} {written(end if unnamed else bottom + 2 * LINE + 8)}")
        return markup(root)

    def _references(self, root: Element, x: Scale, y: Scale) -> None:
        if self.level:
            height = written(y(self.level[0]))
            add(root, "path", class_="level", d=f"M{written(x.start)} {height}H{written(x.end)}")
        if self.at:
            add(root, "path", class_="limit", d=f"M{written(x(self.at[0]))} {written(y.end)}V{written(y.start)}")

    def _words(self, names: Element, x: Scale, y: Scale, labels: Labels) -> None:
        """The words of the two lines, which everything else keeps off."""
        hour = x.end
        if self.at:
            hour, words = x(self.at[0]), self.at[1]
            after = hour + 6 + text_width(words) <= x.end
            start = hour + 6 if after else hour - 6 - text_width(words)
            add(names, "text", words, x=start, y=y.start - 8, class_="aside")
            labels.taken += [box_of(words, start, y.start - 8), Box(hour - 1, y.end, hour + 1, y.start)]
        if self.level:
            height, words = y(self.level[0]), shortened(self.level[1], x.end - x.start)
            start = x.end - text_width(words)
            if start < hour + 6 and hour - 6 - text_width(words) >= x.start:
                start = hour - 6 - text_width(words)
            add(names, "text", words, x=start, y=height - 6, class_="aside")
            labels.taken += [box_of(words, start, height - 6), Box(x.start, height - 1, x.end, height + 1)]

    def _centres(self, root: Element, x: Scale, y: Scale, labels: Labels, *, wide: bool) -> list[int]:
        """The large marks and their names, the strong ones first; returns what found no room for its name."""
        spots = [(min(x(cloud.centre[0]), x.end - 9), y(cloud.centre[1])) for cloud in self.clouds]
        for (h, v), cloud in zip(spots, self.clouds, strict=True):
            labels.cover(h, v, _RADIUS + 2)
            labels.taken.append(Box(h, v - 4, _reach(cloud, h, x), v + 4))
        for number, (cloud, (h, v)) in enumerate(zip(self.clouds, spots, strict=True)):
            end = "m0-4v8" if cloud.until is not None and x.shows(cloud.until) else "l-5-4m5 4l-5 4"
            reach = _reach(cloud, h, x)
            add(root, "path", class_=f"until {colour(number)}", d=f"M{written(h)} {written(v)}H{written(reach)}{end}")
        for number, cloud in self._strongest_last():
            mark = add(root, "path", class_=f"centre {colour(number)}", d=marker(number, *spots[number], _RADIUS))
            said(mark, cloud.says)
        names = add(root, "g", class_="names")
        self._words(names, x, y, labels)
        unnamed: list[int] = []
        for number, cloud in reversed(self._strongest_last()):
            beyond = not x.shows(cloud.centre[0])
            # On a phone eight names beside eight marks would hide what they name.
            named, emphasis = wide or cloud.strong or beyond, "strong" if cloud.strong else ""
            words = _name(cloud, beyond=beyond)
            if not (named and labels.beside(names, words, spots[number], clear=_RADIUS, class_=emphasis)):
                unnamed.append(number)
        return sorted(unnamed)

    def _strongest_last(self) -> list[tuple[int, Cloud]]:
        return sorted(enumerate(self.clouds), key=lambda each: each[1].strong)

    def _key(self, number: int, x: Scale) -> Key:
        cloud = self.clouds[number]
        return series_key(number, _name(cloud, beyond=not x.shows(cloud.centre[0])))


def _reach(cloud: Cloud, middle: float, x: Scale) -> float:
    return x.end if cloud.until is None else max(middle, min(x(cloud.until), x.end))


def _name(cloud: Cloud, *, beyond: bool) -> str:
    name = shortened(cloud.name, _LONGEST_NAME)
    return f"{name}, {hours(cloud.centre[0])}" if beyond else name


def _dots(root: Element, number: int, cloud: Cloud, x: Scale, y: Scale) -> None:
    # One path of points without length, round at both ends, is a tenth of the bytes of as many circles.
    shown = [(x(hour), y(value)) for hour, value in cloud.points if x.shows(hour)]
    dots = "".join(f"M{h:.0f} {v:.0f}h0" for h, v in shown)
    if dots:
        add(root, "path", class_=f"dots {colour(number)}{' strong' if cloud.strong else ''}", d=dots)
