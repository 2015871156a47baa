"""A program below SCRIPT, run here as a container of a gang runs it, by every shell of this machine."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from spotproof.manifests.command import SCRIPT

SHELLS: Final = [
    shell for shell in (["/bin/sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])
]
PASSED_ON: Final = ("HUP", "INT", "QUIT", "USR1", "USR2", "TERM")
GIVE_UP_SECONDS: Final = 30

# Python looks for signals between two steps: one that comes right before a pause would wait for the next, and one that
# comes while print() writes is handled inside of it, where nothing can be printed.
HANDLES = """
import os, signal, sys, time
def handle(number, frame):
    os.write(1, f"{{signal.Signals(number).name[3:]}}\\n".encode())
    if number in {ends}:
        sys.exit({code})
for name in {names}:
    signal.signal(getattr(signal, f"SIG{{name}}"), handle)
os.write(1, b"ready\\n")
while True:
    time.sleep(0.02)
"""


def handling(*ends: str, code: int = 0, names: Sequence[str] = PASSED_ON) -> list[str]:
    """A program that says which signals it got, and leaves with a code at some of them."""
    numbers = {int(getattr(signal, f"SIG{name}")) for name in ends} or {-1}
    return [sys.executable, "-c", HANDLES.format(ends=numbers, code=code, names=list(names))]


def as_in_a_container(before: Callable[[], None] | None) -> None:
    """No signal is ignored: a CI runner in the background hands HUP, INT and QUIT on so, and no shell can trap them."""
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(each, signal.SIG_DFL)
    if before is not None:
        before()


@contextmanager
def running(
    shell: list[str], program: Sequence[str], before: Callable[[], None] | None = None, script: str = SCRIPT
) -> Generator[subprocess.Popen[str]]:
    started = subprocess.Popen(
        [*shell, "-c", script, "sh", *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: as_in_a_container(before),  # noqa: PLW1509 - one thread here
    )
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], GIVE_UP_SECONDS)
    assert ready, "the program says nothing"
    return process.stdout.readline().strip()


def tell(shell: int, name: str) -> None:
    """Send a signal to a shell once it waits: one that comes as its wait begins may be lost by bash (command.py)."""
    until(lambda: state_of(shell) not in {"R", "D"})
    os.kill(shell, getattr(signal, f"SIG{name}"))


def state_of(pid: int) -> str:
    """The letter of /proc/<pid>/stat: R or D while it is busy, Z where it has ended; none without that file."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    return ""


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + GIVE_UP_SECONDS
    while not holds():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.001)


def ended(shell: list[str], program: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*shell, "-c", SCRIPT, "sh", *program], input=given, capture_output=True, text=True, timeout=GIVE_UP_SECONDS,
        check=False,
    )  # fmt: skip


def is_bash(shell: list[str]) -> bool:
    return os.path.realpath(shutil.which(shell[0]) or "").endswith("bash")
