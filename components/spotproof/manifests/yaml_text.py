"""Kubernetes objects as YAML that every parser reads the same way.

kubectl reads YAML 1.1, where `off`, `y` and `1:30` are no text; whoever else reads the file may read 1.2.
"""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

PLAIN: Final = re.compile(r"[A-Za-z/][A-Za-z0-9 _./@-]*(:[A-Za-z0-9_./@-]+)*")
WORDS_OF_1_1: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def documents(objects: Sequence[Mapping[str, object]]) -> str:
    """One document an object, keys in the order given; text is quoted where a parser could read something else."""
    yaml = YAML()
    yaml.width = 10_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.ignore_aliases = _never  # two equal lists are written twice: nobody edits an alias safely
    text = StringIO()
    yaml.dump_all([_quoted(each) for each in objects], text)
    return text.getvalue()


def _never(_value: object) -> bool:
    return True


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): _quoted(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_quoted(each) for each in value]
    return value


def _text(value: str) -> str:
    lines = value.split("\n")
    if len(lines) > 1 and all(line == line.rstrip() and line.isprintable() for line in lines) and value[0] not in " \n":
        return LiteralScalarString(value)
    if PLAIN.fullmatch(value) and value == value.strip() and value.lower() not in WORDS_OF_1_1:
        return value
    return DoubleQuotedScalarString(value)
