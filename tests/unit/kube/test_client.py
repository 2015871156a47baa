"""The client against a small HTTPS server in place of Kubernetes."""

import contextlib
import json
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from spotproof.kube.client import Kube, Refused, Unreachable
from spotproof.rehearsal.certificates import Certificates

RESOURCES = {
    "/api/v1": [
        {"name": "pods", "kind": "Pod", "namespaced": True},
        {"name": "pods/status", "kind": "Pod", "namespaced": True},
        {"name": "nodes", "kind": "Node", "namespaced": False},
    ],
    "/apis/jobset.x-k8s.io/v1alpha2": [{"name": "jobsets", "kind": "JobSet", "namespaced": True}],
}
POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "team"}}


class Handler(BaseHTTPRequestHandler):
    """Discovery as the API server has it; any other answer is the last one that the test has set."""

    protocol_version = "HTTP/1.1"
    asked: list[dict[str, Any]]
    answer: tuple[int, object, list[str]]
    retry_after: str = ""
    cut: str = ""
    """Where the connection ends: `before` there is an answer, or in the `middle` of it."""

    def _reply(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, value, warnings = type(self).answer
        if url.path in RESOURCES:
            status, value, warnings = 200, {"resources": RESOURCES[url.path]}, []
        else:
            query = {key: value[0] for key, value in parse_qs(url.query).items()}
            asked = {"verb": self.command, "path": url.path, "query": query, "type": self.headers.get("Content-Type")}
            type(self).asked.append(asked | {"body": json.loads(body) if body else None})
            if type(self).cut == "before":
                self.close_connection = True
                return
        text = json.dumps(value).encode()
        self.send_response(status)
        if type(self).retry_after:
            self.send_header("Retry-After", type(self).retry_after)
        for warning in warnings:
            self.send_header("Warning", warning)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if type(self).cut == "middle" and url.path not in RESOURCES:
            self.close_connection = True
            text = text[:-1]
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = _reply  # noqa: N815  # the standard library's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the standard library's name
        """Nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Kube, type[Handler]]]:
    class Asked(Handler):
        """The test's own memory."""

    Asked.asked, Asked.answer = [], (200, {}, [])

    certificates = Certificates(tmp_path / "certificates")
    folder = certificates.server("kube-apiserver")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    thread = Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    certificate, key = certificates.user("ada")
    (tmp_path / "tls.crt").write_bytes(certificate)
    (tmp_path / "tls.key").write_bytes(key)
    address = f"https://127.0.0.1:{listening.server_port}"
    kube = Kube(address, certificates.authority, tmp_path / "tls.crt", tmp_path / "tls.key")
    yield kube, Asked
    kube.close()
    listening.shutdown()
    listening.server_close()
    thread.join()


def test_apply_is_server_side_and_strict(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    kube.apply(POD, dry_run=True)
    (asked,) = handler.asked
    assert (asked["verb"], asked["path"], asked["body"]) == ("PATCH", "/api/v1/namespaces/team/pods/a", POD)
    assert asked["type"] == "application/apply-patch+yaml"
    assert asked["query"] == {
        "fieldManager": "spotproof",
        "fieldValidation": "Strict",
        "dryRun": "All",
        "force": "false",
    }


def test_every_warning_is_given_as_it_was_said(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer = (200, POD, ['299 - "spec.nodeSelector[\\"a\\"] is old"', '299 - "unknown field"'])
    assert kube.create(POD).warnings == ('spec.nodeSelector["a"] is old', "unknown field")


def test_a_refusal_carries_status_reason_and_message(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer = (422, {"kind": "Status", "reason": "Invalid", "message": "spec.suspend: field is immutable"}, [])
    with pytest.raises(Refused, match=r"422: spec\.suspend: field is immutable") as refused:
        kube.apply(POD)
    assert (refused.value.status, refused.value.reason) == (422, "Invalid")


def test_what_is_not_there_is_found_to_be_none(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer = (404, {"kind": "Status", "reason": "NotFound", "message": "not there"}, [])
    assert kube.find("v1", "Pod", "a", "team") is None
    with pytest.raises(Refused):
        kube.get("v1", "Pod", "a", "team")
    handler.answer = (403, {"kind": "Status", "reason": "Forbidden", "message": "no"}, [])
    with pytest.raises(Refused, match="403"):
        kube.find("v1", "Pod", "a", "team")


def test_a_list_has_kind_and_version_on_every_item(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer = (200, {"items": [{"metadata": {"name": "a"}}]}, [])
    found = kube.list("jobset.x-k8s.io/v1alpha2", "JobSet", "team", labels="a=b")
    assert found == [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"}}]
    assert handler.asked[-1]["path"] == "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets"
    assert handler.asked[-1]["query"] == {"labelSelector": "a=b"}
    kube.list("v1", "Node")
    assert handler.asked[-1]["path"] == "/api/v1/nodes"


def test_a_mapping_is_a_merge_patch_and_operations_are_a_json_patch(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    kube.patch("v1", "Node", "n", {"metadata": {"labels": {"a": None}}}, subresource="status")
    operation = {"op": "replace", "path": "/spec/suspend", "value": True}
    kube.patch("v1", "Pod", "a", [operation], "team")
    merge, operations = handler.asked
    assert (merge["path"], merge["type"]) == ("/api/v1/nodes/n/status", "application/merge-patch+json")
    assert (operations["body"], operations["type"]) == ([operation], "application/json-patch+json")


def test_an_eviction_is_asked_for_as_one(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    kube.evict("a", "team", grace_seconds=5)
    (asked,) = handler.asked
    assert (asked["verb"], asked["path"]) == ("POST", "/api/v1/namespaces/team/pods/a/eviction")
    assert asked["body"]["deleteOptions"] == {"gracePeriodSeconds": 5}


def test_an_object_of_a_namespace_must_name_it(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    with pytest.raises(ValueError, match="Pod a lives in a namespace"):
        kube.apply({**POD, "metadata": {"name": "a"}})
    with pytest.raises(ValueError, match="Pod a lives in a namespace"):
        kube.get("v1", "Pod", "a")
    assert handler.asked == []


def test_a_kind_that_is_not_known_is_asked_for_again(
    server: tuple[Kube, type[Handler]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kube, _ = server
    with pytest.raises(Refused, match="no kind Service in v1"):
        kube.list("v1", "Service")
    service = {"name": "services", "kind": "Service", "namespaced": True}
    monkeypatch.setitem(RESOURCES, "/api/v1", [*RESOURCES["/api/v1"], service])
    with pytest.raises(KeyError, match="items"):
        kube.list("v1", "Service")  # found now; the server of this test has no items to give


@pytest.mark.parametrize("cut", ["before", "middle"])
def test_a_write_whose_connection_was_cut_is_not_repeated(server: tuple[Kube, type[Handler]], cut: str) -> None:
    kube, handler = server
    handler.answer, handler.cut = (200, POD, []), cut
    for write in (
        lambda: kube.create(POD),
        lambda: kube.patch("v1", "Pod", "a", {"spec": {}}, "team"),
        lambda: kube.delete("v1", "Pod", "a", "team"),
    ):
        handler.asked.clear()
        with contextlib.suppress(Unreachable):  # a deletion's answer is not read
            write()
        assert len(handler.asked) == 1


def test_a_cut_answer_is_that_of_a_server_that_cannot_be_reached(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer, handler.cut = (200, POD, []), "middle"
    with pytest.raises(Unreachable):
        kube.create(POD)
    with pytest.raises(Unreachable):
        kube.get("v1", "Pod", "a", "team")


def test_a_read_whose_connection_was_cut_is_made_once_more(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.cut = "before"
    with pytest.raises(Unreachable):
        kube.get("v1", "Pod", "a", "team")
    assert len(handler.asked) == 2


@pytest.mark.parametrize(("said", "seconds"), [("7", 7.0), ("", None), ("Sat, 21 Nov 2026 10:00:00 GMT", None)])
def test_a_server_that_is_busy_says_for_how_long_and_nobody_sleeps(
    server: tuple[Kube, type[Handler]], said: str, seconds: float | None
) -> None:
    kube, handler = server
    handler.answer, handler.retry_after = (429, {"message": "too many requests"}, []), said
    with pytest.raises(Refused, match="too many") as refused:
        kube.delete("v1", "Pod", "a", "team")
    assert refused.value.retry_after_seconds == seconds
    assert len(handler.asked) == 1


def test_a_list_comes_in_pages(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer = (200, {"metadata": {"resourceVersion": "7", "continue": "more"}, "items": [POD]}, [])
    assert kube.page("v1", "Pod", labels="a", limit=500) == ([POD], "7", "more")
    kube.page("v1", "Pod", labels="a", limit=500, go_on="more")
    assert [each["query"] for each in handler.asked] == [
        {"labelSelector": "a", "limit": "500"},
        {"labelSelector": "a", "limit": "500", "continue": "more"},
    ]


def test_a_stream_asks_for_bookmarks_and_an_end(server: tuple[Kube, type[Handler]]) -> None:
    kube, handler = server
    handler.answer = (200, {"type": "BOOKMARK", "object": {}}, [])
    stream = kube.stream("v1", "Pod", "7", labels="a", end_seconds=30)
    assert list(stream) == []  # the line's end is missing: half an event is none
    stream.release()
    assert handler.asked[-1]["query"] == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "7",
        "timeoutSeconds": "30",
        "labelSelector": "a",
    }


def test_a_server_of_another_authority_is_not_talked_to(server: tuple[Kube, type[Handler]], tmp_path: Path) -> None:
    kube, handler = server
    other = Certificates(tmp_path / "other")
    stranger = Kube(kube.address, other.authority, tmp_path / "tls.crt", tmp_path / "tls.key")
    with pytest.raises(Unreachable, match="certificate verify failed"):
        stranger.version()
    stranger.close()
    assert handler.asked == []
