"""Near spellings."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word this one was probably meant to be, or None."""
    by_fold = {_fold(name): name for name in known}
    longer = [name for fold, name in by_fold.items() if len(word) > 1 and fold.startswith(_fold(word))]
    found = [by_fold[fold] for fold in get_close_matches(_fold(word), by_fold, n=1, cutoff=0.6)]
    return next(iter(longer + found), None)


def _fold(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def one_of(known: Iterable[str]) -> str:
    """`a, b or c`."""
    words = list(known)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else "nothing"
