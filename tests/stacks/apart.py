"""The command line in a process of its own, that has the SDKs already: their import is over half of what one takes.

The process begins with nothing of ours, so that what it imports of us is the copy it is given.
"""

import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

PROCESSES: Final = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.stacks.sdks"])


def run_in(copy: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run `spotproof` of a copy of the project, in it. Returns the status, and what it wrote on stdout and stderr."""
    process = PROCESSES.Process(target=_run, args=(copy, arguments))
    process.start()
    process.join()
    process.close()
    written, errors = ((copy / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    status = copy / "status"
    assert status.exists(), f"it did not end by itself: {errors}"
    return int(status.read_text(encoding="utf-8")), written, errors


def _run(copy: Path, arguments: Sequence[str]) -> None:
    os.chdir(copy)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.path[:0] = [str(copy / "components"), str(copy / "policies")]
    sys.argv = ["spotproof", *arguments]
    assert not any(name.startswith("spotproof") for name in sys.modules), "it would run what is not the copy"
    from spotproof.cli.main import run  # noqa: PLC0415  # of the copy

    # not by the process's own status: a thread that starts one reads those of all others, and one of two reads nothing
    try:
        run()
    except SystemExit as ended:
        Path("status").write_text(f"{ended.code or 0}", encoding="utf-8")
