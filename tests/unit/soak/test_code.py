"""Of which code results are: that of the controller, of what a case is made of, and of who judges it."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.soak.code import CODE, PROVEN, digest

READERS: Final = tuple(f"components/spotproof/{name}" for name in ("controller", "fallback", "kube"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with everything that counts, and a file beside it."""
    for name in (*CODE, "docs/a.py", "tests/e2e/controller/test_counts.py"):
        file = tmp_path / name if Path(name).suffix else tmp_path / name / "inner" / "a.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a = 1\n", encoding="utf-8")
    return tmp_path


def _one_of(tree: Path, name: str) -> Path:
    """A file that counts."""
    return tree / name if (tree / name).is_file() else tree / name / "inner" / "a.py"


def _change(file: Path) -> None:
    file.write_text("a = 2\n", encoding="utf-8")


def _rename(file: Path) -> None:
    file.rename(file.with_name(f"b{file.suffix}"))


def _remove(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize("name", CODE)
@pytest.mark.parametrize("change", [_change, _rename, _remove])
def test_code_is_another_once_a_file_of_it_changes(tree: Path, name: str, change: Callable[[Path], None]) -> None:
    before = digest(tree)
    assert digest(tree) == before
    change(_one_of(tree, name))
    assert digest(tree) != before


def test_code_is_the_same_whatever_changes_beside_it(tree: Path) -> None:
    before = digest(tree)
    _change(tree / "docs" / "a.py")
    _change(tree / "tests" / "e2e" / "controller" / "test_counts.py")
    cache = tree / PROVEN[0] / "__pycache__"
    cache.mkdir()
    (cache / "a.pyc").write_bytes(b"1")
    assert digest(tree) == before


@pytest.mark.parametrize("name", CODE)
def test_all_of_it_is_there_and_no_tests_of_others_are_in_it(name: str) -> None:
    assert (ROOT / name).exists()
    assert not Path(name).name.startswith("test_")


def test_whatever_the_soak_takes_from_tests_of_others_counts() -> None:
    found, left = set[Path](), [*sorted((ROOT / "tests" / "soak").glob("*.py"))]
    while left:
        new = {each for each in _imported(left.pop()) if each.is_relative_to(ROOT / "tests" / "e2e")} - found
        found |= new
        left += new
    assert found
    assert {each.relative_to(ROOT).as_posix() for each in found} - {*CODE} == set()


def test_whatever_the_controller_reads_of_its_own_package_counts() -> None:
    files = [file for folder in READERS for file in (ROOT / folder).rglob("*.py")]
    found = {each.relative_to(ROOT).as_posix() for file in files for each in _imported(file)}
    assert found
    assert [each for each in found if not each.startswith(PROVEN) and not each.endswith("__init__.py")] == []


def _imported(file: Path) -> Iterator[Path]:
    """Files of this checkout that a file imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (node.module, *(f"{node.module}.{each.name}" for each in node.names))
            roots = (ROOT, ROOT / "components")
            paths = (root / f"{name.replace('.', '/')}.py" for name in names for root in roots)
            yield from (path for path in paths if path.is_file())
