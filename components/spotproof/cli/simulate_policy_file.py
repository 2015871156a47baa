"""A FallbackPolicy object in a YAML file: one alone, or one of a render of several documents."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from spotproof.fallback.policy import Policy, policy_of
from spotproof.manifests.fallback_policy import KIND, read_policy
from spotproof.settings.errors import SettingsError, shown
from spotproof.settings.near import one_of
from spotproof.settings.stack_file import parse_yaml


class PolicyFileError(ValueError):
    """The file holds no policy that can be carried out; its text is for a person."""


def load_policy(path: Path, name: str | None = None) -> Policy:
    """The policy of a file; where it has several, the one of this name.

    Raises:
        PolicyFileError: the file cannot be read, or does not hold one such policy.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise PolicyFileError(f"{path}: cannot be read ({reason}); name a file with a {KIND} object") from None
    try:
        found = {str(_name(each)): each for each in _objects(text, str(path)) if each.get("kind") == KIND}
    except SettingsError as error:
        raise PolicyFileError(str(error)) from None
    chosen = found.get(name) if name is not None else next(iter(found.values())) if len(found) == 1 else None
    if chosen is not None:
        return _policy(path, chosen)
    if not found:
        raise PolicyFileError(f"{path}: holds no object of kind {KIND}; name the file of one, or a policy by its name")
    names = one_of(f"{path}:{each}" for each in found)
    asked = f"none is called {shown(name)}" if name else "which is not said"
    raise PolicyFileError(f"{path}: holds {len(found)} policies, and {asked}; write {names}")


def _objects(text: str, source: str) -> Iterator[Mapping[str, object]]:
    """Every object of every document; those of a List one by one."""
    for document in re.split(r"(?m)^---(?=\s|$)", text):
        found = parse_yaml(document, source)
        items = found.get("items")
        if found.get("kind") == "List" and isinstance(items, list):
            yield from (cast("Mapping[str, object]", each) for each in items if isinstance(each, Mapping))
        else:
            yield found


def _name(manifest: Mapping[str, object]) -> object:
    metadata = manifest.get("metadata")
    return cast("Mapping[str, object]", metadata).get("name") if isinstance(metadata, Mapping) else None


def _policy(path: Path, manifest: Mapping[str, object]) -> Policy:
    try:
        return policy_of(read_policy(manifest))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "spec"
        what = f"{key}: {first['msg']}"
        raise PolicyFileError(
            f"{path}: {KIND} {shown(_name(manifest))} cannot be carried out ({what}); write one as `pulumi up` does"
        ) from None
