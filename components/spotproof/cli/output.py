"""Where a command writes its report: a file, or a pipe or device by its name."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO


def problem_with(output: Path) -> str | None:
    """Why nothing can be written there, told before any work is done; None where it can."""
    if not output.parent.is_dir():
        return f"there is no folder {output.parent} to write {output.name} into"
    if output.is_dir():
        return f"{output} is a folder; name a file in it with --output"
    if not os.access(output if is_device(output) else output.parent, os.W_OK):
        return f"{output} cannot be written"
    return None


def is_device(path: Path) -> bool:
    """Whether it is a pipe or a device, such as /dev/stdout, which is written to and never replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write(output: Path, report: Callable[[IO[str]], object]) -> None:
    """Let a report write itself; nobody ever reads half of it.

    Raises:
        OSError: it cannot be written.
    """
    if is_device(output):
        with output.open("w", encoding="utf-8") as file:
            report(file)
        return
    target = output.resolve()
    # Written beside and renamed.
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as file:
        report(file)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(target)
