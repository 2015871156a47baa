from itertools import combinations
from xml.etree.ElementTree import Element

from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.page.charts.labels import Labels
from spotproof.page.charts.svg import NARROW, Box, picture, shortened, text_width

FRAME = Box(40, 30, 900, 400)
points = st.tuples(st.floats(min_value=40, max_value=900), st.floats(min_value=30, max_value=400))


@settings(max_examples=60)
@given(st.lists(points, min_size=1, max_size=12))
def test_labels_stay_in_the_frame_and_off_each_other_and_off_the_marks(at: list[tuple[float, float]]) -> None:
    labels = Labels(FRAME)
    for x, y in at:
        labels.cover(x, y, 8)
    marks = len(labels.taken)
    for number, point in enumerate(at):
        labels.beside(Element("g"), f"a policy {number}", point, clear=6)
    placed = labels.taken[marks:]

    assert all(FRAME.holds(box) for box in placed)
    assert not any(one.meets(other) for one, other in combinations(placed, 2))
    assert not any(box.meets(mark) for box in placed for mark in labels.taken[:marks])


def test_a_label_that_finds_no_place_is_not_drawn_and_says_so() -> None:
    group = Element("g")

    assert not Labels(Box(0, 0, 50, 10)).beside(group, "too long for this", (10, 5), clear=6)
    assert len(group) == 0


def test_a_label_far_from_its_mark_is_tied_to_it() -> None:
    labels, group = Labels(FRAME), Element("g")
    labels.taken.append(Box(40, 160, 900, 240))

    assert labels.beside(group, "a policy", (400, 200), clear=6)
    assert [each.tag for each in group] == ["path", "text"]
    assert group[0].attrib["class"] == "tie"


def test_a_text_is_shortened_to_its_room_and_no_further() -> None:
    assert shortened("a100-spot", text_width("a100-spot")) == "a100-spot"
    cut = shortened("a100-spot-in-a-zone-far-away", 100)
    assert cut.endswith("…")
    assert text_width(cut) <= 100
    assert text_width("漢字") > text_width("ab")


def test_a_picture_writes_what_cannot_be_seen_as_a_mark() -> None:
    root = picture(NARROW, 100, "a\x00b", "c\u202ed")

    assert [each.text for each in root] == ["a\ufffdb", "c\ufffdd"]
