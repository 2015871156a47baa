"""Every training program has what it shares with others beside it, byte by byte."""

from pathlib import Path

import pytest

from tests import generated
from tests.conftest import ROOT


def planted(root: Path, *folders: str) -> Path:
    (root / "examples").mkdir()
    (root / "examples/contract.py").write_text("CONTRACT = 1\n")
    (root / "examples/storage.py").write_text("STORAGE = 1\n")
    for folder in folders:
        (root / "examples" / folder).mkdir()
    return root


def test_a_folder_with_a_program_gets_a_copy_and_no_other_does(tmp_path: Path) -> None:
    root = planted(tmp_path, "two", "one", "none")
    for folder in ("one", "two"):
        (root / "examples" / folder / "train.py").write_text("")

    found = generated.copies(root)

    assert list(found) == ["examples/one/contract.py", "examples/two/contract.py"]
    assert {render() for render in found.values()} == {"CONTRACT = 1\n"}


def test_a_copy_that_is_missing_or_differs_is_out_of_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = planted(tmp_path, "one")
    (root / "examples/one/train.py").write_text("")
    monkeypatch.setattr(generated, "ROOT", root)
    monkeypatch.setattr(generated, "GENERATED", generated.copies(root))

    assert generated.stale() == ["examples/one/contract.py"]
    generated.write()
    assert generated.stale() == []
    (root / "examples/one/contract.py").write_text("CONTRACT = 2\n")
    assert generated.stale() == ["examples/one/contract.py"]


def test_the_programs_on_ray_have_their_storage_too(tmp_path: Path) -> None:
    root = planted(tmp_path, "one", "tensorflow-rayjob")
    for folder in ("one", "tensorflow-rayjob"):
        (root / "examples" / folder / "train.py").write_text("")

    found = generated.copies(root)

    assert [name for name in found if name.endswith("storage.py")] == ["examples/tensorflow-rayjob/storage.py"]


def test_the_programs_of_this_tree_are_among_what_is_generated() -> None:
    for program in ROOT.glob("examples/*/train.py"):
        assert f"examples/{program.parent.name}/contract.py" in generated.GENERATED
