"""Paths into what the user wrote, and the model field each belongs to."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from spotproof.settings.stack_file import join

Path: TypeAlias = tuple[str | int, ...]


def written(path: Sequence[str | int]) -> str:
    """`pools[1].maxNodes`, as the user would point at it."""
    text = ""
    for part in path:
        text = f"{text}[{part}]" if isinstance(part, int) else join(text, part)
    return text


def pattern(path: Path) -> str:
    """The list or setting that a path leads to or into, with `[]` for every item above it: `pools[].zones`."""
    own = path[: max((at + 1 for at, part in enumerate(path) if isinstance(part, str)), default=0)]
    return "".join("[]" if isinstance(part, int) else f".{part}" for part in own).removeprefix(".")


def parts(key: str) -> Path:
    """The path of a key as `written` gives it."""
    found = re.findall(r'\[(\d+)\]|("(?:[^"\\]|\\.)*")|([^.\[\]]+)', key)
    return tuple(int(index) if index else json.loads(quoted) if quoted else name for index, quoted, name in found)


def cleaned(loc: Sequence[str | int], values: object, *, keep_last: bool) -> Path:
    """A pydantic location without the names of union branches, which the user never wrote.

    `keep_last` keeps the last part although it is not in the values: the name of what is missing.
    """
    path: list[str | int] = []
    here = values
    for position, part in enumerate(loc):
        below, there = _below(here, part)
        if not there and not (keep_last and position == len(loc) - 1):
            continue
        here = below
        path.append(part)
    return tuple(path)


def value_at(values: object, path: Path) -> object:
    """What stands at a path, or None."""
    for part in path:
        values, there = _below(values, part)
        if not there:
            return None
    return values


def _below(values: object, part: str | int) -> tuple[object, bool]:
    """What a mapping or a list holds under one part of a path, and whether it holds anything there."""
    if isinstance(values, Mapping) and part in values:
        return values[part], True
    if isinstance(values, list) and isinstance(part, int) and part < len(values):
        return values[part], True
    return None, False


def position(values: object, path: Path) -> tuple[int, ...]:
    """Where a path stands in the file, to be sorted by; what is not there comes last in its mapping."""
    places: list[int] = []
    for part in path:
        names = list(values) if isinstance(values, Mapping) else []
        missing = part if isinstance(part, int) else len(names)
        places.append(names.index(part) if part in names else missing)
        values, _ = _below(values, part)
    return tuple(places)


def field_at(model: type[BaseModel], path: Path) -> FieldInfo | None:
    """The field a path leads to; for an item of a list, or of a mapping with the user's own keys, that one's field."""
    field: FieldInfo | None = None
    holders, own_keys = [model], False
    for part in path:
        if isinstance(part, int) or own_keys:
            own_keys = False
            continue
        fields = {name: found for holder in holders for name, found in by_alias(holder).items()}
        field = fields.get(part)
        if field is None:
            return None
        holders = list(models_in(field.annotation))
        own_keys = get_origin(field.annotation) is dict
    return field


def by_alias(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the name a user writes."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def siblings(model: type[BaseModel], path: Path) -> tuple[str, ...]:
    """Names a user may write in the mapping that holds the last part of a path."""
    if len(path) == 1:
        return tuple(by_alias(model))
    holder = field_at(model, path[:-1])
    return tuple(name for found in models_in(holder.annotation if holder else None) for name in by_alias(found))


def touches(key: str, others: Iterable[Path]) -> bool:
    """Whether what a key names lies in, or above, one of the other paths."""
    path = parts(key)
    return any(path[: len(other)] == other or other[: len(path)] == path for other in others)


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Every model an annotation mentions, through unions, tuples and Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)
