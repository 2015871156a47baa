"""A small process that holds the processes of a control plane, and outlives whoever started it by a moment.

It is told what to start in lines of JSON on its stdin, and says on its stdout, in lines of JSON too, what it started
and what ended. When its stdin closes, because its owner has closed it or was killed in any way, it kills what it
started and removes the folder. So nothing is left behind even by SIGKILL, on Linux as on macOS. Should it be killed
itself, Linux takes its children with it.

Run by path with `-I -S`: it imports the standard library alone and is there in 20 ms.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def supervise(folder: Path) -> None:
    """Serve the owner at the other end of stdin until it is gone, then leave neither process nor `folder`."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _heard)  # or it would wake nobody
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        _serve(woken, running)
    finally:
        for process in running.values():
            process.kill()
        for process in running.values():
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _serve(woken: int, running: dict[str, subprocess.Popen[bytes]]) -> None:
    stdin, begun = sys.stdin.fileno(), b""
    dies_with_us = _dies_with_us()
    while True:
        ready, _, _ = select.select([stdin, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_ended(running)
        if stdin in ready:
            data = os.read(stdin, 65536)
            if not data:
                return
            *lines, begun = (begun + data).split(b"\n")
            for line in lines:
                _obey(json.loads(line), running, dies_with_us)


def _obey(
    order: dict[str, Any], running: dict[str, subprocess.Popen[bytes]], preexec: Callable[[], None] | None
) -> None:
    name = order["name"]
    if order["do"] == "end":
        if name in running:
            running[name].kill()
        return
    with Path(order["log"]).open("ab", buffering=0) as log:  # what it says is there before its end is told
        try:
            process = subprocess.Popen(  # noqa: S603  # the owner's own command line
                order["argv"],
                env=order["env"],
                cwd=order["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=preexec,  # noqa: PLW1509  # there is one thread
            )
        except OSError as error:
            log.write(f"{error}\n".encode())
            _say({"name": name, "ended": 127})
            return
    running[name] = process
    _say({"name": name, "pid": process.pid})


def _report_ended(running: dict[str, subprocess.Popen[bytes]]) -> None:
    for name, process in list(running.items()):
        if process.poll() is not None:
            del running[name]
            _say({"name": name, "ended": process.returncode, "was": process.pid})


def _say(message: dict[str, object]) -> None:
    with contextlib.suppress(BrokenPipeError):  # an owner that died is noticed by its stdin
        sys.stdout.write(f"{json.dumps(message)}\n")
        sys.stdout.flush()


def _dies_with_us() -> Callable[[], None] | None:
    """What a child runs before its program, so that the kernel kills it with its parent. Linux alone has it."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _heard(*_: object) -> None:
    """The byte in the wakeup pipe is all that is wanted of the signal."""


def _stop(*_: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    supervise(Path(sys.argv[1]))
