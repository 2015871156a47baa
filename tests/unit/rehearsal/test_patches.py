from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spotproof.rehearsal.patches import difference, patched, without_nulls

SCALARS = st.one_of(st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False), st.text(max_size=3))
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_the_patch_between_two_objects_makes_the_second_of_the_first(before: Any, after: Any) -> None:
    found = patched(before, difference(before, after))

    assert found == after
    assert repr(found) == repr({key: found[key] for key in found})


@given(OBJECTS)
def test_nothing_has_changed_where_there_is_no_patch(thing: Any) -> None:
    assert difference(thing, thing) == {}


def test_a_key_that_is_gone_is_null_in_the_patch_and_the_rest_stays() -> None:
    assert difference({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}) == {"a": {"c": None}}


def test_one_and_true_are_two_values() -> None:
    assert difference({"a": [1]}, {"a": [True]}) == {"a": [True]}


def test_the_objects_given_stay_as_they_are() -> None:
    before = {"a": {"b": 1}}

    patched(before, {"a": {"b": 2, "c": 3}})

    assert before == {"a": {"b": 1}}


def test_nulls_are_left_out_of_objects_at_any_depth_and_kept_in_lists() -> None:
    assert without_nulls({"a": None, "b": {"c": None, "d": [None, {"e": None}]}}) == {"b": {"d": [None, {}]}}
