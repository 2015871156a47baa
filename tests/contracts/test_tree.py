"""What holds for the whole tree: generated pages are current, links lead somewhere, nothing is left over."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from spotproof.settings import read_yaml
from tests import generated

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE = 400


def tracked(*suffixes: str) -> list[Path]:
    """Files of the project, in a checkout and in an unpacked archive alike."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607 - git
    hidden = {".venv", ".git", ".hypothesis"}
    found = (ROOT / name for name in listed.stdout.splitlines())
    everything = found if listed.returncode == 0 else (p for p in ROOT.rglob("*") if not hidden & set(p.parts))
    return [path for path in everything if path.suffix in suffixes and path.is_file()]


def test_generated_pages_are_what_the_code_writes() -> None:
    assert generated.stale() == []


def test_every_link_between_pages_leads_to_a_file() -> None:
    broken = [
        f"{page.relative_to(ROOT)} -> {link}"
        for page in tracked(".md")
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if not link.startswith(("http:", "https:", "mailto:")) and not (page.parent / link).exists()
    ]

    assert broken == []


def test_the_pages_name_every_part_and_the_order_of_imports() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in rules if "spotproof.vocabulary" in each.get("layers", ()))
    order = [each.replace("spotproof.", "").replace(" | ", ", ") for each in reversed(layers)]
    folders = {path.parent.name for path in (ROOT / "components" / "spotproof").glob("*/__init__.py")}
    architecture, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/architecture.md", "README.md"))

    assert folders - set(", ".join(order).split(", ")) == set()
    assert {name for name in folders if f"| `{name}/` |" not in architecture} == set()
    written = " < ".join(f"{{{each}}}" if "," in each else each for each in order)
    assert [page for page in (readme, architecture) if written not in " ".join(page.split())] == []


def test_the_tree_of_the_readme_names_every_folder_of_the_project_and_of_its_tests() -> None:
    tree = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The tree")[2].partition("\n## ")[0]
    tests = tree.partition("\ntests/")[2].partition("\ntools/go/")[0]
    parts = {path.relative_to(ROOT).parts for path in tracked(".py", ".md", ".json", ".yaml", ".lock")}
    folders = {each[0] for each in parts if len(each) > 1 and not each[0].startswith(".")}
    of_tests = {each[1] for each in parts if each[0] == "tests" and len(each) > 2}

    assert {each for each in folders if f"\n{each}/" not in tree} == set()
    assert {each for each in of_tests if not re.search(rf"\b{each}/", tests)} == set()


def test_every_target_of_make_is_named_for_people() -> None:
    targets = re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    named = {word for words in re.findall(r"\bmake ((?:[a-z0-9-]+ ?)+)", pages) for word in words.split()}
    named |= set(re.findall(r"`([a-z0-9-]+)`", pages))

    assert set(targets) - named == {"help", "clean"}


def test_no_file_of_code_is_longer_than_400_lines() -> None:
    long = {p.name: n for p in tracked(".py") if (n := len(p.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE}

    assert long == {}


def test_no_unfinished_mark_and_no_path_of_a_machine_is_left() -> None:
    left = re.compile("TO" + r"DO|FIX" + r"ME|X{3}|(?<![\w.])/(?:home|root|work|Users)/\w")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:80]}"
        for path in tracked(".py", ".md", ".yaml", ".yml", ".toml", ".in")
        for line in path.read_text(encoding="utf-8").splitlines()
        if left.search(line)
    ]

    assert found == []


def test_lock_files_name_no_address() -> None:
    assert [lock.name for lock in (ROOT / "requirements").glob("*.lock") if "://" in lock.read_text()] == []


@pytest.mark.parametrize("stack", sorted((ROOT / "stacks").glob("Pulumi.*.yaml")), ids=lambda path: path.name)
def test_a_stack_file_names_its_schema_and_fits_it(stack: Path) -> None:
    first = stack.read_text(encoding="utf-8").splitlines()[0]
    schema_file = stack.parent / first.partition("$schema=")[2]

    assert first.startswith("# yaml-language-server: $schema=")
    jsonschema.Draft202012Validator(json.loads(schema_file.read_text())).validate(read_yaml(stack))


def test_the_schema_refuses_what_the_settings_refuse() -> None:
    schema = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "stack.schema.json").read_text()))
    provider = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}

    def valid(**environment: Any) -> bool:
        return schema.is_valid({"config": {"spotproof:environment": {"provider": provider, **environment}}})

    assert valid(spot=True)
    assert not valid(spott=True)
    assert not valid(logs={"retainDays": "30"})
    assert valid(fallbackPolicies=[{"name": "a", "tiers": [{"pool": "a"}], "deadline": "guard"}])
    assert not valid(fallbackPolicies=[{"name": "a", "tiers": [{"pool": "a", "pendingTimeout": "1 h"}]}])
