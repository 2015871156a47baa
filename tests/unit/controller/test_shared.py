"""Sharing changes nothing that can be seen, and leaves equal parts once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spotproof.controller.shared import MOST, Shared

_scalars = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(allow_nan=False), st.sampled_from("abc"))
_keys = st.sampled_from(("x", "y", "a.b/c-d", "", "__class__", "__dict__"))
_values: st.SearchStrategy[Any] = st.recursive(
    _scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_keys, inner))
)
_things = st.lists(
    st.dictionaries(st.sampled_from(("metadata", "spec", "status")), st.dictionaries(st.text("ab"), _values))
)


def _types(value: Any) -> Any:
    """The value with its types, since 1, 1.0 and True are equal."""
    if isinstance(value, dict):
        return {key: _types(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_types(each) for each in value]
    return type(value), value


@given(_things)
def test_what_comes_out_is_what_went_in(things: list[Any]) -> None:
    shared = Shared()
    for thing in things:
        assert _types(shared.of(thing)) == _types(thing)


@given(_things)
def test_a_version_comes_out_as_it_went_in_whatever_was_before_it(things: list[Any]) -> None:
    shared, known = Shared(), None
    for thing in things:
        known = shared.of(thing, known)
        assert known == thing


def test_a_mapping_of_more_keys_than_python_keeps_once_is_whole() -> None:
    labels = {str(number): "x" for number in range(100)}
    assert Shared().of({"metadata": {"labels": labels}})["metadata"]["labels"] == labels


def _pod(name: str) -> dict[str, Any]:
    meta = {"name": name, "labels": {"a": "b"}}
    return {
        "metadata": meta,
        "spec": {"nodeName": "n"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def test_equal_parts_of_two_objects_are_one_and_the_same() -> None:
    shared = Shared()
    one, other = shared.of(_pod("p")), shared.of(_pod("q"))
    assert one["spec"] is other["spec"]
    assert one["status"] is other["status"]
    assert one["metadata"]["labels"] is other["metadata"]["labels"]
    assert one["metadata"] != other["metadata"]


def test_what_a_version_leaves_as_it_was_is_the_part_of_the_version_before() -> None:
    shared = Shared()
    known = shared.of(_pod("p"))
    news = _pod("p")
    news["status"]["conditions"].append({"type": "DisruptionTarget", "status": "True"})
    for number in range(2 * MOST):  # nothing of it is remembered for comparison any more
        shared.of({"spec": {"number": number}})

    after = shared.of(news, known)

    assert after == news
    assert after["spec"] is known["spec"]
    assert after["status"]["conditions"][0] is known["status"]["conditions"][0]


def test_what_is_remembered_for_comparison_has_an_end() -> None:
    shared = Shared()
    for number in range(3 * MOST):
        shared.of({"spec": {"number": number}})
    assert len(shared._parts) <= MOST + 10  # pyright: ignore[reportPrivateUsage]
