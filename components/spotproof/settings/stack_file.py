"""Stack files as the Pulumi CLI reads them: YAML 1.2, with duplicates and broken values named, not guessed.

In YAML 1.1 `mode: off` is a boolean and `1:30` is ninety; the CLI reads words and text. ruamel.yaml does too.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from spotproof.settings.errors import Problem, SettingsError, shown

TYPE_PREFIX = "tag:yaml.org,2002:"
MAX_NODES = 50_000
"""More values than any environment has; aliases of aliases grow without bound otherwise."""
MAX_KEY = 60
"""Characters of a key that an error repeats whole."""


def read_stack_file(path: Path) -> dict[str, object]:
    """The `config` mapping of a stack file, as plain values.

    Raises:
        SettingsError: the file cannot be read or parsed, a key stands twice, a value cannot be a value of JSON.
    """
    document = read_yaml(path)
    config = document.get("config", {})
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise SettingsError(
            [
                Problem(
                    "config",
                    f"is {shown(config)}, a mapping is needed",
                    "the stack would have no settings",
                    "Write the settings under config as `spotproof:environment: {...}`",
                )
            ],
            path.name,
        )
    return config


def read_yaml(path: Path) -> dict[str, object]:
    """The mapping a YAML 1.2 file holds, as plain values.

    Raises:
        SettingsError: as read_stack_file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(
            [
                Problem(
                    path.name,
                    f"cannot be read ({reason})",
                    "there is nothing to build from",
                    "Give the path of a readable file",
                )
            ]
        ) from error
    return parse_yaml(text, path.name)


def parse_yaml(text: str, source: str) -> dict[str, object]:
    """As read_yaml, from text; `source` names the file in errors."""
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise SettingsError([_syntax(error, source)], source) from error
    if node is None:
        return {}
    problems = [_below_environment(problem) for problem in _problems(node, "", (), [0])]
    if problems:
        raise SettingsError(problems, source)
    if not isinstance(node, MappingNode):
        problem = Problem(
            source,
            "is not a mapping",
            "no setting would be found in it",
            "Write `key: value` lines",
        )
        raise SettingsError([problem], source)
    value = _value(node)
    assert isinstance(value, dict)  # noqa: S101 - for the type checker: a MappingNode makes a dict
    return value


def _below_environment(problem: Problem) -> Problem:
    """Keys are named as in every other error: from the environment on."""
    return replace(problem, key=problem.key.removeprefix("config.spotproof:environment."))


def _syntax(error: Exception, source: str) -> Problem:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        where = f"line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1}"
        what = f"is not YAML at {where} ({shown(error.problem)})"
    else:
        what = f"is not YAML ({shown(str(error).splitlines()[0] if str(error) else type(error).__name__)})"
    return Problem(
        source, what, "nothing after that place can be read", "Mend that line; a value with : or # needs quotes"
    )


def _problems(node: Node, path: str, above: tuple[Node, ...], seen: list[int]) -> Iterator[Problem]:
    seen[0] += 1
    if seen[0] > MAX_NODES or node in above:
        if seen[0] == MAX_NODES + 1 or node in above:
            yield Problem(
                path or "the file",
                "repeats itself through aliases",
                "the settings would have no end",
                "Write the values out",
            )
        return
    if isinstance(node, MappingNode):
        yield from _mapping_problems(node, path, above, seen)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield from _problems(item, f"{path}[{index}]", (*above, node), seen)
    elif isinstance(node, ScalarNode):
        yield from _scalar_problems(node, path)


def _mapping_problems(node: MappingNode, path: str, above: tuple[Node, ...], seen: list[int]) -> Iterator[Problem]:
    lines: dict[str, int] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, ScalarNode):
            yield Problem(
                path or "the file",
                f"has a key at line {line} that is not text",
                "no setting has such a name",
                "Write a plain word as the key",
            )
            continue
        key = str(key_node.value)
        at = join(path, key)
        yield from _text_problems(key, at)
        if _tag(key_node) == "merge":
            yield Problem(
                at,
                "is a merge key, which belongs to YAML 1.1",
                "some programs would read what it names, and others would not",
                "Write the settings out, or repeat single values by `*name`",
            )
        if key in lines:
            yield Problem(
                at,
                f"stands twice, at lines {lines[key]} and {line}",
                "one of the two would silently win",
                "Keep one of them",
            )
        lines[key] = line
        yield from _problems(value_node, at, (*above, node), seen)


def _text_problems(text: str, path: str) -> Iterator[Problem]:
    try:
        text.encode()
    except UnicodeEncodeError:
        yield Problem(
            path or "the file",
            "holds half a character (a lone surrogate)",
            "it could not be sent to any API",
            "Write the whole character",
        )


def _scalar_problems(node: ScalarNode, path: str) -> Iterator[Problem]:
    yield from _text_problems(str(node.value), path)
    try:
        _scalar(node)
    except (ValueError, YAMLError, OverflowError):
        yield Problem(
            path or "the file",
            f"is {shown(str(node.value))}, which cannot be read as the {_tag(node)} it looks like",
            "it would mean something else than it says",
            "Put it in quotes, or write a smaller number",
        )


def _value(node: Node) -> object:
    if isinstance(node, MappingNode):
        return {str(key.value): _value(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_value(item) for item in node.value]
    assert isinstance(node, ScalarNode)  # noqa: S101 - for the type checker: there is no fourth kind of node
    return _scalar(node)


def _tag(node: ScalarNode) -> str:
    return str(node.tag).removeprefix(TYPE_PREFIX)


def _scalar(node: ScalarNode) -> object:
    text = str(node.value)
    match _tag(node):
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return int(text.replace("_", ""), 0) if not text.lstrip("+-").isdigit() else int(text)
        case "float":
            number = float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
            if not math.isfinite(number):
                raise ValueError(text)
            return number
        case _:
            return text


def join(path: str, key: str) -> str:
    """A key below a path, quoted where its own characters would read as a path."""
    plain = key if 0 < len(key) <= MAX_KEY and all(c.isalnum() or c in "-_:/" for c in key) else shown(key)
    return f"{path}.{plain}" if path else plain
