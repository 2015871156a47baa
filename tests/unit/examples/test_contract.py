"""What a training program is told, when it saves, and what it tells the controller."""

import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
import trustme

from examples import contract
from examples.contract import Run, Saves, report_progress
from spotproof.controller.annotations import parse_progress
from spotproof.vocabulary import PROGRESS_ANNOTATION
from tests.clock import Clock
from tests.conftest import ROOT

TOLD: Final = {
    "CHECKPOINT_URI": "s3://team/research/llama/",
    "SPOTPROOF_RUN": "llama",
    "SPOTPROOF_ATTEMPT": "2",
    "SPOTPROOF_COORDINATOR": "llama-worker-0-0.llama",
    "SPOTPROOF_PODS": "4",
    "JOB_COMPLETION_INDEX": "3",
    "SPOTPROOF_CHECKPOINT_SECONDS": "600",
    "SPOTPROOF_NOTICE_SECONDS": "98",
}
RUN: Final = Run("llama", "s3://team/research/llama", "2", 3, 4, "llama-worker-0-0.llama", 600.0, 98.0)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    def tell(**variables: str) -> Run:
        for name in TOLD:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Run.from_environment()

    return tell


def test_a_run_is_what_the_pod_was_told_and_its_place_ends_without_a_slash(told: Callable[..., Run]) -> None:
    assert told(**TOLD) == RUN


def test_by_hand_a_place_to_save_is_all_that_is_needed(told: Callable[..., Run]) -> None:
    run = told(CHECKPOINT_URI="file:///tmp/here")
    assert run == Run("run", "file:///tmp/here", "0", 0, 1, "localhost", 900.0, 15.0)


@pytest.mark.parametrize("variables", [{}, {"CHECKPOINT_URI": ""}])
def test_without_a_place_to_save_nothing_is_begun(variables: dict[str, str], told: Callable[..., Run]) -> None:
    with pytest.raises(SystemExit, match="CHECKPOINT_URI is not set"):
        told(**variables)


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def saves(clock: Clock) -> Iterator[Saves]:
    before = signal.getsignal(signal.SIGTERM)
    yield Saves(RUN, steps=50, clock=clock)
    signal.signal(signal.SIGTERM, before)


def test_a_save_is_due_after_so_many_steps(saves: Saves) -> None:
    assert [step for step in range(101) if saves.due(step)] == list(range(50, 101))
    saves.saved(50, 1.0)
    assert [step for step in range(50, 101) if saves.due(step)] == [100]


def test_a_save_is_due_after_so_many_seconds_however_few_steps_were_done(saves: Saves, clock: Clock) -> None:
    clock.now += 599.9
    assert not saves.due(1)
    clock.now += 0.1
    assert saves.due(1)
    saves.saved(1, 5.0)
    assert not saves.due(2)


def test_steps_and_seconds_are_counted_from_the_checkpoint_that_was_read(saves: Saves, clock: Clock) -> None:
    clock.now += 700  # a large checkpoint takes its time
    saves.resumed(120)
    assert not saves.due(169)
    assert saves.due(170)


def test_sigterm_is_heard_once_and_ends_nothing(saves: Saves, clock: Clock) -> None:
    assert not saves.told
    signal.raise_signal(signal.SIGTERM)
    clock.now += 30
    signal.raise_signal(signal.SIGTERM)
    assert saves.told
    assert saves.told_at == 1000.0


def test_a_save_fits_while_half_as_much_again_as_the_longest_is_left(saves: Saves, clock: Clock) -> None:
    saves.saved(50, 40.0)
    saves.saved(100, 10.0)
    assert saves.fits()
    saves.tell(98)
    clock.now += 37.9
    assert saves.fits()
    clock.now += 0.1
    assert not saves.fits()


def test_what_a_framework_says_of_its_node_counts_as_sigterm_and_the_soonest_end_of_several(
    saves: Saves, clock: Clock
) -> None:
    saves.saved(50, 10.0)
    saves.tell(30)
    saves.tell(60)
    clock.now += 14.9
    assert saves.told
    assert saves.fits()
    clock.now += 0.1
    assert not saves.fits()


def test_a_save_longer_than_the_notice_fits_on_no_process_told_or_not(saves: Saves) -> None:
    saves.saved(50, 98.0)
    assert not saves.fits()


def test_a_first_save_is_tried_while_there_is_time_at_all(saves: Saves, clock: Clock) -> None:
    saves.tell(98)
    assert saves.fits()
    clock.now += 98
    assert not saves.fits()


def test_in_a_thread_no_signal_is_asked_for_and_the_framework_tells(clock: Clock) -> None:
    before = signal.getsignal(signal.SIGTERM)
    made: list[Saves] = []
    thread = threading.Thread(target=lambda: made.append(Saves(RUN, steps=50, clock=clock)))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) == before
    made[0].tell(20)
    assert made[0].told


LEAVES: Final = """
import threading
from contract import Run, Saves
saves = Saves(Run("run", "file:///tmp", "0", 0, 1, "localhost", 1, 1), 1)
threading.Thread(target=threading.Event().wait).start()
print("saved step 7", end="")
saves.leave()
"""


def test_whoever_leaves_is_gone_at_once_with_143_and_what_it_said_is_there() -> None:
    """A thread that waits for other processes, which may be gone, does not keep it."""
    left = subprocess.run(
        [sys.executable, "-c", LEAVES], cwd=ROOT / "examples", capture_output=True, text=True, timeout=60, check=False
    )
    assert (left.returncode, left.stdout, left.stderr) == (143, "saved step 7", "")


@dataclass
class Server:
    """The API server of a cluster, as a pod sees it; `status` is what it answers with, None for no answer at all."""

    account: Path
    status: int | None = 200
    asked: list[tuple[str, str, dict[str, str], Any]] = field(
        default_factory=list[tuple[str, str, dict[str, str], Any]]
    )


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    known = Server(tmp_path)

    class Handler(BaseHTTPRequestHandler):
        def do_PATCH(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known.asked.append((self.command, self.path, {key: str(self.headers[key]) for key in self.headers}, body))
            if known.status is None:
                self.wfile.write(b"not HTTP\r\n\r\n")
                return
            self.send_response(known.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's own name
            del format, args

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    (tmp_path / "namespace").write_text("research")
    (tmp_path / "token").write_text("first")
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("kubernetes.default.svc").configure_cert(trust)
    listening = HTTPServer(("127.0.0.1", 0), Handler)
    listening.socket = trust.wrap_socket(listening.socket, server_side=True)
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()

    connect = socket.create_connection

    def here(address: tuple[str, int], *args: Any, **more: Any) -> socket.socket:
        assert address == ("kubernetes.default.svc", 443)
        return connect(("127.0.0.1", listening.server_port), *args, **more)

    monkeypatch.setattr(socket, "create_connection", here)
    monkeypatch.setattr(contract, "ACCOUNT", tmp_path)
    yield known
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_progress_is_the_one_annotation_of_the_jobs_own_training_run(server: Server) -> None:
    report_progress(RUN, 5400.7)

    ((method, path, headers, body),) = server.asked
    assert method == "PATCH"
    assert path == "/apis/spotproof.dev/v1alpha1/namespaces/research/trainingruns/llama"
    assert headers["Content-Type"] == "application/merge-patch+json"
    assert body == {"metadata": {"annotations": {PROGRESS_ANNOTATION: "5400"}}}
    assert parse_progress("5400") == 5400


def test_the_token_is_read_at_each_report_as_kubernetes_replaces_it(server: Server) -> None:
    report_progress(RUN, 1)
    (server.account / "token").write_text("second")
    report_progress(RUN, 2)
    assert [asked[2]["Authorization"] for asked in server.asked] == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize(("status", "says"), [(404, "404"), (403, "403"), (500, "500"), (None, "not HTTP")])
def test_an_answer_that_is_no_success_is_told_and_ends_nothing(
    status: int | None, says: str, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.status = status
    report_progress(RUN, 1)
    told = capsys.readouterr().err
    assert told.startswith("progress was not reported: ")
    assert says in told


def test_a_server_that_the_cluster_did_not_sign_is_told_nothing(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    trustme.CA().cert_pem.write_to_path(server.account / "ca.crt")
    report_progress(RUN, 1)
    assert server.asked == []
    assert "progress was not reported" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["namespace", "token", "ca.crt"])
def test_an_account_that_is_half_there_ends_nothing(
    missing: str, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    (server.account / missing).unlink()
    report_progress(RUN, 1)
    assert server.asked == []
    assert "progress was not reported" in capsys.readouterr().err


def test_outside_a_cluster_nobody_is_asked_and_nothing_is_said(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(contract, "ACCOUNT", server.account / "none")
    report_progress(RUN, 1)
    assert server.asked == []
    assert capsys.readouterr().err == ""
