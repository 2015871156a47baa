"""What a row of a cloud's table says: which call makes a resource, and what its provider names differently."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class To:
    """Where an input goes.

    `path`: fields from the object that holds it, or from the top of the call where it starts with "/"; lists on the
    way get one item. `call`: another call of the same service, whose top the path starts from. `by`: how the provider
    changes the value.
    """

    path: str
    call: str = ""
    by: Callable[[object], object] | None = None


@dataclass(frozen=True)
class Own:
    """An input that reaches no field of the API, and why; it is listed in the golden file."""

    why: str


@dataclass(frozen=True)
class Row:
    """One resource type.

    `inputs`: by path without list indices, only what is not named as in the API; a plain text is a path as in `To`.
    `root`: the field of the call that holds all inputs. `filled`: fields the provider knows by itself. `unlisted`:
    inputs whose value the API takes although its model does not list it, and where that is written; listed too.
    """

    call: str
    inputs: Mapping[str, "Target"] = field(default_factory=dict)
    root: str = ""
    filled: tuple[str, ...] = ()
    unlisted: Mapping[str, str] = field(default_factory=dict)


Target: TypeAlias = str | To | Own
Table: TypeAlias = Mapping[str, Row | Own]
