import pytest

from spotproof.cli.words import spread

SEVERAL = {"--traces", "--spot-price"}


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--traces a b --policy x", "--traces a --traces b --policy x"),
        ("--traces a --traces b", "--traces a --traces b"),
        ("--traces a --traces b c", "--traces a --traces b --traces c"),
        ("--policy x --traces a b c", "--policy x --traces a --traces b --traces c"),
        ("--traces=a b --as-tiers", "--traces=a --traces b --as-tiers"),
        ("--spot-price 1 2 --traces a", "--spot-price 1 --spot-price 2 --traces a"),
        ("--policy x y", "--policy x y"),
        ("--traces a -- b c", "--traces a -- b c"),
        ("--traces --policy x", "--traces --policy x"),
        ("--traces - b", "--traces - --traces b"),
        ("", ""),
    ],
)
def test_an_option_that_may_be_repeated_takes_every_word_up_to_the_next(words: str, wanted: str) -> None:
    assert list(spread(words.split(), SEVERAL)) == wanted.split()
