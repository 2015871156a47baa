"""The difference between two JSON objects as a merge patch (RFC 7386), and back.

A merge patch cannot tell a null from a key that is not there, so objects here hold no nulls (`without_nulls`): of a
Kubernetes object a null says nothing.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]


def without_nulls(value: Any) -> Any:
    """The value without keys whose value is null, at any depth; lists keep their length."""
    if isinstance(value, Mapping):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(each) for each in value]
    return value


def difference(before: Json, after: Json) -> dict[str, Any]:
    """The merge patch that makes the second object of the first one."""
    patch: dict[str, Any] = dict.fromkeys(key for key in before if key not in after)
    for key, new in after.items():
        old = before.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if inner := difference(old, new):
                patch[key] = inner
        elif key not in before or not _same(old, new):
            patch[key] = new
    return patch


def patched(before: Json, patch: Json) -> dict[str, Any]:
    """The object that a merge patch makes of one; neither is changed."""
    after = dict(before)
    for key, change in patch.items():
        if change is None:
            after.pop(key, None)
        elif isinstance(change, Mapping):
            old = after.get(key)
            after[key] = patched(old if isinstance(old, Mapping) else {}, change)
        else:
            after[key] = change
    return after


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON is: 1 and true are two things there."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other
