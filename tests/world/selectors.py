"""Label and field selectors, as a LIST or a watch names them."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from spotproof.controller.kinds import Object
from tests.world.things import labels

Fits = Callable[[Object], bool]

_SET: Final = re.compile(r"^(\S+) (in|notin) \(([^)]*)\)$")
_TERM: Final = re.compile(r",(?![^(]*\))")


@cache
def by_labels(selector: str) -> Fits:
    """Whether an object's labels fit: `key`, `!key`, `key=value`, `key!=value`, `key in (a,b)`, by commas."""
    terms = [_of_labels(each.strip()) for each in _TERM.split(selector) if each.strip()]
    return lambda thing: all(term(labels(thing)) for term in terms)


def _of_labels(term: str) -> Callable[[Mapping[str, str]], bool]:
    if found := _SET.match(term):
        key, op, values = found[1], found[2], {each.strip() for each in found[3].split(",")}
        return (lambda at: at.get(key) in values) if op == "in" else (lambda at: at.get(key) not in values)
    if "!=" in term:
        key, _, value = term.partition("!=")
        return lambda at: at.get(key) != value
    if "=" in term:
        key, _, value = term.replace("==", "=").partition("=")
        return lambda at: at.get(key) == value
    if term.startswith("!"):
        return lambda at: term[1:] not in at
    return lambda at: term in at


@cache
def by_fields(selector: str) -> Fits:
    """Whether an object's fields fit: `spec.nodeName=a,status.phase!=Failed`."""
    terms = [each for each in selector.split(",") if each]
    return lambda thing: all(_of_fields(thing, each) for each in terms)


def _of_fields(thing: Object, term: str) -> bool:
    path, _, value = term.replace("==", "=").partition("=")
    wanted = not path.endswith("!")
    found: Any = thing
    for part in path.rstrip("!").split("."):
        found = found.get(part, "") if isinstance(found, Mapping) else ""
    return (str(found) == value) is wanted
