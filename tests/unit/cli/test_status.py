"""The command with a stand-in for the API server: what it asks, prints, falls back to and refuses."""

import json
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spotproof.cli import main, status_connect
from spotproof.cli.status_cluster import Look, follow, look
from spotproof.cli.status_connect import Cluster
from spotproof.cli.status_table import write
from spotproof.controller.kinds import NODE, POD, RUN, Kind
from spotproof.kube.errors import Refused, Stranger, Unreachable, Untrusted
from spotproof.kube.watching import Change
from spotproof.status.report import Report, report
from spotproof.status.world import EVENT, World
from tests.unit.status.worlds import BY_HAND, EVERYTHING, MOVING, NOW, WAITING, Object, policy, run, world

Golden = Callable[[str, object], None]
FORBIDDEN = Refused(403, 'trainingruns.spotproof.dev is forbidden: User "ada" cannot list resource', "Forbidden")
NONE = Refused(404, "the server has no kind TrainingRun in spotproof.dev/v1alpha1", "NotFound")


class Server:
    """Objects, and what listing a kind in a namespace (None: in all) answers instead."""

    def __init__(self, *things: Object, instead: Mapping[Any, Exception] | None = None) -> None:
        self.things = things
        self.instead = instead or {}
        self.asked: list[tuple[str, str | None, str]] = []
        self.streams: list[list[Change | Exception | None]] = []

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        assert not labels
        self.asked.append((kind, namespace, fields))
        if error := self.instead.get((Kind(api_version, kind), namespace)):
            raise error
        return [
            each
            for each in self.things
            if (each["apiVersion"], each["kind"]) == (api_version, kind)
            and namespace in {None, each["metadata"].get("namespace")}
        ]

    def watch(
        self,
        kinds: Sequence[tuple[str, str]],
        since: str,
        namespace: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
    ) -> "Stream":
        assert (since, bool(kinds), fields is not None) == ("0", True, True)
        assert namespace in {None, "research"}
        return Stream(self.streams.pop(0))


class Stream:
    """Changes that were written down before; None is a pause, an exception breaks it off."""

    def __init__(self, changes: list[Change | Exception | None]) -> None:
        self.changes = changes

    def next(self, within_seconds: float | None = None) -> Change | None:
        assert within_seconds
        found = self.changes.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        self.changes = []


def cluster(server: Server) -> Cluster:
    return Cluster(server, "prod", "research", "log in again by `aws sso login`")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command against a server."""

    def invoke(server: Server, *arguments: str) -> Result:
        def connected(kubeconfig: Path | None, context: str | None) -> Cluster:
            assert (kubeconfig, context) == (None, None)
            return cluster(server)

        monkeypatch.setattr(status_connect, "connect", connected)
        return CliRunner(env={"COLUMNS": "100"}).invoke(main.application(), ["status", *arguments])

    return invoke


def printed(found: Report, width: int, monkeypatch: pytest.MonkeyPatch, *, story: bool = False) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    file = StringIO()
    write(found, file, story=story)
    return file.getvalue()


@pytest.mark.parametrize("width", [120, 60])
def test_the_table_as_it_is_printed(golden: Golden, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(report(EVERYTHING, NOW, "all namespaces"), width, monkeypatch)
    assert max(map(_cells, text.splitlines())) <= width
    golden(f"status/table-{width}.txt", text)


@pytest.mark.parametrize(("job", "width"), [("llama-70b", 100), ("tune", 60)])
def test_a_story_as_it_is_printed(golden: Golden, job: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(report(EVERYTHING, NOW, "all namespaces", job), width, monkeypatch, story=True)
    assert max(map(_cells, text.splitlines())) <= width
    golden(f"status/story-{job}-{width}.txt", text)


def test_on_a_terminal_too_narrow_for_anything_the_phase_is_still_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(report(world(WAITING), NOW, "all namespaces"), 24, monkeypatch)
    assert "Waiting" in text
    assert "research/llama…  Waiting" in text


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_are_left_out_where_somebody_wants_none(
    no_color: str,
    coloured: bool,  # noqa: FBT001  # a column of the table
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    text = printed(report(world(WAITING), NOW, "all namespaces"), 100, monkeypatch)
    assert ("\x1b[33mWaiting" in text) is coloured


def test_the_command_prints_the_namespace_of_the_context(command: Callable[..., Result]) -> None:
    server = Server(WAITING, run("other", namespace="speech", phase="Running"), BY_HAND, policy())
    result = command(server)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "research/llama-70b" in result.stdout
    assert "kubectl label -n research jobset by-hand" in result.stdout
    assert "speech/other" not in result.stdout
    assert ("TrainingRun", "research", "") in server.asked
    assert ("FallbackPolicy", None, "") in server.asked


def test_only_pods_without_a_node_and_events_of_pods_are_asked_for(command: Callable[..., Result]) -> None:
    server = Server(WAITING)
    command(server, "-A")
    fields = {(kind, namespace): fields for kind, namespace, fields in server.asked if fields}
    assert fields["Pod", None] == "status.phase=Pending"
    assert fields["Event", None].startswith("involvedObject.kind=Pod,reason!=")
    assert fields["Event", "default"] == "involvedObject.kind=NodeClaim"


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (["-A"], {"research/llama-70b", "speech/other"}),
        (["--namespace", "speech"], {"speech/other"}),
        (["speech/other"], {"speech/other"}),
        (["other", "-A"], {"speech/other"}),
    ],
)
def test_where_it_looks(command: Callable[..., Result], arguments: list[str], seen: set[str]) -> None:
    result = command(Server(WAITING, run("other", namespace="speech", phase="Running")), *arguments)
    assert {name for name in ("research/llama-70b", "speech/other") if name in result.stdout} == seen
    assert result.exit_code == 0


def test_json_is_the_document(command: Callable[..., Result]) -> None:
    result = command(Server(WAITING), "--json")
    found = json.loads(result.stdout)
    assert (found["format"], found["jobs"][0]["phase"]) == ("spotproof-status/1", "Waiting")
    assert "tiers" not in found["jobs"][0]
    assert "tiers" in json.loads(command(Server(WAITING), "--json", "llama-70b").stdout)["jobs"][0]


def test_without_a_job_it_says_so_and_how_to_look_further(command: Callable[..., Result]) -> None:
    result = command(Server())
    assert (result.exit_code, result.stdout) == (
        0, "no job under a fallback policy and none on spot in namespace research\n",
    )  # fmt: skip
    assert "--all-namespaces looks everywhere" in result.stderr


def test_a_job_that_is_not_there_is_status_one(command: Callable[..., Result]) -> None:
    result = command(Server(WAITING), "lama-70b")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no job lama-70b under a fallback policy" in result.stderr
    assert "--all-namespaces looks everywhere" in result.stderr


def test_two_ways_to_say_where_exclude_each_other(command: Callable[..., Result]) -> None:
    result = command(Server(), "-A", "-n", "research")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "exclude each other" in result.stderr


@pytest.mark.parametrize("where", [["-n", "speech"], ["-n", "research"], ["-A"]])
def test_a_namespace_in_the_jobs_name_excludes_another_word_of_where(
    command: Callable[..., Result], where: list[str]
) -> None:
    server = Server(WAITING)
    result = command(server, "research/llama-70b", *where)
    assert (result.exit_code, result.stdout, server.asked) == (2, "", [])
    assert "research/llama-70b names the namespace research, and --" in result.stderr


def test_who_may_not_look_everywhere_sees_the_namespace_of_the_context_and_is_told(
    command: Callable[..., Result],
) -> None:
    result = command(Server(WAITING, instead={(RUN, None): FORBIDDEN}), "-A")
    assert result.exit_code == 0
    assert "research/llama-70b" in result.stdout
    assert "not allowed to look into all namespaces: this is research alone" in " ".join(result.stdout.split())


def test_what_may_not_be_listed_is_missing_with_a_note(command: Callable[..., Result]) -> None:
    denied = {(POD, "research"): FORBIDDEN, (EVENT, "default"): FORBIDDEN, (NODE, None): FORBIDDEN}
    result = command(Server(WAITING, instead=denied))
    assert result.exit_code == 0
    assert "note: not allowed to list Pod objects, so what jobs without a policy wait for is not shown" in result.stdout
    assert "Event" not in result.stdout
    assert "Node objects" not in result.stdout


def test_without_the_crd_jobs_on_spot_are_still_told(command: Callable[..., Result]) -> None:
    result = command(Server(BY_HAND, policy(), instead={(RUN, "research"): NONE}))
    assert result.exit_code == 0
    assert "research/by-hand" in result.stdout
    assert "note: this cluster has no TrainingRuns: the fallback controller is not installed" in result.stdout


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (FORBIDDEN, "name it with --namespace"),
        (
            Refused(401, "Unauthorized", "Unauthorized"),
            "does not accept the login, which has expired or was never made",
        ),
        (
            Refused(403, 'trainingruns is forbidden: User "system:anonymous" cannot list'),
            "`aws sso login`, then try again",
        ),
        (Unreachable("connection refused"), "the cluster of context prod does not answer; is it there"),
        (Refused(500, "etcd is gone", "InternalError"), "spotproof status: 500: etcd is gone"),
        (Untrusted("certificate verify failed"), "is not trusted; give the kubeconfig the cluster's own"),
        (Stranger("it lists no resources"), "is no API server; look at `server` in the kubeconfig"),
        (Refused(502, "<html> bad gateway"), "is no API server; look at `server` in the kubeconfig"),
    ],
)
def test_a_cluster_that_cannot_be_looked_at_is_one_sentence_and_status_one(
    command: Callable[..., Result], error: Exception, says: str
) -> None:
    result = command(Server(instead={(RUN, "research"): error}))
    assert (result.exit_code, result.stdout) == (1, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_without_the_library_it_is_said_what_to_install(
    command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(_: str) -> None:
        return None

    monkeypatch.setattr("spotproof.cli.status.find_spec", find)
    result = command(Server())
    assert result.exit_code == 2
    assert "pip install 'spotproof[status]'" in result.stderr


def _change(thing: Object, version: int, kind: str = "MODIFIED") -> Change:
    return Change(kind, {**thing, "metadata": thing["metadata"] | {"resourceVersion": str(version)}}, 0.0)


def _followed(server: Server, looks: int, pauses: list[float] | None = None) -> list[World]:
    slept = [] if pauses is None else pauses
    found = look(cluster(server), "research", lambda: NOW)
    return list(islice(follow(cluster(server), found, lambda: NOW, slept.append), looks))


def test_what_was_listed_is_shown_until_the_watch_has_delivered_as_much() -> None:
    server = Server(WAITING, MOVING)
    gone = _change(WAITING, 3, "DELETED")
    server.streams = [[_change(WAITING, 1, "ADDED"), None, None, _change(MOVING, 2, "ADDED"), None, gone, None]]
    assert [len(each.all(RUN)) for each in _followed(server, 4)] == [2, 2, 2, 1]


def test_what_was_deleted_before_the_watch_began_is_gone_in_time() -> None:
    server, seconds = Server(WAITING, MOVING), iter(range(0, 100, 6))
    server.streams = [[_change(WAITING, 1, "ADDED"), None, None, None]]
    found = look(cluster(server), "research", lambda: 0.0)
    worlds = islice(follow(cluster(server), found, lambda: next(seconds)), 3)
    assert [len(each.all(RUN)) for each in worlds] == [2, 1, 1]


def test_changes_that_come_together_are_one_world() -> None:
    server = Server(WAITING)
    server.streams = [
        [_change(WAITING, 1, "ADDED"), _change(MOVING, 2, "ADDED"), None, _change(MOVING, 3, "DELETED"), None]
    ]
    first, second = _followed(server, 2)
    assert [len(first.all(RUN)), len(second.all(RUN))] == [2, 1]


def test_a_watch_that_breaks_off_is_made_again_after_a_pause_with_a_note_meanwhile() -> None:
    server, pauses = Server(WAITING), list[float]()
    server.streams = [
        [_change(WAITING, 1, "ADDED"), None, Unreachable("gone")],
        [Unreachable("gone")],
        [RuntimeError("the watch was ended by the server: too old resource version")],
        [_change(WAITING, 1, "ADDED"), None],
    ]
    worlds = _followed(server, 5, pauses)
    assert [len(each.all(RUN)) for each in worlds] == [1, 1, 1, 1, 1]
    assert [bool(each.notes) for each in worlds] == [False, True, True, True, False]
    assert "not up to date, the watch broke off: the cluster of context prod does not answer" in worlds[1].notes[-1]
    assert pauses == [1.0, 2.0, 4.0]


def test_where_a_look_was_is_said_as_people_read_it() -> None:
    assert Look(world(), None, ()).where == "all namespaces"
    assert Look(world(), "research", ()).where == "namespace research"


def _cells(text: str) -> int:
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(text)
