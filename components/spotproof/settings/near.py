"""Near spellings."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word this one was probably meant to be, or None."""
    by_fold = {name.lower().replace("_", "").replace("-", ""): name for name in known}
    found = get_close_matches(word.lower().replace("_", "").replace("-", ""), by_fold, n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def one_of(known: Iterable[str]) -> str:
    """`a, b or c`."""
    words = list(known)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else "nothing"
