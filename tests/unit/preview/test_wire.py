import pytest

from spotproof.preview.model import UNKNOWN, Secret
from spotproof.preview.wire import UNKNOWN_SENTINEL, decode, encode, holds_unknown, merge, secret_texts


def test_numbers_keep_what_the_program_wrote() -> None:
    assert repr(decode(encode({"a": 1, "b": 1.5, "c": True}))) == "{'a': 1, 'b': 1.5, 'c': True}"


def test_unknowns_and_secrets_survive_the_wire_at_any_depth() -> None:
    values = {"a": [UNKNOWN, {"b": Secret({"c": UNKNOWN})}], "d": None, "e": Secret("x")}
    assert decode(encode(values)) == values


def test_an_output_value_is_its_value_or_unknown() -> None:
    mark = "4dabf18193072939515e22adb298388d"
    output = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
    wire = encode(
        {"known": {mark: output, "value": 1}, "unknown": {mark: output}, "hidden": {mark: output, "secret": True}}
    )
    assert decode(wire) == {"known": 1, "unknown": UNKNOWN, "hidden": Secret(UNKNOWN)}


def test_two_bags_become_one_below_their_objects_too() -> None:
    into = encode({"a": {"b": 1, "c": {"d": 2}}, "e": [1]})
    merge(into, encode({"a": {"c": {"f": 3}}, "e": [2], "g": 4}))

    assert decode(into) == {"a": {"b": 1, "c": {"d": 2, "f": 3}}, "e": [2], "g": 4}


def test_the_sentinel_is_only_a_whole_text() -> None:
    assert decode(encode({"a": f"x{UNKNOWN_SENTINEL}"})) == {"a": f"x{UNKNOWN_SENTINEL}"}


@pytest.mark.parametrize(("value", "expected"), [([Secret({"a": [UNKNOWN]})], True), ({"a": [1, "x"]}, False)])
def test_an_unknown_is_found_at_any_depth(value: object, expected: bool) -> None:  # noqa: FBT001
    assert holds_unknown(value) is expected


def test_short_words_of_a_secret_structure_are_not_taken_for_secrets() -> None:
    structure = Secret({"namespace": "default", "token": "a-long-secret-text"})
    assert list(secret_texts({"a": structure, "b": Secret("pin1")})) == ["a-long-secret-text", "pin1"]
