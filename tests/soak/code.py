"""Which code a soak has proven something of: a digest of the controller and of the soak itself."""

import hashlib
from pathlib import Path
from typing import Final

from tests.conftest import ROOT

FOLDERS: Final = (
    "components/spotproof/controller",
    "components/spotproof/fallback",
    "components/spotproof/kube",
    "components/spotproof/manifests",
    "tests/soak",
)
"""What a result depends on, and is played again for."""
LETTERS: Final = 12


class Changed(Exception):  # noqa: N818  # the name is the sentence
    """The code was changed while it was played: what came of it would be of neither version."""


def digest(root: Path = ROOT) -> str:
    """The same for as long as no file of these folders is changed, added, renamed or removed."""
    made = hashlib.sha256()
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            made.update(f"{file.relative_to(root).as_posix()}\0{file.stat().st_size}\0".encode())
            made.update(file.read_bytes())
    return made.hexdigest()[:LETTERS]
