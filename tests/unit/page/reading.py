"""Reads pages and pictures back as a browser does, but forgives nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import combinations
from xml.etree.ElementTree import Element, fromstring

from spotproof.page.charts.svg import Box

_VOID = {"meta", "link", "br", "hr", "img", "input"}
_FONT = 13.0


@dataclass
class Node:
    """One element of a page."""

    tag: str
    attributes: dict[str, str]
    children: "list[Node | str]" = field(default_factory=list["Node | str"])

    @property
    def text(self) -> str:
        """All text within it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, *tags: str) -> Iterator["Node"]:
        """Every element below it with one of these names; every one at all without."""
        for child in self.children:
            if isinstance(child, Node):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def one(self, tag: str) -> "Node":
        """The only one of this name."""
        (found,) = self.all(tag)
        return found


class _Strict(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("#page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Node:
    """The page as a tree; fails where an element is not closed, or closed by another's tag."""
    parser = _Strict()
    parser.feed(page)
    parser.close()
    assert [node.tag for node in parser.open] == ["#page"], "something is left open"
    return parser.open[0]


def svg(picture: str) -> Element:
    """A picture by a parser of XML."""
    return fromstring(picture)  # noqa: S314 - our own


def view(picture: str) -> Box:
    """What is seen of a picture."""
    left, top, width, height = map(float, svg(picture).attrib["viewBox"].split())
    return Box(left, top, left + width, top + height)


def words(picture: str) -> list[tuple[str, Box]]:
    """Every text that is drawn, and what it covers at 0.55 em a character, more than most fonts take."""
    found: list[tuple[str, Box]] = []
    for element in svg(picture).iter("text"):
        text = element.text or ""
        width = _FONT * sum(1 if ord(each) > 0x2E80 else 0.55 for each in text)
        anchor = {"middle": width / 2, "end": width}.get(element.attrib.get("text-anchor", ""), 0.0)
        x, y = float(element.attrib["x"]) - anchor, float(element.attrib["y"])
        found.append((text, Box(x, y - _FONT * 0.75, x + width, y + _FONT * 0.2)))
    return found


def faults(picture: str) -> list[str]:
    """Texts that meet another one or stick out of the picture."""
    seen, frame = words(picture), view(picture)
    outside = [f"{text!r} sticks out" for text, box in seen if not frame.holds(box)]
    return outside + [f"{a!r} meets {b!r}" for (a, one), (b, two) in combinations(seen, 2) if one.meets(two)]


def drawn(picture: str, class_: str) -> list[str]:
    """The paths of a class, each as what is drawn."""
    named = [path for path in svg(picture).iter("path") if class_ in path.attrib.get("class", "").split()]
    return [path.attrib["d"] for path in named]


def coordinates(path: str) -> list[tuple[float, float]]:
    """Points of a path that is drawn by M and L alone."""
    pairs = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)
    return [(float(x), float(y)) for x, y in pairs]
