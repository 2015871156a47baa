from string import Formatter

import pytest

from spotproof.fallback import Code, Reason, sentence
from spotproof.fallback.reasons import FORMATS, SENTENCES


def fields(code: Code) -> dict[int, str]:
    """Place of a number -> what it is."""
    return {int(name): kind or "" for _, name, kind, _ in Formatter().parse(SENTENCES[code]) if name}


def sample(kind: str) -> int | str:
    return 12_345 if kind in FORMATS else "a-pool"


def test_every_code_has_a_sentence_and_no_two_have_one_word() -> None:
    assert set(SENTENCES) == set(Code)
    assert len({code.value for code in Code}) == len(Code) == len(Code.__members__)


@pytest.mark.parametrize("code", Code, ids=lambda code: code.value)
def test_a_code_is_one_word_as_a_condition_of_kubernetes_has_it(code: Code) -> None:
    """The pattern of a condition's reason, without its punctuation."""
    assert code.value.isalpha()
    assert code.value[0].isupper()


@pytest.mark.parametrize("code", Code, ids=lambda code: code.value)
def test_every_sentence_renders_with_numbers_of_its_kinds(code: Code) -> None:
    kinds = fields(code)
    text = sentence(Reason(code, tuple(sample(kinds.get(place, "")) for place in range(max(kinds, default=-1) + 1))))

    assert kinds
    assert set(kinds.values()) <= {"", *FORMATS}
    assert "{" not in text
    assert not text.endswith(".")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (119, "1m"), (3599, "59m"), (3600, "1h"), (90_061, "25h1m")],
)
def test_times_from_a_minute_up_are_in_whole_minutes(seconds: int, text: str) -> None:
    assert sentence(Reason(Code.LAST, ("a", seconds))) == f"waiting for a, the last tier, for {text}"


@pytest.mark.parametrize(("nodes", "says"), [(0, ""), (1, "; 1 node is held"), (2, "; 2 nodes are held")])
def test_nodes_that_are_held_are_named(nodes: int, says: str) -> None:
    text = sentence(Reason(Code.WAITING, ("a", 60, 120), nodes))

    assert text == "waiting for a for 1m, of 2m at most" + (f"{says} and billed meanwhile" if nodes else "")
