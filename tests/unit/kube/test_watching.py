import json
import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from spotproof.kube.watching import Change, Watch


class Answer:
    """An answer of the server that gives what it is given, until it is shut down."""

    def __init__(self) -> None:
        self.pieces: queue.Queue[bytes | None] = queue.Queue()
        self.ended = threading.Event()

    def stream(self, _size: int) -> Iterator[bytes]:
        while (piece := self.pieces.get()) is not None:
            yield piece

    def shutdown(self) -> None:
        self.pieces.put(None)

    def close(self) -> None:
        self.ended.set()

    def event(self, kind: str, version: str, **more: Any) -> None:
        thing = {"kind": "Pod", "metadata": {"name": "a", "resourceVersion": version}, **more}
        self.pieces.put(json.dumps({"type": kind, "object": thing}).encode() + b"\n")


class Server:
    """Answers requests with these answers, one after the other, and remembers what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.asked: queue.Queue[dict[str, str]] = queue.Queue()
        self._answers = iter(answers)

    def __call__(self, _path: str, *, query: list[tuple[str, str]]) -> Answer:
        self.asked.put(dict(query))
        return next(self._answers)


def pods(*answers: Answer) -> tuple[Watch, Server]:
    server = Server(*answers)
    ticks = iter(range(1000))
    return Watch(server, [("Pod", "/api/v1/pods")], "7", clock=lambda: next(ticks)), server


def test_changes_come_with_the_time_they_were_received() -> None:
    answer = Answer()
    watch, server = pods(answer)
    answer.event("ADDED", "8")
    answer.event("MODIFIED", "9")
    with watch:
        first, second = watch.next(5), watch.next(5)
    assert first == Change("ADDED", {"kind": "Pod", "metadata": {"name": "a", "resourceVersion": "8"}}, 0)
    assert second is not None
    assert (second.type, second.received_at) == ("MODIFIED", 1)
    assert server.asked.get()["resourceVersion"] == "7"
    assert answer.ended.is_set()


def test_a_line_in_two_pieces_is_one_change() -> None:
    answer = Answer()
    watch, _ = pods(answer)
    line = b'{"type": "ADDED", "object": {"metadata": {"resourceVersion": "8"}}}\n'
    answer.pieces.put(line[:20])
    answer.pieces.put(line[20:])
    with watch:
        assert watch.next(5) is not None


def test_a_connection_that_ends_is_made_again_from_the_last_version_seen() -> None:
    answers = Answer(), Answer()
    watch, server = pods(*answers)
    answers[0].event("ADDED", "8")
    answers[0].event("BOOKMARK", "15")
    answers[0].pieces.put(None)
    answers[1].event("DELETED", "16")
    with watch:
        assert [change.type for change in (watch.next(5), watch.next(5)) if change] == ["ADDED", "DELETED"]
    assert [server.asked.get()["resourceVersion"] for _ in range(2)] == ["7", "15"]


def test_an_error_of_the_server_is_raised_where_changes_are_read() -> None:
    answer = Answer()
    watch, _ = pods(answer)
    answer.pieces.put(b'{"type": "ERROR", "object": {"code": 410, "message": "too old resource version"}}\n')
    with watch, pytest.raises(RuntimeError, match="too old resource version"):
        watch.next(5)


def test_whoever_iterates_stops_when_another_thread_closes() -> None:
    watch, _ = pods(Answer())
    closing = threading.Timer(0.05, watch.close)
    closing.start()
    assert list(watch) == []
    closing.join()


def test_without_a_change_in_time_there_is_none() -> None:
    watch, _ = pods(Answer())
    with watch:
        assert watch.next(0.01) is None


def test_a_field_selector_goes_with_the_kind_it_is_for() -> None:
    answers = Answer(), Answer()
    server, fields = Server(*answers), {"Pod": "status.phase=Pending"}
    with Watch(server, [("Pod", "/api/v1/pods"), ("Node", "/api/v1/nodes")], "0", fields=fields):
        asked = [server.asked.get(timeout=5), server.asked.get(timeout=5)]
    assert [each["fieldSelector"] for each in asked if "fieldSelector" in each] == ["status.phase=Pending"]
