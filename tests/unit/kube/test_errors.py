"""How a call fails, in words that are the project's and not a library's."""

import json
import socket
import ssl

import pytest
from kubernetes.client.exceptions import ApiException
from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPSConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

from spotproof.kube.errors import MOST, Refused, Stranger, Unreachable, Untrusted, said

POOL = HTTPSConnectionPool("cluster.example.org", 443)
CONNECTION = HTTPSConnection("cluster.example.org", 443)
UNTRUSTED = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")


def raised(error: Exception) -> Exception:
    with pytest.raises((Refused, Unreachable)) as caught, said():
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("why", "kind", "says"),
    [
        (NewConnectionError(CONNECTION, "failed: [Errno 111] Connection refused"), Unreachable, "Connection refused"),
        (NameResolutionError("cluster", CONNECTION, socket.gaierror()), Unreachable, "its name is not known here"),
        (ConnectTimeoutError(CONNECTION, "timed out"), Unreachable, "no connection came about in time"),
        (ReadTimeoutError(POOL, "/", "timed out"), Unreachable, "nothing came in time"),
        (SSLError(UNTRUSTED), Untrusted, "certificate verify failed"),
    ],
)
def test_a_connection_that_fails_says_why_without_the_librarys_names(
    why: HTTPError, kind: type[Exception], says: str
) -> None:
    for error in (why, MaxRetryError(POOL, "/api/v1", why)):
        found = raised(error)
        assert type(found) is kind
        assert str(found).startswith("the API server did not answer: ")
        assert says in str(found)
        assert not any(word in str(found) for word in ("Pool", "Max retries", "HTTPSConnection("))


def test_a_page_of_a_proxy_is_one_line_and_no_more_than_its_beginning() -> None:
    found = raised(_answer(503, "<html>\n" + "<p>no\n" * 1000))
    assert isinstance(found, Refused)
    assert (found.status, found.reason) == (503, "")
    assert "\n" not in found.message
    assert len(found.message) < MOST + 10


def test_json_that_is_no_status_is_told_as_it_is() -> None:
    assert str(raised(_answer(500, json.dumps(["etcd"])))) == '500: ["etcd"]'


def test_what_is_no_json_is_no_api_servers() -> None:
    assert isinstance(raised(ValueError("Expecting value")), Stranger)


def _answer(status: int, body: str) -> ApiException:
    error = ApiException(status, "Unavailable")
    error.body = body
    return error
