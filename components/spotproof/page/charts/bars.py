"""One figure a line, with the interval in which it lies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from markupsafe import Markup

from spotproof.page.charts.axes import Scale, across, number_ticks, rounded
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

_HEIGHT: Final = 18


@dataclass(frozen=True)
class Bar:
    """A figure; `interval` may be missing, `words` is the figure as it is written."""

    name: str
    value: float
    interval: tuple[float, float] | None
    words: str
    strong: bool = False


@dataclass(frozen=True)
class Bars:
    """A picture of bars that start at nothing, to the right or, below it, to the left."""

    title: str
    description: str
    value: str
    unit: str
    bars: Sequence[Bar]

    def draw(self, width: int) -> Markup:
        """The picture, `width` units wide."""
        wide = width >= WIDE
        ends = [end for bar in self.bars for end in (bar.value, *(bar.interval or ()))]
        low, (_, high) = min(0.0, *ends), rounded(0.0, max(0.0, *ends), 6)
        words = max(text_width(bar.words) for bar in self.bars) + 10
        column = name_column([bar.name for bar in self.bars], width) if wide else 0
        losses = min(bar.value for bar in self.bars) < 0
        x = Scale(low, high, column + 16 + (words if losses else 0), width - words)
        indent = 0 if wide or losses else x(0) + 2
        each = _HEIGHT + 12 if wide else _HEIGHT + LINE + 12
        bottom = 4 + each * len(self.bars)
        root = picture(width, bottom + 2 * LINE + 8, self.title, self.description)
        across(root, self.value, number_ticks(low, high, 8, self.unit), x, (0, bottom))
        add(root, "path", class_="zero", d=f"M{written(x(0))} 0V{written(bottom)}")
        names = add(root, "g", class_="names")
        for number, bar in enumerate(self.bars):
            top = 10 + each * number
            emphasis = "strong" if bar.strong else ""
            name = shortened(bar.name, column if wide else width - indent)
            add(names, "text", name, x=indent, y=top + FONT, class_=emphasis)
            middle = top + _HEIGHT / 2 + (0 if wide else LINE)
            self._bar(root, bar, x, middle)
        return markup(root)

    def _bar(self, root: Element, bar: Bar, x: Scale, middle: float) -> None:
        low, high = bar.interval or (bar.value, bar.value)
        top, floor = middle - _HEIGHT / 2, middle + _HEIGHT / 2
        shape = f"M{x(0):.1f} {top:.1f}H{x(bar.value):.1f}V{floor:.1f}H{x(0):.1f}z"
        said(add(root, "path", class_="bar strong" if bar.strong else "bar", d=shape), f"{bar.name}: {bar.words}")
        if bar.interval:
            ends = f"M{x(low):.1f} {middle - 5:.1f}v10m0-5H{x(high):.1f}m0-5v10"
            add(root, "path", class_="interval around", d=ends)
            add(root, "path", class_="interval", d=ends)
        loss = bar.value < 0
        at = min(x(low), x(bar.value)) - 6 if loss else max(x(high), x(bar.value)) + 6
        add(
            root,
            "text",
            bar.words,
            x=at,
            y=middle + FONT * 0.35,
            class_="strong" if bar.strong else "",
            text_anchor="end" if loss else "start",
        )
