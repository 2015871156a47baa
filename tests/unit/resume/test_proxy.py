"""What the proxy gives on, and what it stops, against a server that writes down what it is told."""

import http.client
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from tests.resume.proxy import Proxy
from tests.resume.role import Role

BODY = b"x" * 1000


class Upstream(ThreadingHTTPServer):
    """Keeps every body that it was sent whole."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[bytes] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        cast("Upstream", self.server).got.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
        pass


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    between = Proxy(f"http://127.0.0.1:{upstream.server_address[1]}", "/bucket/team/run/", Role("bucket", "team"), 0.5)
    yield between
    between.close()


def address(proxy: Proxy) -> str:
    return proxy.url.removeprefix("http://")


def put(proxy: Proxy, path: str) -> bytes:
    connection = http.client.HTTPConnection(address(proxy))
    connection.request("PUT", path, BODY)
    answer = connection.getresponse().read()
    connection.close()
    return answer


def test_a_write_is_given_on_and_counted(proxy: Proxy, upstream: Upstream) -> None:
    assert put(proxy, "/bucket/team/run/a") == b"ok"
    assert put(proxy, "/bucket/team/other/a") == b"ok"

    assert upstream.got == [BODY, BODY]
    assert (proxy.writes, proxy.written) == (1, len(BODY))


def test_a_write_that_was_stopped_goes_on_once_it_is_released(proxy: Proxy, upstream: Upstream) -> None:
    stopped = threading.Event()
    proxy.watch(2, stopped.set)
    put(proxy, "/bucket/team/run/a")
    answers: list[bytes] = []
    second = threading.Thread(target=lambda: answers.append(put(proxy, "/bucket/team/run/b")))
    second.start()

    assert stopped.wait(10)
    assert upstream.got == [BODY]
    proxy.release()
    second.join(10)
    assert (answers, upstream.got) == ([b"ok"], [BODY, BODY])


def test_only_writes_to_paths_that_are_watched_count_for_the_one_that_is_stopped(proxy: Proxy) -> None:
    stopped = threading.Event()
    proxy.watch(1, stopped.set, to=r"^list\.json$")
    put(proxy, "/bucket/team/run/state")
    assert not stopped.is_set()

    last = threading.Thread(target=put, args=(proxy, "/bucket/team/run/list.json"))
    last.start()

    assert stopped.wait(10)
    proxy.release()
    last.join(10)
    assert proxy.writes == 2


@pytest.mark.parametrize("sent", [len(BODY) // 2, len(BODY)], ids=["half of it", "all of a small one"])
def test_of_a_write_whose_client_is_killed_nothing_is_given_on(proxy: Proxy, upstream: Upstream, sent: int) -> None:
    client = stopped_client(proxy, sent)

    client.close()
    proxy.release()
    put(proxy, "/bucket/team/run/b")
    assert (upstream.got, proxy.written) == ([BODY], len(BODY))


def test_a_killed_client_may_close_its_connection_after_the_write_is_released(upstream: Upstream) -> None:
    proxy = Proxy(f"http://127.0.0.1:{upstream.server_address[1]}", "/bucket/team/run/", Role("bucket", "team"), 60)
    client = stopped_client(proxy, len(BODY))

    proxy.release()
    client.close()
    put(proxy, "/bucket/team/run/b")
    proxy.close()
    assert (upstream.got, proxy.written) == ([BODY], len(BODY))


def stopped_client(proxy: Proxy, sent: int) -> socket.socket:
    """One that is stopped in its write, of whose body so many bytes are sent."""
    stopped = threading.Event()
    proxy.watch(1, stopped.set)
    host, port = address(proxy).split(":")
    client = socket.create_connection((host, int(port)))
    head = f"PUT /bucket/team/run/a HTTP/1.1\r\nHost: s3\r\nContent-Length: {len(BODY)}\r\n\r\n"
    client.sendall(head.encode() + BODY[:sent])
    assert stopped.wait(10)
    return client


def test_a_body_in_chunks_is_given_on_whole(proxy: Proxy, upstream: Upstream) -> None:
    connection = http.client.HTTPConnection(address(proxy))
    connection.request("PUT", "/bucket/team/run/a", iter([BODY, BODY]), encode_chunked=True)

    assert connection.getresponse().read() == b"ok"
    assert upstream.got == [BODY + BODY]
    connection.close()


def test_what_the_role_may_not_do_never_reaches_the_server(proxy: Proxy, upstream: Upstream) -> None:
    assert b"AccessDenied" in put(proxy, "/bucket")
    assert upstream.got == []
