"""What a report is made of: sections, and nine kinds of block in them.

All text is plain and is escaped where it is written; in sentences, what stands between backticks is set as code. Only
pictures are markup, and only `charts/` makes those.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, TypeAlias

from markupsafe import Markup

from spotproof.page.charts.svg import NARROW, WIDE


class Chart(Protocol):
    """What can be drawn in any width."""

    @property
    def title(self) -> str:
        """What it shows."""
        ...

    def draw(self, width: int) -> Markup:
        """The picture, so many units wide."""
        ...


@dataclass(frozen=True)
class Prose:
    """Paragraphs; `lead` is one before them that is read first."""

    kind: ClassVar[str] = "prose"
    paragraphs: Sequence[str]
    lead: str = ""


@dataclass(frozen=True)
class Points:
    """Sentences that can be read one by one, in two columns on a desk."""

    kind: ClassVar[str] = "points"
    sentences: Sequence[str]


@dataclass(frozen=True)
class Warnings:
    """What a reader must not miss, a sentence each."""

    kind: ClassVar[str] = "warnings"
    sentences: Sequence[str]


@dataclass(frozen=True)
class Card:
    """One figure that counts, under its name."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Cards:
    """A few figures side by side."""

    kind: ClassVar[str] = "cards"
    cards: Sequence[Card]


@dataclass(frozen=True)
class Column:
    """A column; numbers are set to the right, and what is long gets a line of its own on a phone."""

    name: str
    numeric: bool = False
    long: bool = False


@dataclass(frozen=True)
class Row:
    """A line of a table; its first cell is its heading, badges stand beside that."""

    cells: Sequence[str]
    badges: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """Rows under columns; on a phone every row is a block of its own, with the columns' names in it."""

    kind: ClassVar[str] = "table"
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]

    def __post_init__(self) -> None:
        """Refuse a row that would shift the values under the wrong heading."""
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"{self.title}: {len(row.cells)} cells under {len(self.columns)} columns")


@dataclass(frozen=True)
class Facts:
    """Names and what they are, in pairs."""

    kind: ClassVar[str] = "facts"
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text to be copied; one click marks all of it."""

    kind: ClassVar[str] = "code"
    label: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A picture and how to read it."""

    kind: ClassVar[str] = "figure"
    chart: Chart
    caption: str

    @property
    def title(self) -> str:
        """What the picture shows."""
        return self.chart.title

    @property
    def wide(self) -> Markup:
        """The picture for a desk and for paper."""
        return self.chart.draw(WIDE)

    @property
    def narrow(self) -> Markup:
        """The picture for a phone."""
        return self.chart.draw(NARROW)


@dataclass(frozen=True)
class Halves:
    """Blocks side by side on a desk, under each other on a phone."""

    kind: ClassVar[str] = "halves"
    left: Sequence["Block"]
    right: Sequence["Block"]


Block: TypeAlias = Prose | Points | Warnings | Cards | Table | Facts | Code | Figure | Halves
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """What a link to it ends in."""
        return _NOT_A_WORD.sub("-", self.title.lower()).strip("-")
