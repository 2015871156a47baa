"""Reads properties whatever their shape: a foreign program may write anything, and a policy never crashes.

Works on plain dictionaries and lists, and on the guarded views of `pulumi_policy`, which are mappings
and sequences but neither `dict` nor `list`, and whose numbers are all floats.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def at(value: Any, *path: str) -> Any:
    """The value at a path, or None when some part of the path is absent or is no mapping."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def table(value: Any) -> Mapping[str, Any]:
    """The value as a mapping; anything else is an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> tuple[Any, ...]:
    """The elements of a list; anything else, a string too, has none."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def one_or_more(value: Any) -> tuple[Any, ...]:
    """IAM's habit: a list may be written as its single element."""
    return (value,) if isinstance(value, str | Mapping) else rows(value)


def words(value: Any) -> tuple[str, ...]:
    """The strings among one or more values."""
    return tuple(word for word in one_or_more(value) if isinstance(word, str))


def text(value: Any) -> str:
    """The value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """A number written as such or as a plain decimal string; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return float(value) if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value) else None


def gibibytes(value: Any) -> float | None:
    """A Kubernetes quantity of storage in GiB, for the suffixes people use on disks."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(Gi|Ti|G|T)", text(value))
    if not match:
        return None
    factor = {"Gi": 1.0, "Ti": 1024.0, "G": 1e9 / 2**30, "T": 1e12 / 2**30}
    return float(match[1]) * factor[match[2]]


def minutes(value: Any) -> float | None:
    """A duration such as `90s`, `30m`, `2h` or `1h30m` in minutes; None for anything else."""
    match = _DURATION.fullmatch(text(value))
    if not match or not match[0]:
        return None
    hours, whole_minutes, seconds = (int(part or 0) for part in match.groups())
    return hours * 60 + whole_minutes + seconds / 60


def json_document(value: Any) -> Mapping[str, Any]:
    """A document that a program may hand over as JSON text or as a map; unreadable text is an empty one."""
    if not isinstance(value, str):
        return table(value)
    try:
        return table(json.loads(value))
    except ValueError:
        return {}
