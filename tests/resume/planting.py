"""A fault planted into a copy of an example."""

import shutil
from pathlib import Path

from tests.resume.example import Example, Fault


def planted(example: Example, fault: Fault, copy: Path) -> Path:
    """A copy of the example's folder with the fault in its train.py.

    Raises:
        ValueError: train.py no longer holds what the fault replaces.
    """
    shutil.copytree(example.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = copy / "train.py"
    text = program.read_text(encoding="utf-8")
    for old, new in fault.changes:
        if text.count(old) != 1:
            raise ValueError(
                f"{example.name}: train.py holds {old!r} {text.count(old)} times, and {fault.words!r} needs it once"
            )
        text = text.replace(old, new)
    program.write_text(text, encoding="utf-8")
    return copy
