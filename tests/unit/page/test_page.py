import base64
import hashlib
import re
from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.page.charts.bars import Bar, Bars
from spotproof.page.page import page
from spotproof.page.sections import (
    Card,
    Cards,
    Code,
    Column,
    Facts,
    Figure,
    Halves,
    Points,
    Prose,
    Row,
    Section,
    Table,
    Warnings,
)
from tests.unit.page.reading import Node, read

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='x",
    "</style></svg></title></code></pre>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &amp; ]]> <!--",
    "`</code><b>`",
]


def everything(text: str) -> str:
    """A page with the same text wherever a text can stand."""
    bars = Bars(text, text, text, text, [Bar(text, 1.0, None, text)])
    table = Table(text, [Column(text), Column(text, numeric=True)], [Row([text, text], [text])])
    blocks = [
        Halves([Prose([text], lead=text)], [Code(text, text)]),
        Points([text]),
        Warnings([text]),
        Cards([Card(text, text, text)]),
        Facts([(text, text)]),
        table,
        Figure(bars, text),
    ]
    return page(text, text, [Section("One", blocks), Section("Two", [Prose([text])])])


PLAIN = everything("words")


def shape(node: Node) -> list[str]:
    """The elements of a page in order, without what sentences make of backticks."""
    return [each.tag for each in node.all() if each.tag != "code"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_makes_or_ends_an_element(text: str) -> None:
    assert shape(read(everything(text))) == shape(read(PLAIN))


@settings(max_examples=40)
@given(st.text(alphabet=st.sampled_from("<>&'\"/=`{}%!-[]\\ as\u202e\x00\ud800"), min_size=1, max_size=30))
def test_a_text_is_shown_as_it_is_or_marked_as_unseen(text: str) -> None:
    tree = read(everything(text))
    (cell,) = tree.all("td")

    assert cell.text == re.sub("[\u202e\x00\ud800]", "\ufffd", text)
    assert shape(tree) == shape(read(PLAIN))


def test_a_mark_that_turns_the_direction_of_text_is_shown_and_not_obeyed() -> None:
    assert "evil\ufffdgnp.exe" in everything("evil\u202egnp.exe")


def test_a_page_can_be_written_to_a_file_whatever_it_holds() -> None:
    assert everything("\ud800\x00").encode("utf-8")


def test_text_between_backticks_is_code_and_a_single_backtick_stays() -> None:
    tree = read(page("T", "s", [Section("One", [Prose(["take `a < b` now", "a ` b"])])]))
    one, other = [each for each in tree.all("p") if "class" not in each.attributes][:2]

    assert [code.text for code in one.all("code")] == ["a < b"]
    assert other.text == "a ` b"
    assert not list(other.all("code"))


def test_a_percentage_is_not_broken_over_two_lines() -> None:
    assert "57.5\u00a0% less" in page("T", "saves 57.5 % less", [])


def test_a_page_loads_nothing_and_runs_nothing() -> None:
    tree = read(PLAIN)
    carriers = {"src", "srcset", "action", "style", "xlink:href", "background", "data", "poster"}
    named = [name for node in tree.all() for name in node.attributes]
    links = [node.attributes["href"] for node in tree.all() if "href" in node.attributes]

    assert not carriers & set(named)
    assert not [name for name in named if name.startswith("on")]
    assert not list(tree.all("script", "link", "iframe", "object", "embed", "base", "img", "form"))
    assert links == ["#one", "#two"]
    assert not re.search(r"https?:|//|@import|url\(", PLAIN)


def test_the_security_policy_allows_the_one_style_sheet_and_nothing_else() -> None:
    tree = read(PLAIN)
    (policy,) = [each.attributes["content"] for each in tree.all("meta") if "http-equiv" in each.attributes]
    digest = base64.b64encode(hashlib.sha256(tree.one("style").text.encode()).digest()).decode()

    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_the_policy_stands_before_everything_it_governs() -> None:
    order = [each.tag for each in read(PLAIN).one("head").all()]

    assert order.index("style") > 1
    assert "Content-Security-Policy" in next(each for each in PLAIN.splitlines() if "http-equiv" in each)
    assert PLAIN.index("http-equiv") < PLAIN.index("<style")


def test_headings_go_down_one_level_at_a_time_from_the_only_first_one() -> None:
    levels = [int(each.tag[1]) for each in read(PLAIN).all("h1", "h2", "h3", "h4", "h5", "h6")]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_link_of_the_page_leads_to_the_only_element_of_that_name() -> None:
    tree = read(PLAIN)
    ids = [each.attributes["id"] for each in tree.all() if "id" in each.attributes]

    assert len(set(ids)) == len(ids)
    assert {each.attributes["href"][1:] for each in tree.all("a")} == set(ids)


def test_two_sections_of_one_title_are_refused() -> None:
    with pytest.raises(ValueError, match="more than one section is called one"):
        page("T", "s", [Section("One", []), Section("one", [])])


def test_every_header_of_a_table_says_what_it_heads() -> None:
    table = read(PLAIN).one("table")

    assert [each.attributes["scope"] for each in table.all("th")] == ["col", "col", "row"]
    assert table.one("caption").text == "words"


def test_a_row_of_another_length_than_its_table_is_refused() -> None:
    with pytest.raises(ValueError, match="Costs: 1 cells under 2 columns"):
        Table("Costs", [Column("a"), Column("b")], [Row(["1"])])


def test_every_picture_has_a_role_a_name_and_a_description_and_scales() -> None:
    pictures = list(read(PLAIN).all("svg"))

    assert len(pictures) == 2
    for picture in pictures:
        assert picture.attributes["role"] == "img"
        assert re.fullmatch(r"0 0 \d+ [\d.]+", picture.attributes["viewbox"])
        first, second = [each for each in picture.children if isinstance(each, Node)][:2]
        assert (first.tag, second.tag) == ("title", "desc")


STYLE = files("spotproof.page").joinpath("style.css").read_text(encoding="utf-8")


def themes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{(.+?)\}", STYLE, re.DOTALL)[:2]
    return {name: dict(re.findall(r"--([\w-]+): (#\w+)", text)) for name, text in (("light", light), ("dark", dark))}


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2.2, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


TEXT = [
    *((ink, paper) for ink in ("ink", "quiet") for paper in ("paper", "panel", "good-paper", "loss-paper", "faint")),
    *(("link", "paper"), ("good", "good-paper"), ("warn", "warn-paper"), ("ink", "warn-paper")),
    *(("on-spot", f"spot{number}") for number in range(4)),
]
SHAPES = [
    *((f"c{number}", "paper") for number in range(8)),
    *((f"spot{number}", "paper") for number in range(4)),
    *((name, "paper") for name in ("on-demand", "waiting", "loss", "quiet")),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_shapes_stand_out_as_wcag_asks(theme: str) -> None:
    colours = themes()[theme]
    dull = [
        (ink, paper, round(contrast(colours[ink], colours[paper]), 2))
        for least, pairs in ((4.5, TEXT), (3.0, SHAPES))
        for ink, paper in pairs
        if contrast(colours[ink], colours[paper]) < least
    ]

    assert dull == []


def test_both_themes_set_the_same_colours() -> None:
    light, dark = themes().values()

    assert light.keys() == dark.keys()


def test_dark_is_for_screens_alone_so_that_paper_stays_white() -> None:
    assert re.findall(r"@media ([^{]*)prefers-color-scheme", STYLE) == ["screen and ("]
