"""Planting a mistake into a copy of the project, and the page that says what catches which."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spotproof_policies.registry import POLICIES
from tests.stacks.apart import run_in
from tests.stacks.runs import ROOT


@dataclass(frozen=True)
class Mistake:
    """`old` is replaced by `new` in `file`; `caught_by` is "settings", "lint" or the name of a policy of `stack`."""

    words: str
    file: str
    old: str
    new: str
    caught_by: str
    stack: str = "aws-dev"
    status: int = 1
    """0 where the finding is advice."""


INSTALL: Final = "operators.install(pulumi.get_stack(), env, cluster)"


def beside(words: str, code: str, caught_by: str, stack: str) -> Mistake:
    """A mistake in what somebody adds to the program of a stack: `code` runs after everything of ours."""
    return Mistake(words, "infra/__main__.py", INSTALL, f"{INSTALL}\n{code}", caught_by, stack)


@dataclass(frozen=True)
class Caught:
    """What the preview of the spoilt copy said."""

    status: int
    by: frozenset[str]
    messages: dict[str, str]


def preview_with(mistake: Mistake, copy: Path) -> Caught:
    """What `spotproof preview` says of a stack in a copy of the project, made in `copy`, with the mistake in it."""
    for folder in ("components", "infra", "stacks", "policies"):
        shutil.copytree(ROOT / folder, copy / folder)  # with its bytecode, which is good for all but the mistake
    shutil.copy(ROOT / "Pulumi.yaml", copy)
    file = copy / mistake.file
    text = file.read_text(encoding="utf-8")
    assert mistake.old in text, f"{mistake.file} no longer holds {mistake.old}"
    file.write_text(text.replace(mistake.old, mistake.new, 1), encoding="utf-8")
    status, written, errors = run_in(copy, ["preview", mistake.stack, "--format", "json"])
    return _caught(status, json.loads(written) if written.strip() else {}, errors)


def _caught(status: int, preview: dict[str, Any], errors: str) -> Caught:
    messages = {f"{found['policy']}": f"{found['message']}" for found in reversed(preview.get("policies", []))}
    for found in preview.get("lint", [])[:1]:
        messages["lint"] = f"{found['path']}: {found['message']}"
    if not preview.get("resources"):
        messages["settings"] = errors.strip().splitlines()[-1].strip()
    return Caught(status, frozenset(messages), messages)


def table(caught: list[tuple[Mistake, Caught]]) -> str:
    """docs/what-is-checked.md: each mistake with what catches it and its message, as it was printed."""
    rows = [
        f"| {mistake.words} | {_link(mistake.caught_by)} | {_cell(found.messages[mistake.caught_by])} |"
        for mistake, found in caught
    ]
    named = {mistake.caught_by for mistake, _ in caught}
    others = [
        f"| {_link(each.name)} | {each.description} | {each.level} |" for each in POLICIES if each.name not in named
    ]
    return "\n".join([INTRODUCTION, *rows, OTHERS, *others, ""])


INTRODUCTION: Final = """\
# What is checked

Each mistake below is planted, alone, into a copy of the program or of its stack file by a test
(tests/stacks/test_mistakes.py), which also writes this page: the messages are what `spotproof preview` printed. All
policies are in [policies/README.md](../policies/README.md), all settings in [stacks/README.md](../stacks/README.md).

| mistake | caught by | message |
| --- | --- | --- |"""


OTHERS: Final = """
## Policies that no mistake above is planted for

Each is broken on its own in `denied.yaml` beside it, and in a real stack by `tests/policies/mutations.py`.

| policy | what holds | level |
| --- | --- | --- |"""


def _link(catcher: str) -> str:
    if catcher in {"settings", "lint"}:
        return catcher
    return f"[{catcher}](../policies/spotproof_policies/{catcher.replace('-', '_')}/README.md)"


def _cell(message: str) -> str:
    return " ".join(message.split()).replace("|", "\\|")
