"""`python -m benchmarks.control_plane`: how fast the control plane is there, what it takes, what it leaves.

Every cycle is an owner process of its own; the even ones leave their block, the odd ones are killed by SIGKILL. After
each of them its processes, its ports and its folder are looked for.
"""

import argparse
import json
import multiprocessing
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.measure import machine
from spotproof.kube.waiting import NotSeen, wait
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.tools import find_tools

SETS: Final = (Parts.CORE, Parts.JOBSET, Parts.JOBSET | Parts.KUBERAY, Parts.ALL)
GONE_SECONDS: Final = 20
MIB: Final = 1024


@dataclass(frozen=True)
class Cycle:
    """One start and its end."""

    ready_seconds: float
    stop_seconds: float
    rss_mib: dict[str, int]
    left: tuple[str, ...]


def main() -> None:
    """Measure and print; the exit status is 1 where something was left behind."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cycles", type=int, default=20, help="starts and stops under load")
    options.add_argument("--hogs", type=int, default=os.cpu_count(), help="processes that only compute meanwhile")
    options.add_argument("--own", default="", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.own:
        _own(Parts(int(chosen.own)))
        return
    print(f"{machine()}, load of the machine before: {os.getloadavg()[0]:.1f}")
    for parts in SETS:
        cycle = _cycle(parts, kill=False)
        said = ", ".join(f"{name} {mib}" for name, mib in cycle.rss_mib.items())
        print(f"{_name(parts)}: ready in {cycle.ready_seconds:.1f} s, stopped in {cycle.stop_seconds:.1f} s,", end=" ")
        print(f"RSS {sum(cycle.rss_mib.values())} MiB ({said})", flush=True)
    with _load(chosen.hogs):
        cycles = [_told(number, _cycle(Parts.ALL, kill=number % 2 == 1)) for number in range(chosen.cycles)]
    if cycles:
        ready = sorted(each.ready_seconds for each in cycles)
        print(
            f"{len(ready)} cycles of everything beside {chosen.hogs} hogs: ready {ready[0]:.1f} to {ready[-1]:.1f} s",
            end=" ",
        )
        print(f"median {statistics.median(ready):.1f} s; left behind: {sum(len(each.left) for each in cycles)}")
    sys.exit(any(each.left for each in cycles))


def _own(parts: Parts) -> None:
    """Be the owner: say what there is, and end when told to."""
    started = time.monotonic()
    with ControlPlane(find_tools(os.environ), parts) as plane:
        ready = time.monotonic() - started
        ports = sorted(plane.site.ports.taken())
        print(
            json.dumps({"ready": ready, "folder": str(plane.folder), "pids": plane.pids(), "ports": ports}), flush=True
        )
        sys.stdin.readline()


def _cycle(parts: Parts, *, kill: bool) -> Cycle:
    command = [sys.executable, "-m", "benchmarks.control_plane", "--own", str(parts.value)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        told = json.loads(owner.stdout.readline())
        rss = {name: _rss_mib(pid) for name, pid in told["pids"].items()}
        stopped = time.monotonic()
        if kill:
            owner.send_signal(signal.SIGKILL)
        else:
            owner.stdin.write("end\n")
            owner.stdin.flush()
        owner.wait()
    left = _left(told["pids"], told["ports"], Path(told["folder"]))
    return Cycle(told["ready"], time.monotonic() - stopped, rss, left)


def _left(pids: dict[str, int], ports: Sequence[int], folder: Path) -> tuple[str, ...]:
    """What is still there when a killed owner's supervisor has had its time, too."""

    def found() -> list[str]:
        return [
            *(f"process {name}" for name, pid in pids.items() if _runs(pid)),
            *(f"port {port}" for port in ports if _answers(port)),
            *([f"folder {folder}"] if folder.exists() else []),
        ]

    try:
        wait(lambda: not found(), "everything to be gone", GONE_SECONDS)
    except NotSeen:
        return tuple(found())
    return ()


@contextmanager
def _load(hogs: int) -> Generator[None]:
    """Processes that take what processor time they can get."""
    running = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(hogs)]
    for each in running:
        each.start()
    try:
        yield
    finally:
        for each in running:
            each.kill()


def _burn() -> None:
    while True:
        sum(range(10_000))


def _told(number: int, cycle: Cycle) -> Cycle:
    how = "killed" if number % 2 else "closed"
    left = ", ".join(cycle.left) or "nothing"
    print(f"  {number + 1}: ready in {cycle.ready_seconds:.1f} s, {how}, left behind: {left}", flush=True)
    return cycle


def _name(parts: Parts) -> str:
    return " + ".join(["core", *(str(each.name).lower() for each in parts)])


def _rss_mib(pid: int) -> int:
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout  # noqa: S607
    return int(said) // MIB


def _runs(pid: int) -> bool:
    """A zombie does not: it waits for whoever reaps orphans on this machine."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout  # noqa: S607
    return bool(said.strip()) and not said.strip().startswith("Z")


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
