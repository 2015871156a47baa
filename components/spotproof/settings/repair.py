"""A copy of broken settings that can still be cross-checked, so that all errors of a file come at once."""

import copy

from pydantic import BaseModel, ValidationError

from spotproof.settings.near import near
from spotproof.settings.walk import Path, cleaned, field_at, siblings, value_at


def repaired(
    values: dict[str, object], error: ValidationError, model: type[BaseModel]
) -> tuple[dict[str, object], set[Path]]:
    """The values with every broken part replaced by its example, and the paths that were replaced.

    A misspelt key is read as the one it was meant to be, where that one is not there.
    """
    fixed, broken = copy.deepcopy(values), set[Path]()
    details = error.errors(include_url=False, include_context=False, include_input=False)
    inner = {detail["loc"][: len(detail["loc"]) - 1 - n] for detail in details for n in range(len(detail["loc"]))}
    for detail in details:
        kind = detail["type"]
        if detail["loc"] in inner:  # a list seems too short where its items are broken
            continue
        path = cleaned(detail["loc"], fixed, keep_last=kind == "missing")
        if not path:
            continue
        broken.add(path)
        holder = value_at(fixed, path[:-1])
        if kind == "extra_forbidden":
            broken.add(_rename(holder, path, model))
        else:
            _replace(holder, path, model)
    return fixed, broken


def _rename(holder: object, path: Path, model: type[BaseModel]) -> Path:
    name = str(path[-1])
    if not isinstance(holder, dict) or name not in holder:
        return path
    value = holder.pop(name)
    meant = near(name, siblings(model, path))
    if meant is None or meant in holder:
        return path
    holder[meant] = value
    return (*path[:-1], meant)


def _replace(holder: object, path: Path, model: type[BaseModel]) -> None:
    field, last = field_at(model, path), path[-1]
    example = field.examples[0] if field is not None and field.examples else None
    if isinstance(holder, list) and isinstance(last, int) and last < len(holder):
        holder[last] = copy.deepcopy(example[0]) if isinstance(example, list) and example else None
    elif isinstance(holder, dict) and isinstance(last, str):
        if field is None or not field.is_required():
            holder.pop(last, None)
        else:
            holder[last] = copy.deepcopy(example)
