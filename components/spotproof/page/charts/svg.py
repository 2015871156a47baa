"""The little of SVG that the charts need: elements that escape themselves, how wide a text is, boxes that collide.

Colours, weights and sizes are in style.css, by class: only there can they follow a reader's choice of light or dark.
"""

import math
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from markupsafe import Markup

from spotproof.page.text import visible

WIDE: Final = 960
"""Units of a picture for a desk: about a pixel each."""
NARROW: Final = 360
"""Units of a picture for a phone."""
FONT: Final = 13
"""Height of all text, in the same units; style.css says the same."""
LINE: Final = 17
_EM: Final = 0.6
"""Mean width of a character: what DejaVu Sans takes, the widest of the usual system fonts, so that no label is cut."""

_PALETTE: Final = 8


class Box(NamedTuple):
    """A rectangle of the picture; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether the two share more than an edge."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def holds(self, other: "Box") -> bool:
        """Whether the other lies within this one."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


def picture(width: float, height: float, title: str, description: str) -> Element:
    """An empty picture with the name and the words that a screen reader says in its place."""
    root = Element("svg", {"viewBox": f"0 0 {written(width)} {written(height)}", "role": "img"})
    add(root, "title", title)
    add(root, "desc", description)
    return root


def add(parent: Element, tag: str, text: str = "", /, **attributes: str | float) -> Element:
    """A new child; `class_` is the attribute `class`, `text_anchor` is `text-anchor`, and an empty one is left out."""
    named = {name.rstrip("_").replace("_", "-"): written(value) for name, value in attributes.items() if value != ""}
    child = SubElement(parent, tag, named)
    child.text = visible(text) or None
    return child


def said(element: Element, text: str) -> Element:
    """The element, with a text that a pointer brings up."""
    add(element, "title", text)
    return element


def markup(root: Element) -> Markup:
    """The picture as part of a page, an element a line."""
    indent(root, space="")
    return Markup(tostring(root, encoding="unicode"))  # noqa: S704 - ElementTree has escaped every text and attribute


def written(value: str | float) -> str:
    """A number with one decimal at most: a tenth of a pixel is not seen."""
    if isinstance(value, str):
        return visible(value)
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def text_width(text: str) -> float:
    """An upper estimate, in the picture's units: no font is known here."""
    return FONT * sum(1.0 if unicodedata.east_asian_width(each) in "WF" else _EM for each in text)


def name_column(names: Sequence[str], width: float) -> float:
    """How wide a column for these names is: as wide as they are, but no more than three tenths of the picture."""
    return min(max(text_width(name) for name in names), 0.3 * width)


def shortened(text: str, width: float) -> str:
    """The text, cut so that it fits, with an ellipsis where it was."""
    if text_width(text) <= width:
        return text
    while text and text_width(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


def marker(kind: int, x: float, y: float, radius: float) -> str:
    """The path of a mark whose form tells one series from another where colours do not; 64 pairs with those."""
    form = _FORMS[(kind + kind // _PALETTE) % len(_FORMS)]
    return outline([(x + radius * right, y + radius * down) for right, down in form]) + "z"


def colour(number: int) -> str:
    """The class of a series: eight colours, then the first again, which its mark tells from the first one's."""
    return f"c{number % _PALETTE}"


def outline(points: Sequence[tuple[float, float]]) -> str:
    """A path through the points."""
    return "M" + "L".join(f"{written(x)} {written(y)}" for x, y in points)


_Form = Sequence[tuple[float, float]]
_CIRCLE: Final[_Form] = [(math.cos(turn * math.tau / 20), math.sin(turn * math.tau / 20)) for turn in range(20)]
_SQUARE: Final[_Form] = [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)]
_UP: Final[_Form] = [(0, -1.1), (1.1, 0.9), (-1.1, 0.9)]
_PLUS: Final[_Form] = [
    *((-0.35, -1.1), (0.35, -1.1), (0.35, -0.35), (1.1, -0.35), (1.1, 0.35), (0.35, 0.35)),
    *((0.35, 1.1), (-0.35, 1.1), (-0.35, 0.35), (-1.1, 0.35), (-1.1, -0.35), (-0.35, -0.35)),
]
_FORMS: Final[Sequence[_Form]] = [
    _CIRCLE,
    _SQUARE,
    [(x * 0.8 - y * 0.8, x * 0.8 + y * 0.8) for x, y in _SQUARE],
    _UP,
    [(x, -y) for x, y in _UP],
    _PLUS,
    [(x * 0.8 - y * 0.8, x * 0.8 + y * 0.8) for x, y in _PLUS],
    [(x * 1.3, y * 0.55) for x, y in _SQUARE],
]
