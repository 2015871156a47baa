from pathlib import Path

import pytest

from spotproof.rehearsal.tools import CONTROL_PLANE, SHARED, Tools, ToolsMissing, find_tools


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in CONTROL_PLANE:
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).touch()
    for name in SHARED:
        (tmp_path / "share" / name).mkdir(parents=True)
    return tmp_path


def test_the_folder_that_is_named_is_taken(folder: Path) -> None:
    tools = find_tools({"SPOTPROOF_TOOLS": str(folder)})
    assert tools.bin("etcd") == folder / "bin" / "etcd"
    assert tools.share("jobset") == folder / "share" / "jobset"


def test_what_is_missing_is_named_with_what_to_run(folder: Path) -> None:
    (folder / "bin" / "karpenter").unlink()
    (folder / "share" / "kuberay").rmdir()
    with pytest.raises(ToolsMissing) as missing:
        find_tools({"SPOTPROOF_TOOLS": str(folder)})
    said = str(missing.value)
    assert said.startswith(f"the folder {folder} that SPOTPROOF_TOOLS names lacks bin/karpenter, share/kuberay")
    assert "Run `make tools`" in said
    assert "Go 1.26.6" in said


def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ToolsMissing, match=r"/nowhere that SPOTPROOF_TOOLS names is not there"):
        find_tools({"SPOTPROOF_TOOLS": str(tmp_path / "nowhere")})


def test_without_a_name_the_checkout_is_looked_at() -> None:
    try:
        looked_at = str(find_tools({}).folder)
    except ToolsMissing as missing:
        looked_at = str(missing).partition(" ")[0]
    assert Path(looked_at) == Path(__file__).resolve().parents[3] / ".tools"


def test_nothing_is_missing_in_a_complete_folder(folder: Path) -> None:
    assert Tools(folder).missing() == ()
