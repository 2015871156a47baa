"""A newcomer's kind of job, by the recipe of CONTRIBUTING.md and nothing else, in a copy of the tree."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.clouds import ROOT

FILE = "components/spotproof/controller/jobs/flock.py"
TABLE = "components/spotproof/controller/jobs/__init__.py"
LINE = ("for kind in (JobSetKind(),", "for kind in (FlockKind(), JobSetKind(),")
IMPORT = (
    "from spotproof.controller.jobs.jobset ",
    "from spotproof.controller.jobs.flock import FlockKind\nfrom spotproof.controller.jobs.jobset ",
)
RIGHTS = "components/spotproof/manifests/controller_rights.py"
RIGHTS_LINES = (
    (
        "IN_THE_CLUSTER: Final = (\n",
        'IN_THE_CLUSTER: Final = (\n    Right("toys.example", ("flocks",), READ, "jobs"),\n',
    ),
    (
        "IN_A_WORKSPACE: Final = (\n",
        'IN_A_WORKSPACE: Final = (\n    Right("toys.example", ("flocks",), ("patch",), "moves"),\n',
    ),
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the file and the line."""
    tree = tmp_path_factory.mktemp("third-kind")
    for folder in ("components", "stacks", "tests"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__", "golden"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    shutil.copy(ROOT / "tests" / "contracts" / "newcomer" / "flock.py", tree / FILE)
    edit(tree, TABLE, LINE, IMPORT)
    return tree


def edit(tree: Path, name: str, *changes: tuple[str, str]) -> None:
    text = (tree / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{name} no longer holds {old} once"
        text = text.replace(old, new)
    (tree / name).write_text(text, encoding="utf-8")


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tree / "components"), str(tree / "policies"), str(tree)))}
    return subprocess.run([sys.executable, *arguments], cwd=tree, env=env, capture_output=True, text=True, check=False)


def test_a_third_kind_is_counted_moved_and_shown_by_one_file_and_one_line(tree: Path) -> None:
    told = run(tree, "-m", "tests.contracts.newcomer.story")

    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == {
        "kinds": ["Flock", "JobSet", "RayJob"],
        "tier": "on-demand",
        "evictions": 2,
        "moved": ["TooManyFailures"],
        "attempts_at_once": 1,
        "shown": {"Flock": ["flock", "karpenter.sh/capacity-type=spot", 1]},
    }


def test_what_the_controller_may_not_do_with_it_yet_is_told(tree: Path) -> None:
    asked = (
        *("-m", "pytest", "-vv", "-n0", "-p", "no:cacheprovider", "-k", "every_kind"),
        "tests/unit/manifests/test_controller.py",
    )

    without = run(tree, *asked)
    edit(tree, RIGHTS, *RIGHTS_LINES)
    rights = run(tree, *asked)

    assert without.stdout.count("\nFAILED ") == 2
    assert {"flocks", "patch"} <= set(re.findall(r"\w+", without.stdout))
    assert rights.returncode == 0, rights.stdout


def test_the_recipe_names_every_file_the_newcomer_wrote_and_no_other() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Add a kind of job\n")[2].partition("\n\n")[2].partition("\n\n")[0]
    named = re.findall(r"`((?:components|tests)[^`: ]*)", section)

    assert {each.replace("<kind>", "flock") for each in named} == {FILE, TABLE, RIGHTS}
