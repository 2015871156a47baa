"""A TrainingRun that another version, a person or an accident has written is read as far as it goes."""

from copy import deepcopy
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from spotproof.cli.status_live import json_lines, lines
from spotproof.cli.status_table import shown
from spotproof.fallback.record import KEPT_HISTORY
from spotproof.status.report import document, report
from spotproof.status.salvage import CONTROL, read_run, salvage
from tests.unit.status.worlds import MOVING, NOW, REFUSED, WAITING, Object, run, world


def test_a_whole_status_is_read_whole() -> None:
    for each in (WAITING, MOVING, REFUSED):
        found = read_run(each)
        assert found.unread == ()
        assert found.phase == each["status"]["phase"]


def test_fields_of_a_later_version_are_passed_over() -> None:
    status = WAITING["status"] | {"shards": 3, "tiers": [{"pool": "a100", "mood": "good"}]}
    found, lost = salvage(status)
    assert (found.evictions, found.tiers[0].pool, lost) == (3, "a100", [])


@pytest.mark.parametrize(
    ("field", "value", "unread"),
    [
        ("evictions", "three", "status.evictions"),
        ("evictions", -1, "status.evictions"),
        ("evictions", True, "status.evictions"),
        ("waitingSince", "yesterday", "status.waitingSince"),
        ("waitingSince", "2026-11-21T10:00:00", "status.waitingSince"),
        ("tier", "Not A Pool", "status.tier"),
        ("deadline", {"at": "2026-11-22T08:00:00Z"}, "status.deadline"),
        ("move", "from here to there", "status.move"),
        ("tiers", {"a100": {}}, "status.tiers"),
        ("conditions", None, "status.conditions"),
    ],
)
def test_what_is_wrong_is_named_and_the_rest_is_there(field: str, value: object, unread: str) -> None:
    found = read_run({**WAITING, "status": WAITING["status"] | {field: value}})
    assert found.unread == (unread,)
    assert found.status.message == WAITING["status"]["message"]
    assert found.status.errors == 1


def test_an_item_that_lacks_a_field_goes_and_its_neighbours_stay() -> None:
    past = WAITING["status"]["history"]
    found, lost = salvage({"history": [{"at": "2026-11-21T00:00:00Z"}, past[0], {}, past[1], "?"]})
    assert [each.what for each in found.history] == ["Evicted", "Moved"]
    assert lost == [("history", 0), ("history", 2), ("history", 4)]


def test_a_word_of_a_later_version_is_shown_as_it_is_written() -> None:
    found = read_run(run("x", phase="Hibernating", attempt=2))
    assert (found.phase, found.status.attempt, found.unread) == ("Hibernating", 2, ("status.phase",))


def test_of_a_history_that_is_too_long_the_newest_are_kept_and_a_text_loses_its_end() -> None:
    past = WAITING["status"]["history"][0]
    many = [past | {"reason": f"r{index}"} for index in range(KEPT_HISTORY + 6)]
    found, lost = salvage({"history": many, "message": "x" * 3000})
    assert [found.history[0].reason, found.history[-1].reason] == ["r6", f"r{KEPT_HISTORY + 5}"]
    assert (len(found.message), lost) == (1024, [])


@pytest.mark.parametrize("thing", [{}, {"metadata": None}, {"metadata": {"name": 3}, "spec": [], "status": "none"}])
def test_an_object_without_anything_is_a_run_without_anything(thing: Object) -> None:
    found = read_run(thing)
    assert (found.name, found.phase, found.status.attempt) == ("", "Pending", 0)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(
        ["2026-11-21T10:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "训练", "\x1b[31m"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["at", "pool", "type", "x"]), inner),
    max_leaves=6,
)


def printed(part: RenderableType, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    with console.capture() as found:
        console.print(part)
    return found.get()


def _places(thing: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, Any]] = (
        list(thing.items()) if isinstance(thing, dict) else list(enumerate(thing)) if isinstance(thing, list) else []
    )
    return [place for key, value in inner for place in [(*above, key), *_places(value, (*above, key))]]


@st.composite
def mutilated(draw: st.DrawFn) -> Object:
    """A TrainingRun of the examples in which anything may have been lost or become something else."""
    thing = deepcopy(draw(st.sampled_from([WAITING, MOVING, REFUSED])))
    for _ in range(draw(st.integers(1, 5))):
        places = [each for each in _places(thing) if each[0] not in {"apiVersion", "kind"}]
        if not places:
            break
        place = draw(st.sampled_from(places))
        holder: Any = thing
        for key in place[:-1]:
            holder = holder[key]
        if draw(st.booleans()):
            holder[place[-1]] = draw(JUNK)
        else:
            del holder[place[-1]]
    return thing


@settings(max_examples=300)
@given(mutilated())
def test_a_mutilated_object_is_shown_in_every_form(thing: Object) -> None:
    found = report(world(thing), NOW, "namespace research")
    whole = report(world(thing), NOW, "namespace research", read_run(thing).name)

    assert len(found.rows) == 1
    assert document(found)["jobs"]
    assert document(whole)["format"]
    assert list(lines([found]))
    assert list(json_lines([whole]))
    for width in (40, 120):
        for text in (printed(shown(found, width), width), printed(shown(whole, width, story=True), width)):
            assert text
            assert not CONTROL.search(text.replace("\n", ""))


@given(JUNK)
def test_whatever_stands_in_place_of_a_status_is_read(written: object) -> None:
    found, _ = salvage(written)
    assert found.attempt == 0
