"""As much of JSON patches (RFC 6902) as the controller writes: test, add, replace and remove."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any


class Conflict(Exception):  # noqa: N818  # the name is the sentence
    """A test failed, or there is nothing where something was to be replaced."""


def apply(thing: Mapping[str, Any], operations: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The object that the operations make of one, which stays as it is.

    Raises:
        Conflict: one of them cannot be carried out.
    """
    after: dict[str, Any] = copy.deepcopy(dict(thing))
    for each in operations:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in each["path"].split("/")[1:]]
        at: Any = after
        try:
            for part in path:
                at = at[int(part)] if isinstance(at, list) else at[part]
            _one(at, int(last) if isinstance(at, list) else last, each)
        except (KeyError, IndexError) as error:
            raise Conflict(f"there is no {each['path']}") from error
    return after


def _one(at: Any, last: Any, operation: Mapping[str, Any]) -> None:
    match operation["op"]:
        case "test":
            if at[last] != operation["value"]:
                raise Conflict(f"{operation['path']} is {at[last]}")
        case "add":
            at[last] = operation["value"]
        case "replace":
            at[last] = (at[last], operation["value"])[1]  # it must be there
        case _:
            del at[last]
