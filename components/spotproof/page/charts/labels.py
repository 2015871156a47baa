"""Where a label goes so that it covers nothing and nothing covers it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from spotproof.page.charts.svg import FONT, LINE, Box, add, text_width, written

_STEPS: Final = (0, 1, 2, 3, 4, 6, 8, 10)
"""Lines of text between a point and its label, tried in this order."""
_NEAR: Final = 1
"""Beyond this many a thin line has to tie the two together."""


class _Place(NamedTuple):
    x: float
    y: float
    box: Box
    far: bool


@dataclass
class Labels:
    """The labels of one picture: a frame they may not leave, and what is covered already."""

    frame: Box
    taken: list[Box] = field(default_factory=list[Box])

    def cover(self, x: float, y: float, radius: float) -> None:
        """Keep labels off a mark."""
        self.taken.append(Box(x - radius, y - radius, x + radius, y + radius))

    def beside(self, parent: Element, text: str, point: tuple[float, float], *, clear: float, class_: str = "") -> bool:
        """Write a text in the nearest free place beside a point.

        Args:
            parent: Where to draw.
            text: The label.
            point: What it belongs to.
            clear: Radius of the point's own mark.
            class_: How the text looks.

        Returns:
            Whether there was a place.
        """
        x, y = point
        for at in _places(text, x, y, clear):
            if self.frame.holds(at.box) and not any(at.box.meets(box) for box in self.taken):
                break
        else:
            return False
        self.taken.append(at.box)
        if at.far:
            near, edge = min(max(x, at.box.left), at.box.right), at.box.top if at.box.top > y else at.box.bottom
            add(parent, "path", class_="tie", d=f"M{written(x)} {written(y)}L{written(near)} {written(edge)}")
        add(parent, "text", text, x=at.x, y=at.y, class_=class_)
        return True


def box_of(text: str, x: float, y: float) -> Box:
    """What a text covers that starts at x on the baseline y."""
    return Box(x, y - FONT, x + text_width(text), y + FONT * 0.3)


def _places(text: str, x: float, y: float, clear: float) -> Iterator[_Place]:
    width, gap = text_width(text), clear + 4
    sides = (x + gap, x - gap - width, x - width / 2)
    for steps in _STEPS:
        for down in (-steps, steps) if steps else (0,):
            for left in sides if steps else sides[:2]:
                baseline = y + FONT * 0.35 + down * LINE
                yield _Place(left, baseline, box_of(text, left, baseline), steps > _NEAR)
