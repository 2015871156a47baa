"""The fault proxy between a client and a small HTTPS server in place of Kubernetes, all on the loopback address."""

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

from spotproof.kube.client import Kube, Refused, Unreachable
from spotproof.kube.watching import Watch
from spotproof.rehearsal.certificates import Certificates
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.faults import Call, Fault

KINDS: Final = {
    "/api/v1": [
        {"name": "pods", "kind": "Pod", "namespaced": True},
        {"name": "pods/status", "kind": "Pod", "namespaced": True},
    ],
    "/apis/coordination.k8s.io/v1": [{"name": "leases", "kind": "Lease", "namespaced": True}],
}
POD: Final[dict[str, Any]] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "team"}}
WITHIN_SECONDS: Final = 10


class Kubernetes(BaseHTTPRequestHandler):
    """Discovery, a pod that is whatever is asked for, and a watch that delivers what the test releases."""

    protocol_version = "HTTP/1.1"
    asked: list[str]
    released: threading.Semaphore

    def _reply(self) -> None:
        path, _, query = self.path.partition("?")
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "watch=true" in query:
            self._watched()
            return
        if path not in KINDS:
            type(self).asked.append(f"{self.command} {path}")
        text = json.dumps({"resources": KINDS[path]} if path in KINDS else POD).encode()
        self.send_response(200)
        self.send_header("Warning", '299 - "careful"')
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _watched(self) -> None:
        type(self).asked.append(f"WATCH in {self.request_version}")
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        for version in range(1, 100):
            if not type(self).released.acquire(timeout=WITHIN_SECONDS):
                return
            pod = {**POD, "metadata": {**POD["metadata"], "uid": "1", "resourceVersion": str(version)}}
            self.wfile.write(json.dumps({"type": "MODIFIED", "object": pod}).encode() + b"\n")

    do_GET = do_POST = do_PATCH = do_DELETE = _reply  # noqa: N815  # the standard library's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the standard library's name
        """Nothing."""


class Behind:
    """A proxy in front of a server, and whoever may ask through it."""

    def __init__(self, folder: Path, proxy: FaultProxy, certificates: Certificates, server: type[Kubernetes]) -> None:
        self.proxy = proxy
        self.server = server
        self._folder = folder
        self._certificates = certificates

    @property
    def asked(self) -> list[str]:
        """What came to the server, discovery left out."""
        return self.server.asked

    def client(self, user: str = "controller") -> Kube:
        """A client that goes through the proxy."""
        folder = _user(self._certificates, self._folder, user)
        return Kube(self.proxy.address, self._certificates.authority, folder / "tls.crt", folder / "tls.key")


def _user(certificates: Certificates, folder: Path, name: str) -> Path:
    into = folder / f"user-{name}"
    into.mkdir(exist_ok=True)
    certificate, key = certificates.user(name)
    (into / "tls.crt").write_bytes(certificate)
    (into / "tls.key").write_bytes(key)
    return into


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    certificates = Certificates(tmp_path / "certificates")
    handler = type("Handler", (Kubernetes,), {"asked": [], "released": threading.Semaphore(0)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    own = certificates.server("kubernetes")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own / "tls.crt", own / "tls.key")
    context.load_verify_locations(certificates.authority)
    context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    proxy = FaultProxy(
        f"https://127.0.0.1:{server.server_port}",
        authority=certificates.authority,
        server=certificates.server("proxy"),
        client=_user(certificates, tmp_path, "controller"),
        user="controller",
    )
    with proxy:
        yield Behind(tmp_path, proxy, certificates, handler)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("method", "target", "said"),
    [
        ("GET", "/api/v1/pods?limit=5", "list pods"),
        ("GET", "/api/v1/nodes/a", "get nodes"),
        ("GET", "/api/v1/namespaces", "list namespaces"),
        ("GET", "/api/v1/namespaces/team", "get namespaces"),
        ("GET", "/apis/batch/v1/namespaces/team/jobs", "list jobs"),
        ("DELETE", "/apis/batch/v1/namespaces/team/jobs/a", "delete jobs"),
        ("PATCH", "/apis/spotproof.dev/v1alpha1/namespaces/team/trainingruns/a/status", "patch trainingruns/status"),
        ("POST", "/apis/events.k8s.io/v1/namespaces/team/events", "create events"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/x/leases/y", "update leases"),
        ("GET", "/apis/batch/v1", "list "),
    ],
)
def test_a_call_is_named_by_its_verb_and_resource(method: str, target: str, said: str) -> None:
    assert Call.of(method, target).said == said


def test_a_call_passes_as_it_is_and_is_kept(behind: Behind) -> None:
    assert behind.client().patch("v1", "Pod", "a", [], "team").warnings == ("careful",)
    assert behind.asked == ["PATCH /api/v1/namespaces/team/pods/a"]
    assert [call.said for call in behind.proxy.calls] == ["patch pods"]


def test_another_user_is_refused_though_the_authority_is_the_same(behind: Behind) -> None:
    with pytest.raises(Refused) as refused:
        behind.client("somebody").get("v1", "Pod", "a", "team")
    assert refused.value.status == 403
    assert behind.asked == []


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        (Fault.CONFLICT, 409, "Conflict"),
        (Fault.TOO_MANY, 429, "TooManyRequests"),
        (Fault.ERROR, 500, "InternalError"),
    ],
)
def test_the_nth_call_that_matches_is_answered_and_not_passed_on(
    behind: Behind, fault: Fault, status: int, reason: str
) -> None:
    client = behind.client()
    trap = behind.proxy.arm(fault, lambda call: call.verb == "patch", 2)
    client.get("v1", "Pod", "a", "team")
    client.patch("v1", "Pod", "a", [], "team")
    with pytest.raises(Refused) as refused:
        client.patch("v1", "Pod", "a", [], "team")
    assert (refused.value.status, refused.value.reason) == (status, reason)
    assert trap.caught is not None
    assert trap.caught.said == "patch pods"
    client.patch("v1", "Pod", "a", [], "team")
    assert [each.split()[0] for each in behind.asked] == ["GET", "PATCH", "PATCH"]


def test_a_write_whose_answer_is_cut_has_happened(behind: Behind) -> None:
    behind.proxy.arm(Fault.CUT)
    with pytest.raises(Unreachable):
        behind.client().patch("v1", "Pod", "a", [], "team")
    assert behind.asked == ["PATCH /api/v1/namespaces/team/pods/a"]


@pytest.mark.parametrize(("fault", "happened"), [(Fault.KILLED_BEFORE, False), (Fault.KILLED_AFTER, True)])
def test_a_call_is_held_until_the_test_has_done_what_it_does(behind: Behind, fault: Fault, *, happened: bool) -> None:
    trap, errors = behind.proxy.arm(fault), list[Exception]()

    def ask() -> None:
        try:
            behind.client().patch("v1", "Pod", "a", [], "team")
        except Unreachable as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert trap.reached(WITHIN_SECONDS)
    assert thread.is_alive()
    assert bool(behind.asked) is happened
    trap.release()
    thread.join(WITHIN_SECONDS)
    assert len(errors) == 1
    assert bool(behind.asked) is happened


def test_a_late_call_is_passed_on_when_it_is_let_go(behind: Behind) -> None:
    trap, client = behind.proxy.arm(Fault.LATE), behind.client()
    thread = threading.Thread(target=lambda: client.patch("v1", "Pod", "a", [], "team"))
    thread.start()
    assert trap.reached(WITHIN_SECONDS)
    assert behind.asked == []
    trap.release()
    thread.join(WITHIN_SECONDS)
    assert behind.asked == ["PATCH /api/v1/namespaces/team/pods/a"]


def test_leases_are_refused_for_as_long_as_it_is_said_and_are_no_call(behind: Behind) -> None:
    client = behind.client()
    behind.proxy.refuses_leases = True
    with pytest.raises(Refused):
        client.get("coordination.k8s.io/v1", "Lease", "a", "team")
    behind.proxy.refuses_leases = False
    client.get("coordination.k8s.io/v1", "Lease", "a", "team")
    assert behind.proxy.calls == ()


def test_nothing_is_spoilt_any_more_once_it_is_disarmed(behind: Behind) -> None:
    behind.proxy.arm(Fault.ERROR)
    behind.proxy.disarm()
    assert behind.client().get("v1", "Pod", "a", "team")["kind"] == "Pod"


@pytest.fixture
def watch(behind: Behind) -> Iterator[Watch]:
    with behind.client().watch([("v1", "Pod")], "7") as watch:
        behind.client().wait(lambda: behind.proxy.watched, "the watch to be there", WITHIN_SECONDS)
        yield watch
        behind.server.released.release(200)


def test_a_watch_is_streamed_line_by_line_and_is_no_call(behind: Behind, watch: Watch) -> None:
    for _ in range(2):
        behind.server.released.release()
        change = watch.next(WITHIN_SECONDS)
        assert change is not None
        assert change.object["kind"] == "Pod"
    assert behind.asked == ["WATCH in HTTP/1.0"]
    assert behind.proxy.calls == ()


def test_a_watch_is_ended_as_too_old(behind: Behind, watch: Watch) -> None:
    assert behind.proxy.end_watches("nodes") == 0
    assert behind.proxy.end_watches("pods") == 1
    with pytest.raises(RuntimeError, match="too old resource version"):
        watch.next(WITHIN_SECONDS)


def test_a_silent_watch_delivers_nothing_and_stays_open(behind: Behind, watch: Watch) -> None:
    assert behind.proxy.silence_watches() == 1
    behind.server.released.release()
    assert watch.next(0.5) is None
    assert behind.proxy.watched == ()


def test_silent_watches_are_cut_and_told_apart_until_then_and_one_that_speaks_is_left(
    behind: Behind, watch: Watch
) -> None:
    behind.proxy.cut_silent_watches()
    behind.server.released.release()
    assert watch.next(WITHIN_SECONDS) is not None
    assert behind.proxy.silent == ()
    behind.proxy.silence_watches()
    assert behind.proxy.silent == ("pods",)
    behind.proxy.cut_silent_watches()
    behind.client().wait(lambda: not behind.proxy.silent, "the silent watch to be cut", WITHIN_SECONDS)


def test_of_two_watches_of_a_resource_the_one_that_stays_is_spoilt_and_none_is_left_behind(
    behind: Behind, watch: Watch
) -> None:
    client = behind.client()
    with client.watch([("v1", "Pod")], "7"):
        client.wait(lambda: len(behind.proxy.watched) == 2, "the other watch to be there", WITHIN_SECONDS)
    client.wait(lambda: len(behind.proxy.watched) == 1, "the other watch to be gone", WITHIN_SECONDS)
    assert behind.proxy.silence_watches() == 1
    behind.server.released.release(2)
    assert watch.next(0.5) is None
    behind.proxy.cut_silent_watches()
    client.wait(lambda: not behind.proxy.silent, "the silent watch to be cut", WITHIN_SECONDS)
