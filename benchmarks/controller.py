"""`python -m benchmarks.controller`: what the controller takes and how fast it is, beside an API server that replays.

The API server is a process of its own (benchmarks/replay), so that the controller is measured and not what else makes
a cluster. It plays the recorded story of tests/recordings/jobset-reclaim.json for every job: a gang of eight pods of
two roles on two nodes that Karpenter made. While nothing happens to the jobs, the kubelets of all 20,000 nodes report
as they do (every 5 min each), and the lease is kept. The controller is the command as it runs in a cluster.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from benchmarks.measure import machine
from benchmarks.pages import between, table
from benchmarks.replay.world import namespace_of
from spotproof.kube.waiting import wait
from spotproof.prices import load_prices
from spotproof.rehearsal.certificates import Certificates
from spotproof.rehearsal.scene import policies
from spotproof.settings import load_stack, read_stack_file
from spotproof.vocabulary import WORKSPACE_LABEL
from tests.conftest import ROOT

STACK: Final = ROOT / "stacks" / "Pulumi.aws-prod.yaml"
PAGE: Final = ROOT / "docs" / "performance.md"
JOBS: Final = 10_000
IDLE_SECONDS: Final = 60
PODS_OF_A_NODE: Final = 4
"""Of the recorded gang, on the node that is taken."""
EVICTIONS_A_SECOND: Final = 100
"""Pods that are evicted."""
MORE_A_SECOND: Final = 200
"""Beyond what is wanted: where it leads."""
EVICTION_SECONDS: Final = 60
START_SECONDS: Final = 1_800
SETTLED_SECONDS: Final = 10
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Taken(NamedTuple):
    """What processes have taken so far. Memory that they share is counted once; the peak is of each by itself."""

    cpu_seconds: float
    pss_mb: float
    peak_mb: float


def main() -> None:
    """Measure, print, and with --write put it into docs/performance.md."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=JOBS)
    options.add_argument("--idle", type=int, default=IDLE_SECONDS, help="seconds")
    options.add_argument("--evictions", type=int, default=EVICTION_SECONDS, help="seconds; 0 for none")
    options.add_argument("--write", action="store_true", help="into docs/performance.md")
    chosen = options.parse_args()
    print(f"{machine()}, load of the machine before: {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="spotproof-replay-") as folder, ExitStack() as stack:
        server = stack.enter_context(_server(Path(folder), chosen.jobs))
        rows = [*_adopted(server, Path(folder)), *_quiet(server, Path(folder), chosen.idle, chosen.evictions)]
    text = f"Measured on {machine()}, {chosen.jobs:,} jobs.\n\n{table(('what', 'figure', 'wanted'), rows)}"
    print(text)
    if chosen.write:
        between(PAGE, text, "controller")


class _Server:
    """The replaying API server's process."""

    def __init__(self, process: "subprocess.Popen[str]", kubeconfig: Path) -> None:
        self._process = process
        self.kubeconfig = kubeconfig

    def ask(self, **what: Any) -> Any:
        """Have it do something; returns what it says when that is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(what)}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def _server(folder: Path, jobs: int) -> Generator[_Server]:
    certificates = Certificates(folder / "certificates")
    tls = certificates.server("replay")
    objects = folder / "objects.json"
    objects.write_text(json.dumps(_objects(jobs)), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.replay.server", "--jobs", str(jobs), "--objects", str(objects)]
    command += ["--certificate", str(tls / "tls.crt"), "--key", str(tls / "tls.key")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        kubeconfig = folder / "kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(certificates.authority)}
        kubeconfig.write_text(
            json.dumps(
                {
                    "current-context": "replay",
                    "contexts": [{"name": "replay", "context": {"cluster": "replay", "user": "replay"}}],
                    "clusters": [{"name": "replay", "cluster": cluster}],
                    "users": [{"name": "replay", "user": {"token": "replay"}}],
                }
            ),
            encoding="utf-8",
        )
        try:
            yield _Server(process, kubeconfig)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def _objects(jobs: int) -> list[Any]:
    env = load_stack(read_stack_file(STACK), today=date(2026, 11, 1), source=STACK.name)
    spaces = sorted({namespace_of(number) for number in range(jobs)})
    named = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {WORKSPACE_LABEL: name}}}
        for name in spaces
    ]
    return [_made(number, thing) for number, thing in enumerate([*policies(env, load_prices()), *named])]


def _made(number: int, thing: Any) -> Any:
    """As an API server would have it, which gives everything a uid."""
    return {**thing, "metadata": {**thing["metadata"], "uid": f"a1b6-{number:04}"}}


class _Controller:
    """The controller's process."""

    def __init__(self, server: _Server, folder: Path) -> None:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            self._port = int(listening.getsockname()[1])
        self._log = (folder / f"controller-{self._port}.log").open("w", encoding="utf-8")
        command = [sys.executable, "-m", "spotproof.controller", "--kubeconfig", str(server.kubeconfig)]
        command += ["--listen", f"127.0.0.1:{self._port}"]
        self._process = subprocess.Popen(command, stderr=self._log, cwd=folder)
        self.started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._log.close()

    def page(self, path: str) -> str:
        """What it says there; nothing where it does not answer well."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=10) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, TimeoutError):
            return ""

    def settled(self) -> float:
        """Wait until it has seen everything and nothing is left to do. Returns the seconds since its start."""
        last = [0.0, time.monotonic()]

        def quiet() -> bool:
            assert self._process.poll() is None, Path(self._log.name).read_text("utf-8")[-2000:]
            page = self.page("/metrics") if self.page("/readyz") else ""
            looks = sum(_values(page, "spotproof_reconciles_total"))
            if looks != last[0] or sum(_values(page, 'spotproof_queue_jobs{state="ready"}')):
                last[:] = [looks, time.monotonic()]
            return looks > 0 and time.monotonic() - last[1] > SETTLED_SECONDS

        wait(quiet, "the controller to have nothing to do", START_SECONDS)
        return last[1] - self.started

    def taken(self) -> Taken:
        """What it has taken until now: who decides, and who watches."""
        each = [_taken(pid) for pid in (self._process.pid, *_children(self._process.pid))]
        print(f"of each process: {each}", flush=True)
        return Taken(*map(sum, zip(*each, strict=True)))


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()]


def _taken(pid: int) -> Taken:
    process = Path(f"/proc/{pid}")
    stat = (process / "stat").read_text("utf-8").rpartition(")")[2].split()
    said = [line.split() for file in ("status", "smaps_rollup") for line in (process / file).read_text().splitlines()]
    # the kernel's kB are KiB
    mb = {words[0]: int(words[1]) * 1024 / 1e6 for words in said if words[-1:] == ["kB"]}
    return Taken((int(stat[11]) + int(stat[12])) / TICKS, mb["Pss:"], mb["VmHWM:"])


def _of_the_machine() -> tuple[int, int]:
    """Ticks of all cores since the machine's start, and those of them that its host gave to others (man proc_stat)."""
    ticks = [int(each) for each in Path("/proc/stat").read_text("utf-8").splitlines()[0].split()[1:9]]
    return sum(ticks), ticks[7]


def _values(page: str, name: str) -> list[float]:
    return [float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name)]


def _adopted(server: _Server, folder: Path) -> list[tuple[str, str, str]]:
    """The first start: a TrainingRun is made for every job."""
    with _Controller(server, folder) as controller:
        seconds = controller.settled()
        taken = controller.taken()
        calls = server.ask()["requests"]
    said = f"{seconds:.0f} s, {taken.cpu_seconds:.0f} s of a core, {calls:,} calls, at most {taken.peak_mb:.0f} MB"
    print(f"adopted: {said}", flush=True)
    return [("first start: every job gets its TrainingRun", said, "")]


def _quiet(server: _Server, folder: Path, idle: int, evictions: int) -> list[tuple[str, str, str]]:
    """A start beside jobs that are known, a quiet time, and evictions."""
    with _Controller(server, folder) as controller:
        seconds = controller.settled()
        before = controller.taken()
        print(f"settled: {seconds:.0f} s, {before}", flush=True)
        beats = server.ask(heartbeats=idle)["told"]
        after = controller.taken()
        share = 100 * (after.cpu_seconds - before.cpu_seconds) / idle
        start = f"{seconds:.0f} s, {before.cpu_seconds:.0f} s of a core"
        quiet = f"CPU of a quiet {idle} s, in which kubelets report {beats / idle:.0f} times a second"
        rows = [
            ("a later start, until nothing is to be done", start, ""),
            ("memory, quiet", f"{after.pss_mb:.0f} MB (at most {after.peak_mb:.0f}, at the start)", "400 MB"),
            (quiet, f"{share:.1f} % of a core", "2 %"),
        ]
        print(f"idle: {rows}", flush=True)
        if not evictions:
            return rows
        wanted = _evicted(server, controller, evictions, 0, EVICTIONS_A_SECOND, "1 s")
        controller.settled()
        first = evictions * EVICTIONS_A_SECOND // PODS_OF_A_NODE
        return [*rows, *wanted, *_evicted(server, controller, evictions, first, MORE_A_SECOND, "")]


def _evicted(  # noqa: PLR0913, PLR0917  # who, how long, from which job on, how fast, and what is wanted
    server: _Server, controller: _Controller, seconds: int, first: int, a_second: int, wanted: str
) -> list[tuple[str, str, str]]:
    before, machine_before = controller.taken(), _of_the_machine()
    nodes = a_second / PODS_OF_A_NODE
    told = server.ask(reclaim=first, count=int(seconds * nodes), a_second=nodes)
    after, waits = controller.taken(), told["waits"]
    ticks, stolen = (now - then for now, then in zip(_of_the_machine(), machine_before, strict=True))
    if not waits:
        raise RuntimeError(
            "no eviction was answered: the controller does not manage these jobs, and nothing was measured"
        )
    share = 100 * (after.cpu_seconds - before.cpu_seconds) / told["took_seconds"]
    parts = [waits[int(len(waits) * rank)] for rank in (0.5, 0.99)]
    said = f"{1000 * parts[0]:.0f} ms, 99th percentile {1000 * parts[1]:.0f} ms, {told['unanswered']} without"
    print(f"evictions: {said}; {told['evictions']} of {told['jobs']} jobs in {told['told_seconds']:.0f} s", flush=True)
    what = f"{a_second} pods evicted a second for {seconds} s, {nodes:.0f} nodes of as many gangs"
    return [
        (f"{what}: from the event to the first patch", said, wanted),
        ("the same: CPU, memory at most", f"{share:.0f} % of a core, {after.peak_mb:.0f} MB", ""),
        ("the same: time of the machine that its host gave to others", f"{100 * stolen / ticks:.0f} %", ""),
    ]


if __name__ == "__main__":
    main()
