"""Axes: round numbers to stop at, and where a value lies between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from spotproof.page.charts.svg import FONT, LINE, add, text_width

_SECOND: Final = 1 / 3600
_TIMES: Final[Sequence[float]] = [
    *(_SECOND * each for each in (1, 2, 5, 10, 20, 30)),
    *(each / 60 for each in (1, 2, 5, 10, 20, 30)),
    *(1, 2, 3, 6, 12, 24, 48, 72, 168, 336, 720, 1440, 2880, 8760),
]
"""Steps of a clock, in hours: nobody counts hours by fives."""
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Ticks:
    """Values with a line of their own, as they are written, and what they are counted in."""

    values: Sequence[float]
    labels: Sequence[str]
    unit: str


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` on a line of the picture from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where it lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def shows(self, value: float) -> bool:
        """Whether it lies between the ends."""
        return self.low <= value <= self.high


def number_ticks(low: float, high: float, most: int, unit: str = "") -> Ticks:
    """Multiples of 1, 2 or 5 times a power of ten, from `low` to `high`, at most so many."""
    step = _step(low, high, most)
    decimals = max(0, -math.floor(math.log10(step) + _ROUNDING))
    values = [round(each * step, decimals) + 0.0 for each in _multiples(low, high, step)]
    return Ticks(values, [f"{value:,.{decimals}f}" for value in values], unit)


def time_ticks(low: float, high: float, most: int) -> Ticks:
    """Steps of a clock, from `low` to `high` hours, at most so many: in hours, minutes or seconds."""
    step = next((step for step in _TIMES if len(_multiples(low, high, step)) <= most), None)
    if step is None:
        return number_ticks(low, high, most, "h")
    an_hour, unit = (1, "h") if step >= 1 else (60, "min") if step >= 1 / 60 else (3600, "s")
    values = [each * step for each in _multiples(low, high, step)]
    return Ticks(values, [f"{round(value * an_hour):,}" for value in values], unit)


def rounded(low: float, high: float, most: int) -> tuple[float, float]:
    """The same range, widened to the ticks around it; a range of nothing is widened to one."""
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0) or 1.0
    step = _step(low, high, most)
    return math.floor(low / step + _ROUNDING) * step, math.ceil(high / step - _ROUNDING) * step


def across(root: Element, title: str, ticks: Ticks, scale: Scale, between: tuple[float, float]) -> None:
    """A horizontal axis: its lines from top to bottom, numbers below them, and at its end what is counted."""
    top, bottom = between
    group = add(root, "g", class_="axis")
    for value, label in zip(ticks.values, ticks.labels, strict=True):
        x = scale(value)
        add(group, "path", class_="grid", d=f"M{x:.1f} {top:.1f}V{bottom:.1f}")
        add(group, "text", label, x=x, y=bottom + LINE, text_anchor="middle")
    add(
        group,
        "text",
        f"{title}, {ticks.unit}" if ticks.unit else title,
        x=scale.end,
        y=bottom + 2 * LINE + 2,
        class_="unit",
        text_anchor="end",
    )


def up(root: Element, title: str, ticks: Ticks, scale: Scale, between: tuple[float, float]) -> None:
    """A vertical axis: its lines from left to right; what is counted stands above, to be read without turning."""
    left, right = between
    group = add(root, "g", class_="axis")
    for value, label in zip(ticks.values, ticks.labels, strict=True):
        y = scale(value)
        add(group, "path", class_="zero" if value == 0 else "grid", d=f"M{left:.1f} {y:.1f}H{right:.1f}")
        add(group, "text", label, x=left - 8, y=y + FONT * 0.35, text_anchor="end")
    add(group, "text", f"{title}, {ticks.unit}" if ticks.unit else title, x=0, y=FONT, class_="unit")


def room(labels: Sequence[str]) -> float:
    """How far the numbers of a vertical axis reach out to the left of it."""
    return max((text_width(label) for label in labels), default=0) + 8


def _step(low: float, high: float, most: int) -> float:
    power = 10.0 ** math.floor(math.log10((high - low) / max(most, 1)) - 1)
    steps = (factor * power * scale for scale in (1, 10, 100) for factor in (1, 2, 5))
    return next(step for step in steps if len(_multiples(low, high, step)) <= max(most, 2))


def _multiples(low: float, high: float, step: float) -> range:
    """The whole numbers whose multiples of the step lie in the range; a range, since a century has many seconds."""
    return range(math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING) + 1)
