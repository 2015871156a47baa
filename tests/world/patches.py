"""Merge patches (RFC 7386) and JSON patches (RFC 6902) as an API server applies them; nothing is changed in place."""

from collections.abc import Iterable, Mapping
from typing import Any


class PatchError(ValueError):
    """An operation that does not fit the object, or a `test` that does not hold."""


def merged(before: Any, change: Any) -> Any:
    """What a merge patch makes of a value."""
    if not isinstance(change, Mapping):
        return change
    after = dict(before) if isinstance(before, Mapping) else {}
    for key, value in change.items():
        if value is None:
            after.pop(key, None)
        else:
            after[key] = merged(after.get(key), value)
    return after


def patched(before: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """What a JSON patch makes of an object.

    Raises:
        PatchError: an operation does not fit, or a `test` does not hold; the patch is refused whole.
    """
    after = before
    for each in operations:
        parts = _parts(each["path"])
        match each["op"]:
            case "test":
                if _read(after, parts) != each["value"]:
                    raise PatchError(each["path"])
            case "add" | "replace" | "remove" as op:
                after = _changed(after, parts, op, each.get("value"))
            case other:
                raise PatchError(f"operation {other}")
    return after


def _parts(pointer: str) -> list[str]:
    if not pointer.startswith("/"):
        raise PatchError(pointer)
    return [each.replace("~1", "/").replace("~0", "~") for each in pointer[1:].split("/")]


def _read(value: Any, parts: list[str]) -> Any:
    for part in parts:
        value = value[_index(value, part)] if isinstance(value, list) else _at(value, part)
    return value


def _at(value: Any, part: str) -> Any:
    if not isinstance(value, Mapping) or part not in value:
        raise PatchError(part)
    return value[part]


def _index(value: list[Any], part: str) -> int:
    if not part.isdigit() or int(part) >= len(value):
        raise PatchError(part)
    return int(part)


def _changed(value: Any, parts: list[str], op: str, new: Any) -> Any:
    part, rest = parts[0], parts[1:]
    if isinstance(value, list):
        return _changed_list(value, part, rest, op, new)
    if not isinstance(value, Mapping):
        raise PatchError(part)
    if rest:
        return {**value, part: _changed(_at(value, part), rest, op, new)}
    if op == "add":
        return {**value, part: new}
    _at(value, part)
    if op == "replace":
        return {**value, part: new}
    return {key: each for key, each in value.items() if key != part}


def _changed_list(value: list[Any], part: str, rest: list[str], op: str, new: Any) -> list[Any]:
    if not rest and op == "add" and part == "-":
        return [*value, new]
    if not rest and op == "add" and part.isdigit() and int(part) <= len(value):
        return [*value[: int(part)], new, *value[int(part) :]]
    index = _index(value, part)
    if rest:
        return [*value[:index], _changed(value[index], rest, op, new), *value[index + 1 :]]
    if op == "replace":
        return [*value[:index], new, *value[index + 1 :]]
    if op == "remove":
        return [*value[:index], *value[index + 1 :]]
    raise PatchError(part)
