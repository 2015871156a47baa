"""Changes of jobs as lines, for people and for machines."""

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from rich.console import Console

from spotproof.cli import status_live
from spotproof.cli.status_live import json_lines, lines, show
from spotproof.status.report import Report, report
from spotproof.status.world import World
from tests.unit.status.worlds import BY_HAND, MOVING, NOW, WAITING, policy, world


def _reports(*worlds: World) -> Iterator[Report]:
    return (report(each, NOW, "namespace research") for each in worlds)


def test_in_a_pipe_a_job_is_a_line_when_it_changes_and_when_it_is_gone() -> None:
    later = {**WAITING, "status": WAITING["status"] | {"message": "waiting for a100-spot-a for 13m, of 20m at most"}}
    moving = {
        **WAITING,
        "status": WAITING["status"] | {"phase": "Moving", "tier": "a100", "waitingFor": "", "message": "m"},
    }
    found = list(lines(_reports(world(WAITING), world(later), world(moving), world(BY_HAND, policy()), world())))
    assert found == [
        (
            "2026-11-21T12:00:00Z research/llama-70b Waiting on a100-spot-a, attempt 4, 3 evictions, 1 error: waiting "
            "for a100-spot-a for 12m, of 20m at most; 3 nodes are held and billed meanwhile; waits for capacity: the "
            "cloud has none of p4d.24xlarge in us-west-2a"
        ),
        (
            "2026-11-21T12:00:00Z research/llama-70b Moving on a100, attempt 4, 3 evictions, 1 error: m; "
            "3 nodes are held and billed meanwhile"
        ),
        (
            "2026-11-21T12:00:00Z research/by-hand without a policy on spotproof.dev/pool=a100-spot-a: "
            "no pod waits for a node"
        ),
        "2026-11-21T12:00:00Z research/llama-70b gone",
        "2026-11-21T12:00:00Z research/by-hand gone",
    ]


def test_a_note_is_a_line_once() -> None:
    noted = world(notes=["the watch broke off"])
    assert len(list(lines(_reports(noted, noted, world(), noted)))) == 2


def test_on_a_terminal_the_table_is_drawn_apart_and_the_last_one_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = StringIO()

    def terminal(_: object) -> Console:
        return Console(file=screen, force_terminal=True, width=100, height=30)

    monkeypatch.setattr(status_live, "console_of", terminal)

    def interrupted() -> Iterator[Report]:
        yield from _reports(world(WAITING), world(WAITING, MOVING))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show(interrupted(), story=False, as_json=False)

    assert screen.getvalue().startswith("\x1b[?1049h")
    assert "\x1b[?1049l" in screen.getvalue()
    left = capsys.readouterr().out
    assert "research/llama-70b" in left
    assert "research/tune" in left


def test_as_json_a_change_is_a_line_and_time_alone_is_none() -> None:
    later = report(world(WAITING), NOW + 60, "namespace research")
    first = report(world(WAITING), NOW, "namespace research")
    third = report(world(WAITING, MOVING), NOW, "namespace research")
    found = [json.loads(each) for each in json_lines([first, later, third])]
    assert [len(each["jobs"]) for each in found] == [1, 2]
