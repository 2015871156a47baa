"""Equal parts of what the cache keeps, kept once: pods of a gang say nearly the same, and so do jobs of a team.

Of 10,000 JobSets with 8 pods each this leaves a fifth of the memory (docs/performance.md). Nothing that the cache hands
out is changed in place, so that it does not matter who else has a part.
"""

from collections.abc import Iterable
from typing import Any, Final

MOST: Final = 8_192
"""Parts that are remembered for comparison, some 2 MB a watch; then it begins afresh, and what is shared stays shared.
What is alike comes together: the pods of a gang, the jobs of a namespace."""


class Shared:
    """The parts seen so far. Used by one thread."""

    def __init__(self) -> None:
        self._parts: dict[Any, Any] = {}

    def of(self, thing: dict[str, Any]) -> dict[str, Any]:
        """An equal object, whose parts are those of others wherever they are equal.

        The object itself and its metadata are nobody else's, and not compared.
        """
        if len(self._parts) > MOST:
            self._parts.clear()
        return {key: self._apart(each) if key == "metadata" else self._part(each) for key, each in thing.items()}

    def _apart(self, meta: dict[str, Any]) -> dict[str, Any]:
        return {key: self._part(each) for key, each in meta.items()}

    def _part(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._parts.setdefault(value, value)
        if isinstance(value, dict):
            made = {self._parts.setdefault(key, key): self._part(each) for key, each in value.items()}
            return self._parts.setdefault((dict, *made, *_marks(made.values())), made)
        if isinstance(value, list):
            parts = [self._part(each) for each in value]
            return self._parts.setdefault((list, *_marks(parts)), parts)
        return value


def _marks(parts: Iterable[Any]) -> Iterable[Any]:
    """What tells parts from each other: those that are shared by who they are, as long as whoever has them is kept."""
    for each in parts:
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict | list):
            yield (id(each),)
        else:
            yield (type(each), each)
