"""Stands between the programs and the S3 server, stops one write half-way, and counts.

It gives on a body only once it has all of it: an upload that is killed half-way leaves nothing, as S3 has it, and one
that is only stopped goes on. What the role of a workspace may not do is refused here: moto's server refuses nothing.
"""

import http.client
import select
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

from tests.resume.awaited import Awaited
from tests.resume.role import Role

WRITES: Final = frozenset({"PUT", "POST"})
HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "expect"})
SECONDS_HELD: Final = 30
"""At most, so that a launcher that is gone holds nobody."""
SECONDS_TO_CLOSE: Final = 2.0
"""In which a killed client's connection is closed. A process is a zombie as soon as its first thread is, and its last
thread closes what all have open: 21 of 30 with 24 threads had theirs open then, for up to 64 ms on an idle machine."""


class Proxy:
    """Listens on a port of its own. Requests whose path starts with `prefix` are those that are watched."""

    def __init__(self, server: str, prefix: str, role: Role, seconds_to_close: float = SECONDS_TO_CLOSE) -> None:
        self.written, self.seconds_to_close, self._role = 0, seconds_to_close, role
        self._upstream = urlsplit(server).netloc
        self._prefix, self._lock, self._released = prefix, threading.Lock(), threading.Event()
        self._awaited = Awaited()
        self._server = _Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def watch(self, write: int, seen: Callable[[], None], to: str = "") -> None:
        """Stop half-way the `write`th write from now on whose path matches `to`, and call `seen`."""
        self._released.clear()
        self._awaited.watch(write, seen, to)

    def release(self) -> None:
        """Let go on what was stopped, and watch no more."""
        self._awaited.release()
        self._released.set()

    def close(self) -> None:
        """Listen no more."""
        self.release()
        self._server.shutdown()
        self._server.server_close()

    @property
    def writes(self) -> int:
        """Begun so far."""
        return self._awaited.writes

    def begun(self, path: str) -> Callable[[], None] | None:
        """A write begins; what to call where it is to be stopped."""
        return self._awaited.begun(path.removeprefix(self._prefix)) if path.startswith(self._prefix) else None

    def stop(self, seen: Callable[[], None]) -> None:
        """Half of its body is here."""
        seen()
        self._released.wait(SECONDS_HELD)

    def forward(self, method: str, path: str, headers: dict[str, str], body: bytes) -> "_Answer":
        """What the server answers to this role."""
        if not self._role.may(method, path):
            return _REFUSED
        connection = http.client.HTTPConnection(self._upstream, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", f"{len(body)}")
            connection.endheaders(body)
            answer = connection.getresponse()
            if method in WRITES and path.startswith(self._prefix):
                with self._lock:
                    self.written += len(body)
            found = _Answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()
        return _REFUSED if self._role.hides(path, found.status) else found


class _Answer:
    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body


_REFUSED: Final = _Answer(403, [], b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error of the proxy's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def proxy(self) -> Proxy:
        return cast("_Server", self.server).proxy

    def do_GET(self) -> None:
        self._pass_on()

    do_PUT = do_POST = do_HEAD = do_DELETE = do_GET  # noqa: N815 - names that http.server looks for

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
        pass

    def _pass_on(self) -> None:
        # A POST ?delete removes objects.
        writes = self.command in WRITES and "delete" not in parse_qs(urlsplit(self.path).query, True)  # noqa: FBT003
        seen = self.proxy.begun(self.path) if writes else None
        body = self._body(seen)
        if seen is not None and self._is_gone():
            raise ConnectionError("the client is gone, and with it what had come to us and not to the server")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        answer = self.proxy.forward(self.command, self.path, headers, body)
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        length = dict(answer.headers).get("Content-Length", "0") if self.command == "HEAD" else len(answer.body)
        self.send_header("Content-Length", f"{length}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _body(self, seen: Callable[[], None] | None) -> bytes:
        """All of it, or ConnectionError where the client is gone before."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            body = self._chunks()
            if seen is not None:
                self.proxy.stop(seen)
            return body
        length = int(self.headers.get("Content-Length", "0"))
        first = self._exactly(length if seen is None else length // 2)
        if seen is not None:
            self.proxy.stop(seen)
        return first + self._exactly(length - len(first))

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            parts.append(self._exactly(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _is_gone(self) -> bool:
        """A small body is here as a whole before its client is killed; one that lives says nothing then."""
        readable, _, _ = select.select([self.connection], [], [], self.proxy.seconds_to_close)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _exactly(self, length: int) -> bytes:
        read = self.rfile.read(length) if length else b""
        if len(read) < length:
            raise ConnectionError("the client is gone in the middle of its body")
        return read
