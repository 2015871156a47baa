"""`make tools` on machines that cannot build: one loud line and a status of its own, which is no failure."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOT_TO_BE_HAD = 3


def build(group: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("bash") or "bash", str(ROOT / "tools" / "go" / "build"), group]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("group", ["engine", "controlplane"])
def test_without_go_the_build_says_so_in_one_line_and_makes_nothing(group: str, tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "dirname").symlink_to(shutil.which("dirname") or "")
    tools = tmp_path / "tools"
    done = build(group, {"PATH": str(commands), "SPOTPROOF_TOOLS": str(tools)})
    assert (done.returncode, done.stderr) == (NOT_TO_BE_HAD, "NOT BUILT: Go 1.26.6 or newer is not on the PATH\n")
    assert not tools.exists()


@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go here, which the test above is about")
def test_modules_that_cannot_be_downloaded_are_no_failure_of_the_build(tmp_path: Path) -> None:
    nowhere = {"GOPROXY": "off", "GOFLAGS": "-modcacherw", "GOMODCACHE": str(tmp_path / "modules")}
    environ = {**os.environ, **nowhere, "SPOTPROOF_TOOLS": str(tmp_path / "tools"), "GOTOOLCHAIN": "local"}
    done = build("controlplane", environ)
    assert done.returncode == NOT_TO_BE_HAD, done.stderr
    assert done.stderr.endswith("NOT BUILT: the modules of tools/go/controlplane cannot be downloaded here\n")
    assert list((tmp_path / "tools" / "bin").iterdir()) == []
