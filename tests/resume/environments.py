"""An environment for each example, made from its own lock: the frameworks would never agree on one."""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.conftest import ROOT
from tests.resume.example import Example

ENVIRONMENTS: Final = ROOT / ".resume"
SECONDS_TO_INSTALL: Final = 900
INSTALL: Final = ("pip", "install", "--quiet", "--compile-bytecode")
"""With bytecode: a program that is started 30 times would compile its framework 30 times, 5 s of 9 with JAX."""


@dataclass(frozen=True)
class NotRun:
    """Why an example cannot be run here. It counts as nothing, least of all as passed."""

    why: str


def environment(example: Example, *, large: bool) -> Path | NotRun:
    """The Python of an example, installed from requirements.txt unless that was done before for the same text."""
    if example.large and not large:
        return NotRun(f"{example.large}; LARGE=1 asks for it")
    requirements = example.folder / "requirements.txt"
    lock = hashlib.sha256(requirements.read_bytes()).hexdigest()
    folder = ENVIRONMENTS / example.name
    python, mark = folder / "bin" / "python", folder / "lock.sha256"
    if mark.exists() and mark.read_text(encoding="utf-8") == lock:
        return python
    if folder.exists():
        shutil.rmtree(folder)
    folder.parent.mkdir(exist_ok=True)
    for command in (
        ("venv", "--quiet", "--python", sys.executable, str(folder)),
        (*INSTALL, "--python", str(python), "--require-hashes", "-r", str(requirements)),
    ):
        try:
            done = subprocess.run(
                [str(Path(sys.executable).parent / "uv"), *command],
                env={
                    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
                    "UV_SYSTEM_CERTS": "1",
                    "UV_NO_PROGRESS": "1",
                },
                capture_output=True,
                text=True,
                timeout=SECONDS_TO_INSTALL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return NotRun(f"its requirements were not installed in {SECONDS_TO_INSTALL} s")
        if done.returncode:
            return NotRun(f"its requirements cannot be installed: {_reason(done.stderr)}")
    mark.write_text(lock, encoding="utf-8")
    return python


def _reason(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return " ".join(lines[-3:]) or "no reason was given"
