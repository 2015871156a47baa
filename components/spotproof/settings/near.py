"""Near spellings."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

SAME_CLOUD: Final = 0.8
"""Likeness of a misspelt machine or region to the one that was meant; names of other clouds have less."""


def near(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known word this one was probably meant to be, or None.

    `likeness` of the two, up to 1, is the least that counts: more where names of other clouds are taken for misspelt.
    """
    by_fold = {_fold(name): name for name in known}
    longer = [name for fold, name in by_fold.items() if len(word) > 1 and fold.startswith(_fold(word))]
    found = [by_fold[fold] for fold in get_close_matches(_fold(word), by_fold, n=1, cutoff=likeness)]
    return next(iter(longer + found), None)


def _fold(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def one_of(known: Iterable[str]) -> str:
    """`a, b or c`."""
    words = list(known)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else "nothing"
