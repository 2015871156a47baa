"""A project folder as the Pulumi CLI reads it: Pulumi.yaml, its stack files, configuration with its defaults merged.

The CLI merges and validates configuration, the SDK never does (pulumi/pulumi pkg/workspace, sdk/go/common/workspace).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from spotproof.preview.model import ENCRYPTED
from spotproof.preview.run import Configuration, Target
from spotproof.settings.near import near
from spotproof.settings.stack_file import read_stack_file, read_yaml

PROJECT_FILES: Final = ("Pulumi.yaml", "Pulumi.yml", "Pulumi.json")

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


class ProjectError(Exception):
    """The folder, a stack name or a configuration cannot be used; the text says what would do."""


class UnknownStackError(ProjectError):
    """There is no such stack."""


@dataclass(frozen=True)
class Project:
    """One Pulumi project. `program` is what Python runs; `stack_files` maps a stack's name to its file."""

    name: str
    root: Path
    program: Path
    stack_files: Mapping[str, Path] = field(default_factory=dict)
    schema: Mapping[str, object] = field(default_factory=dict)

    def stack_file(self, stack: str) -> Path:
        """The file of a stack that must have one.

        Raises:
            UnknownStackError: no stack file has that name.
        """
        if stack not in self.stack_files:
            raise UnknownStackError(unknown_name("stack", stack, self.stack_files))
        return self.stack_files[stack]

    def target(self, stack: str) -> Target:
        """Return what `run.capture` needs to preview `stack`.

        Raises:
            UnknownStackError: no stack file has that name.
            ProjectError: configuration is missing or of the wrong type.
            SettingsError: the stack file cannot be read.
        """
        file = self.stack_file(stack) if self.stack_files else None
        config = read_stack_file(file) if file else {}
        return Target(self.name, stack, root=self.root, configuration=self._configuration(stack, config))

    def _configuration(self, stack: str, config: Mapping[str, object]) -> Configuration:
        given = {self._namespaced(key): value for key, value in config.items()}
        values: dict[str, str] = {}
        secrets: set[str] = set()
        for short, declared in self.schema.items():
            key = self._namespaced(short)
            value = given.get(key, _default(declared))
            if value is None and key.startswith(f"{self.name}:") and key not in given:
                raise ProjectError(
                    f"stack {stack!r} is missing the configuration value {short!r} that Pulumi.yaml asks for"
                )
            _check_type(stack, short, declared, value)
            if _must_be_encrypted(declared) and key in given and not _decrypted(value)[1]:
                raise ProjectError(
                    f"stack {stack!r}: configuration value {short!r} is in plain text, and Pulumi.yaml says that it is "
                    f"secret. Encrypt it with `pulumi config set --secret {short}`"
                )
            if _must_be_encrypted(declared):
                secrets.add(key)
            given[key] = value
        for key, value in given.items():
            plain, secret = _decrypted(value)
            values[key] = plain if isinstance(plain, str) else json.dumps(plain, separators=(",", ":"))
            if secret:
                secrets.add(key)
        return Configuration(values, frozenset(secrets))

    def _namespaced(self, key: str) -> str:
        return key if ":" in key else f"{self.name}:{key}"


def load_project(directory: Path) -> Project:
    """Return the project in `directory`.

    Raises:
        ProjectError: there is no Pulumi.yaml, it is not a Python project's, or what it names is not there.
        SettingsError: Pulumi.yaml cannot be read.
    """
    root = directory.resolve()
    if not root.exists():
        raise ProjectError(f"there is no folder {directory}")
    file = next((root / name for name in PROJECT_FILES if (root / name).is_file()), None)
    if file is None:
        raise ProjectError(f"there is no Pulumi.yaml in {directory}. Name a folder that has one with --program")
    document = read_yaml(file)
    name = document.get("name")
    if not isinstance(name, str):
        raise ProjectError(f"{file} has no `name`")
    runtime = document.get("runtime")
    language = runtime.get("name") if isinstance(runtime, Mapping) else runtime
    if language is None:
        raise ProjectError(f"{file} has no `runtime`. Write `runtime: python`")
    if language != "python":
        raise ProjectError(f"{file} is a project in {language}; only Python programs run here")
    schema, stacks = document.get("config") or {}, document.get("stackConfigDir") or "."
    if isinstance(schema, str):
        # The CLI reads a bare path as what is called stackConfigDir now (sdk/go/common/workspace).
        schema, stacks = {}, schema
    if not isinstance(schema, Mapping):
        raise ProjectError(f"{file}: `config` must map each key to its type or value")
    return Project(
        name=name,
        root=root,
        program=_program(root, document.get("main"), file),
        stack_files=_stack_files(root, str(stacks), file),
        schema=schema,
    )


def unknown_name(kind: str, name: str, known: Mapping[str, object]) -> str:
    """Return the sentence for a name nobody knows: the nearest known one, and all of them."""
    guess = near(name, known)
    suggestion = f" Did you mean {guess}?" if guess else ""
    return f"there is no {kind} {name!r}.{suggestion} Known: {', '.join(sorted(known)) or 'none'}"


def _program(root: Path, main: object, file: Path) -> Path:
    program = root / main if isinstance(main, str) else root
    if not (program.is_file() or (program / "__main__.py").is_file()):
        raise ProjectError(f"{file}: there is no Python program at {program} (a file, or a folder with __main__.py)")
    return program


def _stack_files(root: Path, named: str, file: Path) -> dict[str, Path]:
    directory = root / named
    if not directory.is_dir():
        raise ProjectError(
            f"{file}: stackConfigDir names {named}, and there is no such folder; no stack would be found"
        )
    found = (path for path in sorted(directory.glob("Pulumi.*.*")) if path.suffix in (".yaml", ".yml", ".json"))
    return {path.name.removeprefix("Pulumi.").removesuffix(path.suffix): path for path in found}


def _parsed(text: str) -> object:
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        return text


def _must_be_encrypted(declared: object) -> bool:
    return isinstance(declared, Mapping) and bool(declared.get("secret"))


def _default(declared: object) -> object:
    if not isinstance(declared, Mapping):
        return declared
    return declared.get("value", declared.get("default"))


def _check_type(stack: str, key: str, declared: object, value: object) -> None:
    wanted = declared.get("type") if isinstance(declared, Mapping) else None
    if value is None or not isinstance(wanted, str) or wanted not in _TYPES:
        return
    plain, secret = _decrypted(value)
    # `pulumi config set` writes every value as text.
    read = _parsed(plain) if wanted != "string" and isinstance(plain, str) else plain
    fits = isinstance(read, _TYPES[wanted]) and not (wanted in ("integer", "number") and isinstance(read, bool))
    if not (fits or secret):
        raise ProjectError(f"stack {stack!r}: configuration value {key!r} must be of type {wanted}")


def _decrypted(value: object) -> tuple[object, bool]:
    """Return the value with a stand-in for everything encrypted, and whether there was such a thing."""
    if isinstance(value, Mapping):
        if set(value) == {"secure"}:
            return ENCRYPTED, True
        opened = {key: _decrypted(item) for key, item in value.items()}
        return {key: item for key, (item, _) in opened.items()}, any(secret for _, secret in opened.values())
    if isinstance(value, list):
        items = [_decrypted(item) for item in value]
        return [item for item, _ in items], any(secret for _, secret in items)
    return value, False
