"""A Ray cluster of real processes on this machine, whose nodes come and go as pods of KubeRay do.

Each node is what a pod runs, `ray start --block`, in a folder of its own. A node that is lost gets SIGKILL, all of its
processes at once; one that is reclaimed gets SIGTERM, on which Ray drains it. A new one takes its place.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

MARK: Final = "SPOTPROOF_RESUME_NODE"
"""Set in every process of a node, and inherited: so one that began a session of its own is found. Ray's agents write
their titles over it (setproctitle); those stay in the session of `ray start`."""

OBJECT_STORE_BYTES: Final = 80_000_000
"""Ray's smallest is 75 MiB."""

HEADS: Final = 4
"""Tries to start one."""

PORTS: Final = (
    "dashboard-port",
    "dashboard-agent-listen-port",
    "dashboard-agent-grpc-port",
    "metrics-export-port",
    "runtime-env-agent-port",
)
"""Each node's own."""

COMMON: Final[Mapping[str, str]] = {
    "OMP_NUM_THREADS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_COLOR_PREFIX": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    # a busy machine is slow to start a node, and slow to answer
    "RAY_DASHBOARD_STARTUP_TIMEOUT_S": "180",
    "RAY_gcs_server_request_timeout_seconds": "120",
    "RAY_health_check_timeout_ms": "60000",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "180",
    "RAY_enable_worker_prestart": "0",
    "PYTHONUNBUFFERED": "1",
}


@dataclass
class Node:
    """A pod: its first process, and the mark that all of its processes carry."""

    mark: str
    process: subprocess.Popen[bytes]
    folder: Path

    def processes(self) -> list[int]:
        """Every live process of the node."""
        return sorted({*(pid for pid, mark in marked() if mark == self.mark), *of_sessions(self.process.pid)})

    def kill(self) -> None:
        """The machine is gone: no process of it gets to do anything more."""
        for process in self.processes():
            end(process, signal.SIGKILL)
        self.process.wait()
        # what was started between the look and the kill
        while left := self.processes():
            for process in left:
                end(process, signal.SIGKILL)


@dataclass
class Cluster:
    """A head without room for training, and workers with room for one training process each.

    Args:
        binaries: The folder of `ray` and `python`.
        environ: What every pod is told, beside what Ray needs here.
        workers: How many there are from the start.
        drain_seconds: How long Ray drains a node after SIGTERM (RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S).
    """

    binaries: Path
    environ: Mapping[str, str]
    workers: int = 2
    drain_seconds: float = 6.0
    started: int = 0
    """Workers so far."""
    name: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    nodes: list[Node] = field(default_factory=list[Node])
    head: Node | None = None
    address: str = ""
    ended: bool = False
    # sockets lie below, and the path of one may have 107 bytes
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="rt-", dir="/tmp")))

    def __enter__(self) -> Self:
        try:
            self.head = self._up()
            for _ in range(self.workers):
                self.add_worker()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def add_worker(self) -> Node:
        """A new worker pod; it is in the cluster some seconds later."""
        node = self._start(f"worker-{self.started}", [f"--address={self.address}", "--num-cpus=1"])
        self.nodes.append(node)
        self.started += 1
        return node

    def lose(self, node: Node) -> None:
        """The node is gone without a word."""
        node.kill()
        self.nodes.remove(node)

    def replace_failed(self, but: Container[Node]) -> None:
        """A pod whose first process ended by itself is made again, as KubeRay does."""
        for node in [each for each in self.nodes if each not in but and each.process.poll() is not None]:
            self.lose(node)
            self.add_worker()

    def reclaim(self, node: Node) -> None:
        """The node is told to go; `gone` says when it is."""
        node.process.send_signal(signal.SIGTERM)

    def gone(self, node: Node) -> bool:
        """Whether a reclaimed node has ended; then its pod is removed."""
        if node.process.poll() is None:
            return False
        self.lose(node)
        return True

    def start_driver(self, program: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        """Run a program on the head, as the job's supervisor does; its lines go to `log`, those of its workers too."""
        with log.open("ab") as lines:
            return subprocess.Popen(
                [self.binaries / "python", *program],
                env={**self._environ("driver"), "RAY_ADDRESS": self.address},
                stdout=lines,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def end(self) -> None:
        """Everything is gone at once, the driver too; what they wrote can still be read."""
        self.ended = True
        while left := self._processes():
            for process in left:
                end(process, signal.SIGKILL)
            time.sleep(0.05)

    def stop(self) -> None:
        """Take the cluster away, as deleting a RayCluster does, and wait until nothing of it is left."""
        self.end()
        for node in [*self.nodes, *([self.head] if self.head else [])]:
            node.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def remains(self) -> list[int]:
        """Processes that know the cluster's folder, or are in a node's session: after `stop` there must be none."""
        knowing = {pid for pid, words in _everywhere("cmdline") if f"{self.folder}/".encode() in words}
        return sorted(knowing | self._processes())

    def _processes(self) -> set[int]:
        leaders = [node.process.pid for node in (*self.nodes, self.head) if node is not None]
        return {*(pid for pid, mark in marked() if mark.startswith(f"{self.name}/")), *of_sessions(*leaders)}

    def _environ(self, node: str) -> dict[str, str]:
        return {
            **os.environ,
            **COMMON,
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": str(self.drain_seconds),
            "PATH": f"{self.binaries}:{os.environ['PATH']}",
            **self.environ,
            MARK: f"{self.name}/{node}",
        }

    def _start(self, name: str, options: Sequence[str]) -> Node:
        folder = self.folder / name
        folder.mkdir()
        with (folder / "ray-start.log").open("wb") as lines:
            process = subprocess.Popen(
                [
                    self.binaries / "ray",
                    "start",
                    "--block",
                    "--disable-usage-stats",
                    f"--temp-dir={folder}",
                    f"--object-store-memory={OBJECT_STORE_BYTES}",
                    # With 0 a raylet waits 15 s for its agents to say theirs, and dies without.
                    *(f"--{name}={port}" for name, port in zip(PORTS, free_ports(len(PORTS)), strict=True)),
                    "--min-worker-port=0",
                    "--max-worker-port=0",
                    *options,
                ],
                env=self._environ(name),
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Node(f"{self.name}/{name}", process, folder)

    def _up(self) -> Node:
        """A head that runs. One that Ray gave up on, as it does after 30 s on a busy machine, is made again.

        Raises:
            RuntimeError: So were all of them.
        """
        said = ""
        for number in range(HEADS):
            port, client = free_ports(2)
            options = [f"--port={port}", f"--ray-client-server-port={client}"]
            head = self._start(f"head-{number}", [*options, "--head", "--include-dashboard=false", "--num-cpus=0"])
            log = head.folder / "ray-start.log"
            while head.process.poll() is None:
                if b"Ray runtime started" in log.read_bytes():
                    self.address = f"127.0.0.1:{port}"
                    return head
                time.sleep(0.1)
            head.kill()
            said = log.read_text()[-2000:]
        raise RuntimeError(f"no Ray head came up: {said}")


def marked() -> Iterator[tuple[int, str]]:
    """Every live process of any such cluster, with its mark."""
    for pid, words in _everywhere("environ"):
        for variable in words.split(b"\0"):
            if variable.startswith(MARK.encode() + b"="):
                yield pid, variable.decode().partition("=")[2]


def of_sessions(*leaders: int) -> Iterator[int]:
    """Every live process of these sessions, their leaders too."""
    for pid, stat in _everywhere("stat"):
        # proc_pid_stat(5): the name, in parentheses, may hold anything; then state, parent, group and session
        state, _, _, number = stat.rpartition(b")")[2].split()[:4]
        if int(number) in leaders and state != b"Z":
            yield pid


def _everywhere(what: str) -> Iterator[tuple[int, bytes]]:
    """One file of /proc for every process that can be read. Of a zombie it is empty."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            yield int(entry.name), (entry / what).read_bytes()
        except OSError:  # ended meanwhile, or somebody else's
            continue


def end(process: int, by: signal.Signals) -> None:
    """Send a signal to a process that may have ended by itself."""
    try:
        os.kill(process, by)
    except ProcessLookupError:
        return


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
