"""What the process answers to whoever asks it how it is: plain HTTP, a few paths, no input."""

import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Final, NamedTuple

from spotproof.kube.listening import Listening

ANSWER_SECONDS: Final = 5
"""A client that says nothing for so long is left."""
POLL_SECONDS: Final = 1.0
PLAIN: Final = "text/plain; charset=utf-8"


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int


class Answer(NamedTuple):
    """What is said on a path."""

    ok: bool
    body: bytes
    content_type: str = PLAIN


Paths = Mapping[str, Callable[[], Answer]]


def parse_address(text: str) -> Address:
    """`0.0.0.0:8081`, `[::]:8081`, or `:8081` for all addresses.

    Raises:
        ValueError: it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) >= 1 << 16:
        raise ValueError(f"{text!r} is no address to listen on: write ADDRESS:PORT, as in 0.0.0.0:8081")
    return Address(host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104  # a pod is asked from outside


class Server:
    """Answers on an address until it is closed.

    Raises:
        OSError: the address cannot be had.
    """

    def __init__(self, address: Address, paths: Paths) -> None:
        self._server = Listening(address, type("Handler", (_Handler,), {"paths": paths}))
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(ANSWER_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    paths: Paths
    timeout = ANSWER_SECONDS
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = self.paths.get(self.path.partition("?")[0])
        if asked is None:
            self._reply(HTTPStatus.NOT_FOUND, Answer(ok=False, body=b"there is nothing here\n"))
            return
        answer = asked()
        self._reply(HTTPStatus.OK if answer.ok else HTTPStatus.SERVICE_UNAVAILABLE, answer)

    def _reply(self, status: HTTPStatus, answer: Answer) -> None:
        self.send_response(status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the standard library's name
        """Nothing: probes come every few seconds."""
