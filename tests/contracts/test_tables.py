"""Folder and table agree, for everything that is extended by writing a file and adding a line."""

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from spotproof.cli.main import COMMANDS
from spotproof.clouds.charges import BILLS
from spotproof.controller.jobs import JOBS
from spotproof.controller.relations import CHILDREN, MANAGED, OWNERS
from spotproof.fallback.rules import RULES
from spotproof.operators.registry import OPERATORS
from spotproof.settings.operators import Operators
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.walk import by_alias

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "components" / "spotproof"
NOT_OPERATORS = {"__init__", "registry", "versions", "common"}

EXPERIMENT_FILES = "experiment"
"""The one folder of settings that is no cloud's: another kind of file."""


def modules(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.py")}


def test_every_cloud_folder_is_in_every_table_of_clouds() -> None:
    folders = {folder.name for folder in (PACKAGE / "clouds").iterdir() if (folder / "__init__.py").exists()}

    settings = {folder.name for folder in (PACKAGE / "settings").iterdir() if (folder / "__init__.py").exists()}
    assert folders == settings - {EXPERIMENT_FILES} == set(PROVIDERS)


@pytest.mark.parametrize("cloud", [cloud for cloud in PROVIDERS if PROVIDERS[cloud].package])
def test_a_cloud_with_resources_of_its_own_can_bill_them(cloud: str) -> None:
    assert callable(import_module(BILLS[PROVIDERS[cloud].package]).bill)


NO_KINDS: Final = {"__init__", "contract", "template"}


def test_every_kind_of_job_has_a_file_and_is_watched_as_one_thing_alone() -> None:
    assert modules(PACKAGE / "controller" / "jobs") - NO_KINDS == {name.lower() for name in JOBS}
    for job in JOBS.values():
        made = {kind for kind in (job.members.owner, job.members.children) if kind and kind != job.kind}
        assert {each.kind for each in job.watched} == {job.kind, *made}
    parts = [(OWNERS[name], "owner") for name in OWNERS] + [(kind, "child") for kind in CHILDREN]
    parts += [(kind, "job") for kind in MANAGED.values()]
    assert len(parts) == len(dict(parts))


def test_every_operator_file_is_in_the_table_and_in_the_settings() -> None:
    files = modules(PACKAGE / "operators") - NOT_OPERATORS

    assert files == {"".join(f"_{c.lower()}" if c.isupper() else c for c in key) for key in OPERATORS}
    assert set(by_alias(Operators)) == set(OPERATORS)


def test_every_fallback_rule_has_a_file_of_its_name_and_its_place_in_the_order() -> None:
    assert [rule.__module__.rpartition(".")[2] for rule in RULES] == [rule.__name__ for rule in RULES]
    assert modules(PACKAGE / "fallback" / "rules") - {"__init__"} == {rule.__name__ for rule in RULES}


SHARED = {"__init__", "main", "durations", "output", "words"}
"""Files of the command line that belong to no one command."""


def test_every_command_file_is_in_the_table() -> None:
    files = modules(PACKAGE / "cli") - SHARED
    # a command of several parts has them beside it: plan_table.py is a part of plan.py
    assert {name for name in files if name.partition("_")[0] not in files - {name}} == set(COMMANDS)


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text()

    assert [page.name for page in folder.glob("0*.md") if page.name not in index] == []
