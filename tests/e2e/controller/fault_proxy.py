"""An HTTPS reverse proxy between the controller and the API server, which spoils the one call that it is told to.

Whoever connects shows a client certificate of the control plane's authority, and the proxy hands on what is asked with
the certificate of the same user: it can do no more than the controller can, and nobody else can use it. Calls are told
from watches, which are streamed through, and of which one may be ended or go silent.
"""

import json
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from tests.e2e.controller.faults import ANSWERED, GONE, HELD, LEASES, UNNUMBERED, Call, Fault, Trap, refusal

ANSWER_SECONDS: Final = 60
LOOK_SECONDS: Final = 0.1
HOP_BY_HOP: Final = frozenset({"connection", "host", "keep-alive", "transfer-encoding", "content-length"})


@dataclass(eq=False)
class _Watched:
    """One watch that is streamed through now; not another one of the same resource, as of pods there are three."""

    resource: str
    ends: bool = False
    is_silent: bool = False
    is_cut: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing of the server's is to be passed on any more."""
        return self.ends or self.is_cut


class FaultProxy:
    """The proxy, for as long as a `with` block.

    Args:
        upstream: Address of the API server, as in `https://127.0.0.1:6443`.
        authority: The certificate that servers and clients are signed by.
        server: A folder with `tls.crt` and `tls.key` of this server.
        client: A folder with `tls.crt` and `tls.key` of the user who is let through, and for whom is asked.
        user: That user's name.
    """

    def __init__(self, upstream: str, *, authority: Path, server: Path, client: Path, user: str) -> None:
        url = urlsplit(upstream)
        self._upstream = (url.hostname or "", url.port or 443)
        self._asking = ssl.create_default_context(cafile=str(authority))
        self._asking.load_cert_chain(client / "tls.crt", client / "tls.key")
        self.user = user
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._traps: list[Trap] = []
        self._watches: list[_Watched] = []
        self._closing = threading.Event()
        self.refuses_leases = False
        """While it is true the controller cannot keep its lease, and another replica takes it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server / "tls.crt", server / "tls.key")
        context.load_verify_locations(authority)
        context.verify_mode = ssl.CERT_REQUIRED
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        # no handshake while accepting: a client that is slow with it would keep all others out
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(LOOK_SECONDS,), daemon=True)

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of everything that is held, and stop."""
        self._closing.set()
        self.disarm()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """Where the controller finds it."""
        return f"https://127.0.0.1:{self._server.server_port}"

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call so far, watches, leases and questions for kinds left out, in the order in which they came."""
        with self._lock:
            return tuple(self._calls)

    @property
    def watched(self) -> tuple[str, ...]:
        """Resources of the watches that are streamed through now and not silent."""
        with self._lock:
            return tuple(each.resource for each in self._watches if not each.is_silent)

    @property
    def silent(self) -> tuple[str, ...]:
        """Resources of the watches that are silent, and that the controller has not given up."""
        with self._lock:
            return tuple(each.resource for each in self._watches if each.is_silent)

    def arm(self, fault: Fault, matches: Callable[[Call], bool] = lambda _: True, nth: int = 1) -> Trap:
        """Spoil the nth call from now on that matches."""
        trap = Trap(fault, matches, nth)
        with self._lock:
            self._traps.append(trap)
        return trap

    def disarm(self) -> None:
        """Spoil nothing any more, and drop what is held."""
        with self._lock:
            traps, self._traps = self._traps, []
        for trap in traps:
            trap.release()

    def end_watches(self, resource: str = "") -> int:
        """End the watches of a resource, or all, as of a version that is too old (410). Returns how many."""
        return self._spoil(resource, "ends")

    def silence_watches(self, resource: str = "") -> int:
        """Deliver nothing any more to the watches of a resource, or to all, and keep their connections. How many."""
        return self._spoil(resource, "is_silent")

    def cut_silent_watches(self) -> None:
        """Cut the connections of all that are silent, as what stood between would at last."""
        with self._lock:
            for each in self._watches:
                each.is_cut = each.is_silent

    def _spoil(self, resource: str, how: str) -> int:
        with self._lock:
            found = [each for each in self._watches if resource in {"", each.resource}]
            for each in found:
                setattr(each, how, True)
        return len(found)

    def serve(self, handler: "_Handler") -> None:
        """One request, from its first line to its answer."""
        call, body = Call.of(handler.command, handler.path), handler.body()
        if handler.peer() != self.user:
            handler.answer(*refusal(HTTPStatus.FORBIDDEN, "this proxy is for somebody else"))
        elif parse_qs(urlsplit(handler.path).query).get("watch", ["false"])[0] in {"true", "1"}:
            self._stream(handler, call)
        else:
            self._call(handler, call, body)

    def _call(self, handler: "_Handler", call: Call, body: bytes) -> None:
        trap = None if call.resource in UNNUMBERED else self._taken(call)
        if self.refuses_leases and call.resource == LEASES:
            handler.answer(*refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "no lease is renewed now"))
        elif trap is None:
            handler.answer(*self._asked(handler, body))
        elif trap.fault in ANSWERED:
            trap.reach()
            handler.answer(*refusal(ANSWERED[trap.fault], f"{call.said}: refused by the fault proxy"))
        elif trap.fault is Fault.LATE:
            trap.hold()
            handler.answer(*self._asked(handler, body))
        else:
            self._lose(handler, trap, body)

    def _lose(self, handler: "_Handler", trap: Trap, body: bytes) -> None:
        """A call whose answer never comes, whether the API server has seen it or not."""
        if trap.fault is not Fault.KILLED_BEFORE:
            self._asked(handler, body)
        if trap.fault in HELD:
            trap.hold()
        trap.reach()
        handler.drop()

    def _taken(self, call: Call) -> Trap | None:
        with self._lock:
            self._calls.append(call)
            taken = [trap for trap in self._traps if trap.takes(call)]
            if taken:
                self._traps.remove(taken[0])
        return taken[0] if taken else None

    def _asked(self, handler: "_Handler", body: bytes) -> tuple[int, Sequence[tuple[str, str]], bytes]:
        """The API server's answer: status, headers, body."""
        connection = HTTPSConnection(*self._upstream, timeout=ANSWER_SECONDS, context=self._asking)
        with closing(connection):
            connection.request(handler.command, handler.path, body or None, dict(_kept(handler.headers)))
            answer = connection.getresponse()
            return answer.status, [each for each in answer.getheaders() if _is_kept(each[0])], answer.read()

    def _stream(self, handler: "_Handler", call: Call) -> None:
        """A watch, line by line. Asked in HTTP/1.0, the API server sends lines alone, and no chunks around them."""
        watched = _Watched(call.resource)
        asked = "".join(f"{key}: {value}\r\n" for key, value in _kept(handler.headers))
        with (
            socket.create_connection(self._upstream, ANSWER_SECONDS) as plain,
            self._asking.wrap_socket(plain, server_hostname=self._upstream[0]) as server,
        ):
            server.sendall(f"GET {handler.path} HTTP/1.0\r\nHost: {self._upstream[0]}\r\n{asked}\r\n".encode())
            with self._lock:
                self._watches.append(watched)
            try:
                self._pass_on(handler, server, watched)
            finally:
                with self._lock:
                    self._watches.remove(watched)

    def _pass_on(self, handler: "_Handler", server: ssl.SSLSocket, watched: _Watched) -> None:
        is_begun, held = False, b""
        for piece in _pieces(server, handler.connection, lambda: watched.is_over or self._closing.is_set()):
            held += piece
            if not is_begun:
                head, end, rest = held.partition(b"\r\n\r\n")
                if not end:
                    continue
                handler.begin(int(head.split()[1]))
                is_begun, held = True, rest
            *lines, held = held.split(b"\n")
            if lines and not watched.is_silent:
                handler.chunk(b"\n".join(lines) + b"\n")
        if watched.ends:
            handler.chunk(json.dumps(GONE).encode() + b"\n")
        if is_begun and not watched.is_silent:
            handler.chunk(b"")
        else:
            handler.drop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a controller that was killed has left its connections as they were."""


class _Handler(BaseHTTPRequestHandler):
    """What the proxy needs of a connection of the controller."""

    protocol_version = "HTTP/1.1"
    connection: ssl.SSLSocket

    def setup(self) -> None:
        """The handshake, in the connection's own thread."""
        self.request.settimeout(None)
        self.request.do_handshake()
        super().setup()

    def peer(self) -> str:
        """The common name of whoever is at the other end."""
        subject: Any = (self.connection.getpeercert() or {}).get("subject", ())
        return next((value for ((key, value),) in subject if key == "commonName"), "")

    def body(self) -> bytes:
        """What was sent with the request."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """A whole answer."""
        self._head(status, [*headers, ("Content-Length", str(len(body)))])
        self.wfile.write(body)

    def begin(self, status: int) -> None:
        """An answer that goes on."""
        self._head(status, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])

    def chunk(self, data: bytes) -> None:
        """More of it; nothing is its end."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def drop(self) -> None:
        """End the connection without another word."""
        self.close_connection = True

    def _head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        self.send_response_only(status)
        for key, value in headers:
            self.send_header(key, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the standard library's name
        """Nothing: the calls are kept."""


def _handler(proxy: FaultProxy) -> type[_Handler]:
    class Handler(_Handler):
        def _serve(self) -> None:
            proxy.serve(self)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815  # the standard library's names

    return Handler


def _pieces(server: ssl.SSLSocket, client: ssl.SSLSocket, is_over: Callable[[], bool]) -> Iterator[bytes]:
    """What the server sends, until one of the two ends it."""
    while not is_over():
        if not server.pending():
            ready, _, _ = select.select([server, client], [], [], LOOK_SECONDS)
            if client in ready and not client.recv(1):
                return
            if server not in ready:
                continue
        piece = server.recv(65536)
        if not piece:
            return
        yield piece


def _is_kept(header: str) -> bool:
    return header.lower() not in HOP_BY_HOP


def _kept(headers: Message) -> Iterator[tuple[str, str]]:
    yield from ((key, value) for key, value in headers.items() if _is_kept(key))
