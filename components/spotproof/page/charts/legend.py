"""What the forms and colours of a picture mean, in rows that fit its width."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from spotproof.page.charts.svg import FONT, LINE, add, colour, marker, shortened, text_width

_SWATCH: Final = 24
_GAP: Final = 18


@dataclass(frozen=True)
class Key:
    """One entry: its words, and how its sign is drawn around a middle."""

    words: str
    sign: Callable[[Element, float, float], None]


def series_key(number: int, words: str) -> Key:
    """The entry of a series that has a mark of its own."""

    def sign(group: Element, x: float, y: float) -> None:
        add(group, "path", class_=f"centre {colour(number)}", d=marker(number, x, y, 6.5))

    return Key(words, sign)


def legend(root: Element, keys: Sequence[Key], width: float, top: float) -> float:
    """Draw it from the left edge on; return where it ends below."""
    group = add(root, "g", class_="legend")
    x, y = 0.0, top
    for key in keys:
        words = shortened(key.words, width - _SWATCH)
        taken = _SWATCH + text_width(words)
        if x and x + taken > width:
            x, y = 0.0, y + LINE + 3
        key.sign(group, x + 9, y + LINE / 2)
        add(group, "text", words, x=x + _SWATCH, y=y + LINE / 2 + FONT * 0.35)
        x += taken + _GAP
    return y + LINE if keys else top
