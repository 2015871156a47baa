"""What was proven on this machine of the very same files: CI kills a trainer again only where something has changed."""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from tests.conftest import ROOT
from tests.resume.example import Example
from tests.resume.proofs import Asked
from tests.resume.report import Record

GOOD_FOR: Final = timedelta(days=7)
"""The moments of the kills depend on the machine's speed too, which no file tells."""
REQUIREMENTS: Final = ROOT / "requirements" / "dev.lock"
"""Of the S3 server and of what launches the examples; each has its own beside its program."""


@dataclass(frozen=True)
class Proof:
    """One example, killed in one way. It is the same where all that it is made of is the same."""

    name: str
    key: str
    """SHA-256 of the files, of what was asked, and of the Python and system that run it."""

    @classmethod
    def of(cls, example: Example, asked: Asked) -> Self:
        """The proof of the files as they are now: what is edited while it runs has not been proven."""
        digest = hashlib.sha256(repr((asked, sys.version, platform.platform())).encode())
        for path in sorted({*_inside(example.folder), *_inside(ROOT / "tests" / "resume"), *_ours(), REQUIREMENTS}):
            digest.update(f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return cls(example.name, digest.hexdigest())


@dataclass(frozen=True)
class Proven:
    """The proofs that went well, a file each, in a folder that no clone takes with it."""

    folder: Path

    @classmethod
    def here(cls) -> Self:
        """Of this user, where the XDG base directories put what can be made again."""
        return cls(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "spotproof", "proven"))

    def keep(self, proof: Proof, found: Record) -> None:
        """Remember what a proof found, if it ran and all was well. Where that cannot be written it is proven again."""
        if found["wrong"] or found["not_run"]:
            return
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            whole = self._file(proof).with_suffix(f".{os.getpid()}")
            whole.write_text(json.dumps(found), encoding="utf-8")
            whole.replace(self._file(proof))  # a killed process leaves no half of one

    def before(self, proof: Proof, now: datetime) -> tuple[datetime, Record] | None:
        """When it was proven, and what was found; None where it is to be done."""
        try:
            when = datetime.fromtimestamp(self._file(proof).stat().st_mtime, UTC)
            found = json.loads(self._file(proof).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return (when, found) if now - when < GOOD_FOR else None

    def _file(self, proof: Proof) -> Path:
        return self.folder / f"{proof.name}-{proof.key[:32]}.json"


def _inside(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _ours() -> Iterable[Path]:
    """What of the project has been imported to get here: the files of the proof that are elsewhere."""
    files = (getattr(module, "__file__", None) for module in tuple(sys.modules.values()))
    return (path for file in files if file and (path := Path(file)).is_relative_to(ROOT) and ".venv" not in path.parts)
