"""The command: what it is told wrongly ends with 2 and a sentence, never with a traceback."""

import http.client
import json
import logging
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog

from spotproof.controller.__main__ import main
from spotproof.controller.cache import Cache, Key
from spotproof.controller.exposition import Exposition
from spotproof.controller.kinds import JOBSET, RUN
from spotproof.controller.serving import Address, Answer, Server, parse_address
from spotproof.controller.work_queue import WorkQueue
from spotproof.kube.waiting import wait


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """The command says where its lines go, which is for its own process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "kubeconfig"
    file.write_text(
        json.dumps(
            {
                "current-context": "here",
                "contexts": [{"name": "here", "context": {"cluster": "here", "user": "ada"}}],
                "clusters": [{"name": "here", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "ada", "user": {"token": "secret"}}],
            }
        ),
        encoding="utf-8",
    )
    return file


def test_a_kubeconfig_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kubeconfig", str(tmp_path / "none")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_a_file_that_is_no_kubeconfig_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("just a text", encoding="utf-8")
    assert main(["--kubeconfig", str(tmp_path / "text")]) == 2
    assert "is no kubeconfig" in capsys.readouterr().err


def test_a_context_that_is_not_there_is_named(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kubeconfig", str(kubeconfig), "--context", "elsewhere"]) == 2
    assert "elsewhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--listen", "8081"], ["--workers", "0"], ["--workers", "many"], ["--log-level", "x"]]
)
def test_an_option_that_is_wrong_is_told_with_one_that_is_right(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert words[0] in capsys.readouterr().err


@contextmanager
def run(kubeconfig: Path, listen: str = "127.0.0.1:0") -> Generator["subprocess.Popen[str]"]:
    """The command in a process of its own, before an API server that is not there."""
    command = [sys.executable, "-m", "spotproof.controller", "--kubeconfig", str(kubeconfig), "--listen", listen]
    with subprocess.Popen([*command, "--log-level", "error"], stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def watching(process: "subprocess.Popen[str]") -> int:
    """The process that watches for this one."""
    found = wait(lambda: children(process.pid), "it to watch", 30)
    (watches,) = found
    return watches


def children(pid: int) -> list[int]:
    """Of a process, those that it has started."""
    return [
        int(pid)
        for pid in subprocess.run(
            ["/usr/bin/env", "pgrep", "-P", str(pid)], capture_output=True, check=False
        ).stdout.split()
    ]


def is_there(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_address_that_is_taken_is_a_sentence(kubeconfig: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with run(kubeconfig, address) as process:
            _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (
        2,
        f"spotproof.controller: cannot listen on {address}: Address already in use\n",
    )


def test_who_watches_ends_with_who_decides(kubeconfig: Path) -> None:
    with run(kubeconfig) as process:
        watches = watching(process)
        process.kill()
        wait(lambda: not is_there(watches), "the watches to end", 30)


def test_who_decides_ends_with_who_watches(kubeconfig: Path) -> None:
    with run(kubeconfig) as process:
        os.kill(watching(process), signal.SIGKILL)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert '"parts": ["watches"]' in said


def test_told_to_end_both_end_well(kubeconfig: Path) -> None:
    with run(kubeconfig) as process:
        watches = watching(process)
        process.terminate()
        assert process.wait(30) == 0
    assert not is_there(watches)


@pytest.mark.parametrize(
    ("text", "address"),
    [("0.0.0.0:80", ("0.0.0.0", 80)), (":8081", ("0.0.0.0", 8081)), ("[::1]:9", ("::1", 9))],  # noqa: S104
)
def test_addresses_are_read_as_people_write_them(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.fixture(scope="module")  # its end takes a second, the time between two looks of the thread that serves
def server() -> Iterator[Server]:
    paths = {"/yes": lambda: Answer(ok=True, body=b"yes"), "/no": lambda: Answer(ok=False, body=b"no")}
    server = Server(Address("127.0.0.1", 0), paths)
    yield server
    server.close()


def test_a_probe_that_hangs_up_leaves_no_traceback(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed by a reset
        probe.send(b"GET /yes HT")
    wait(lambda: not any("process_request" in each.name for each in threading.enumerate()), "the answer to end", 10)

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("path", "status"), [("/yes", 200), ("/yes?verbose", 200), ("/no", 503), ("/else", 404)])
def test_whoever_asks_is_answered_by_the_path(server: Server, path: str, status: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path)
    assert connection.getresponse().status == status
    connection.close()


def test_metrics_tell_looks_watches_moves_jobs_and_the_queue() -> None:
    cache = Cache()
    queue: WorkQueue[Key] = WorkQueue(clock=lambda: 100.0, jitter=lambda: 0.0)
    metrics = Exposition(cache, queue)
    for number, phase in enumerate(("Running", "Running", "Waiting")):
        run = {"metadata": {"name": str(number), "namespace": "team"}, "spec": {}, "status": {"phase": phase}}
        cache.put(RUN, run)
    queue.add(Key("JobSet", "team", "a"))
    metrics.reconciled("JobSet", "done", 0.25)
    metrics.listed(JOBSET, 3, 0.1)
    metrics.watch_ended(JOBSET, "silent")
    metrics.moved("JobSet", "maxFailures")
    metrics.interrupted("JobSet", "eviction")
    page = metrics.page().decode()
    for line in (
        'spotproof_reconciles_total{kind="JobSet",outcome="done"} 1.0',
        'spotproof_reconcile_seconds_sum{kind="JobSet"} 0.25',
        'spotproof_watch_restarts_total{kind="JobSet",why="silent"} 1.0',
        'spotproof_moves_total{kind="JobSet",reason="maxFailures"} 1.0',
        'spotproof_interruptions_total{cause="eviction",kind="JobSet"} 1.0',
        'spotproof_jobs{phase="Running"} 2.0',
        'spotproof_jobs{phase="Waiting"} 1.0',
        'spotproof_queue_jobs{state="ready"} 1.0',
    ):
        assert line in page.splitlines()
