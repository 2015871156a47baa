"""Looks into objects that somebody else wrote: what is not there, or is something else, is nothing."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from spotproof.fallback.record import parse_instant
from spotproof.fallback.run import Instant

Object = dict[str, Any]

NONE: Final[Mapping[str, Any]] = {}


def at(thing: object, *path: str) -> object:
    """What stands at the end of a path through mappings, or None."""
    for key in path:
        if not isinstance(thing, Mapping):
            return None
        thing = thing.get(key)
    return thing


def text(thing: object, *path: str) -> str:
    """A text; empty where there is none."""
    found = at(thing, *path)
    return found if isinstance(found, str) else ""


def number(thing: object, *path: str) -> int:
    """A count; 0 where there is none."""
    found = at(thing, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def mapping(thing: object, *path: str) -> Mapping[str, Any]:
    """A mapping; empty where there is none."""
    found = at(thing, *path)
    return found if isinstance(found, Mapping) else NONE


def mappings(thing: object, *path: str) -> Iterator[Mapping[str, Any]]:
    """The mappings of a list."""
    found = at(thing, *path)
    yield from (each for each in found if isinstance(each, Mapping)) if isinstance(found, list) else ()


def instant(thing: object, *path: str) -> Instant | None:
    """A moment, of RFC 3339 text."""
    with suppress(ValueError, OverflowError):
        return parse_instant(text(thing, *path))
    return None


def condition(thing: object, kind: str) -> Mapping[str, Any]:
    """A condition of an object's status; empty where it has none."""
    return next((each for each in mappings(thing, "status", "conditions") if text(each, "type") == kind), NONE)


def name_of(thing: object) -> tuple[str, str]:
    """Namespace and name."""
    return text(thing, "metadata", "namespace"), text(thing, "metadata", "name")
