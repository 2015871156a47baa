import queue
import threading
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pytest

from spotproof.rehearsal.recorder import Recorder
from spotproof.rehearsal.recording import Recording
from tests.unit.rehearsal.tale import pod

NOW = 1_795_000_000.4


class Change(NamedTuple):
    type: str
    object: dict[str, Any]
    received_at: float


class Server:
    """Delivers what it is given, and says when all of it was taken."""

    def __init__(self, *changes: Change | Exception, there: Sequence[dict[str, Any]] = ()) -> None:
        self.there = there
        self.changes: queue.Queue[Change | Exception] = queue.Queue()
        for each in changes:
            self.changes.put(each)
        self.taken = threading.Event()
        self.closed = False
        self.kinds: list[tuple[str, str]] = []

    def resource_version(self) -> str:
        return "100"

    def list(self, api_version: str, kind: str) -> Sequence[dict[str, Any]]:
        return [each for each in self.there if (each["apiVersion"], each["kind"]) == (api_version, kind)]

    def watch(self, kinds: Iterable[tuple[str, str]], since: str) -> "Server":
        assert since == "100"
        self.kinds = list(kinds)
        return self

    def next(self, within_seconds: float | None = None) -> Change | None:
        try:
            found = self.changes.get_nowait()
        except queue.Empty:
            self.taken.set()
            threading.Event().wait(0.01 if within_seconds else 0)
            return None
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        self.closed = True


def change(kind: str, at: float, version: int, thing: dict[str, Any]) -> Change:
    thing["metadata"] |= {"uid": f"0b7f6f3e-5a37-4b1c-9f64-{thing['metadata']['name']:0>12}"}
    thing["metadata"] |= {"resourceVersion": str(version)}
    return Change(kind, thing, NOW + at)


def recorded(*changes: Change | Exception, there: Sequence[dict[str, Any]] = ()) -> tuple[Recorder, Recording, Server]:
    server = Server(*changes, there=there)
    with Recorder(server, kinds={"Pod": "v1"}, now=lambda: NOW) as recorder:
        assert server.taken.wait(10)
    return recorder, recorder.recording(), server


def test_versions_are_kept_in_order_with_their_seconds_and_what_was_there_before() -> None:
    _, found, server = recorded(
        change("ADDED", 1.0, 101, pod("2")),
        change("MODIFIED", 1.5, 102, pod("1", phase="Running")),
        change("DELETED", 2.0, 103, pod("2")),
        there=[change("ADDED", 0.0, 90, pod("1")).object],
    )

    assert server.kinds == [("v1", "Pod")]
    assert server.closed
    assert [(each.at, each.change, each.uid) for each in found.versions] == [
        (0.4, "there", "pod-1"),
        (1.4, "added", "pod-2"),
        (1.9, "modified", "pod-1"),
        (2.4, "deleted", "pod-2"),
    ]


def test_what_is_written_while_a_recording_begins_is_told_by_its_watches_alone_and_whole() -> None:
    _, found, _ = recorded(
        change("ADDED", 0.5, 101, pod("1")),
        change("MODIFIED", 1.0, 102, pod("1", phase="Running")),
        there=[change("ADDED", 0.0, 102, pod("1", phase="Running")).object],
    )

    assert [(each.at, each.change) for each in found.versions] == [(0.9, "added"), (1.4, "modified")]


def test_a_write_that_is_received_late_is_told_before_what_was_written_after_it() -> None:
    _, found, _ = recorded(change("ADDED", 1.0, 102, pod("2")), change("ADDED", 1.5, 101, pod("1")))

    assert [(each.at, each.uid) for each in found.versions] == [(1.4, "pod-1"), (1.4, "pod-2")]


def test_a_version_that_comes_twice_is_kept_once() -> None:
    _, found, _ = recorded(change("ADDED", 1.0, 101, pod("1")), change("ADDED", 2.0, 101, pod("1")))

    assert len(found.versions) == 1


def test_a_version_that_differs_only_in_what_a_file_leaves_out_is_none() -> None:
    managed = pod("1")
    managed["metadata"]["managedFields"] = [{"manager": "x"}]
    _, found, _ = recorded(change("ADDED", 1.0, 101, pod("1")), change("MODIFIED", 2.0, 102, managed))

    assert [each.change for each in found.versions] == ["added"]


def test_a_deletion_is_kept_even_where_the_last_state_was_seen() -> None:
    _, found, _ = recorded(change("ADDED", 1.0, 101, pod("1")), change("DELETED", 2.0, 101, pod("1")))

    assert [each.change for each in found.versions] == ["added", "deleted"]


def test_a_watch_that_ends_leaves_a_hole_that_is_said_and_the_others_go_on() -> None:
    recorder, found, _ = recorded(RuntimeError("too old"), change("ADDED", 1.0, 101, pod("1")))

    assert recorder.failures == ["RuntimeError: too old"]
    assert len(found.versions) == 1


def test_who_waits_for_news_is_told_at_once_of_what_came_meanwhile_and_of_what_comes() -> None:
    server = Server(change("ADDED", 1.0, 101, pod("1")))
    with Recorder(server, kinds={"Pod": "v1"}, now=lambda: NOW) as recorder:
        recorder.wait_for_news(0, 60)
        server.changes.put(change("ADDED", 2.0, 102, pod("2")))
        recorder.wait_for_news(0, 60)
        assert [each.uid for each in recorder.recording().versions] == ["pod-1", "pod-2"]
    recorder.wait_for_news(0, 60)


def test_what_is_done_from_outside_is_marked() -> None:
    server = Server()
    with Recorder(server, kinds={"Pod": "v1"}, now=lambda: NOW) as recorder:
        recorder.mark("reclaim", "NodeClaim/a")

    assert [(each.at, each.did, each.to) for each in recorder.recording().marks] == [(0.4, "reclaim", "NodeClaim/a")]


def test_a_file_tells_neither_folder_nor_date() -> None:
    each = pod("1", Ready="False/Broken/open /var/x-1/etcd: no")
    each["metadata"]["creationTimestamp"] = "2026-11-18T11:06:42Z"
    server = Server(change("ADDED", 1.0, 101, each))
    with Recorder(server, kinds={"Pod": "v1"}, hidden=["/var/x-1"], now=lambda: NOW) as recorder:
        assert server.taken.wait(10)
    text = recorder.recording().text()

    assert '"creationTimestamp":"+2s"' in text
    assert not [word for word in ("/var/x-1", "2026", "0b7f6f3e") if word in text]


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_kinds_that_hold_secrets_are_not_recorded(kind: str) -> None:
    with pytest.raises(ValueError, match=f"{kind} cannot be recorded"):
        Recorder(Server(), kinds={kind: "v1"})
