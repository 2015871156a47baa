"""The command without its control plane: what it refuses, what it hands over, what it prints and writes."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spotproof.cli import main
from spotproof.rehearsal import control_plane, rehearse, tools
from spotproof.rehearsal.history import History
from spotproof.rehearsal.outcome import Outcome
from spotproof.rehearsal.rehearse import Options, View
from spotproof.rehearsal.scene import Scene
from spotproof.rehearsal.story import told
from tests.pages.rehearse import recorded

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "experiments"
Played = list[tuple[Scene, Options, Path | None]]


def run(*arguments: str) -> Result:
    environment = {"COLUMNS": "100"}
    return CliRunner(env=environment).invoke(main.application(), ["rehearse", *arguments, "--program", str(ROOT)])


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Played:
    """Rehearsals end as the recorded one did; the scenes and options they were given."""
    found: Played = []

    def play(
        scene: Scene, _tools: object, options: Options, audience: Callable[[View], None], keep_logs: Path | None
    ) -> Outcome:
        found.append((scene, options, keep_logs))
        _, outcome = recorded("rehearse-aws-prod", "aws-prod")
        history = History(outcome.recording)
        audience(View(history, told(history), ""))
        return outcome

    monkeypatch.setattr(rehearse, "rehearse", play)

    def find(_: object) -> tools.Tools:
        return tools.Tools(tmp_path)

    monkeypatch.setattr(tools, "find_tools", find)
    return found


def test_the_moments_and_what_became_of_the_job_are_printed(played: Played) -> None:
    result = run("--stack", "aws-prod")

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "aws-prod  JobSet rehearsal under fallback policy a100, starting on a100-spot-a (spot)",
        "starting the control plane",
    ]
    assert "   1.4 s  JobSet rehearsal is submitted: 2 pods of worker" in lines
    assert "what became of the job" in lines
    assert len({line for line in lines if "restarts as a whole" in line}) == 3
    assert played[0][1:] == (Options(None, dry=True), None)


def test_a_moment_is_printed_once_and_in_order(played: Played) -> None:
    assert not played
    seconds = [line[:8] for line in run("--stack", "aws-prod").stdout.splitlines() if line[6:9] == " s "]

    assert seconds == sorted(seconds)
    assert len(seconds) > 20


def test_the_timeline_is_written_in_the_form_its_name_says(played: Played, tmp_path: Path) -> None:
    page, document = tmp_path / "t.html", tmp_path / "t.json"
    result = run("--stack", "aws-prod", "--output", str(page), str(document))

    assert (result.exit_code, len(played)) == (0, 1)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert json.loads(document.read_text())["format"] == "spotproof-rehearsal/1"
    assert f"wrote {page}" in result.stderr


def test_an_experiment_a_workspace_and_the_bounds_are_handed_over(played: Played) -> None:
    example = str(EXAMPLES / "kuberay.yaml")
    result = run(
        "--stack", "aws-dev", "--experiment", example, "--workspace", "research", "--reclaims", "3", "--no-dry"
    )
    scene, options, _ = played[0]

    assert result.exit_code == 0
    assert (scene.job["kind"], scene.job["metadata"]["namespace"]) == ("RayJob", "research")
    assert options == Options(3, dry=False)


def test_a_rehearsal_that_was_stopped_is_written_and_is_status_one(
    played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, outcome = recorded("rehearse-aws-prod", "aws-prod")
    outcome.unfinished = "it was stopped"

    def play(*_: object) -> Outcome:
        return outcome

    monkeypatch.setattr(rehearse, "rehearse", play)
    result = run("--stack", "aws-prod", "--output", str(tmp_path / "t.json"))

    assert (result.exit_code, played) == (1, [])
    assert "spotproof rehearse: not to its end: it was stopped" in result.stderr
    assert json.loads((tmp_path / "t.json").read_text())["unfinished"] == "it was stopped"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (control_plane.NotStarted("etcd died"), "the control plane did not start: etcd died"),
        (KeyboardInterrupt(), "stopped before the control plane was ready"),
    ],
)
def test_a_control_plane_that_does_not_start_is_status_one(
    played: Played, monkeypatch: pytest.MonkeyPatch, error: BaseException, says: str
) -> None:
    def fail(*_: object) -> Outcome:
        raise error

    monkeypatch.setattr(rehearse, "rehearse", fail)
    result = run("--stack", "aws-prod")

    assert (result.exit_code, played) == (1, [])
    assert says in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--stack", "aws-dve"], "Did you mean aws-dev?"),
        (["--stack", "aws-dev", "--workspace", "reserach"], "Write --workspace research"),
        (["--stack", "aws-dev", "--experiment", "nowhere.yaml"], "there is no file nowhere.yaml"),
        (["--stack", "aws-dev", "--output", "timeline.pdf"], "ends in neither .html nor .json"),
        (["--stack", "aws-dev", "--output", "nowhere/t.html"], "there is no folder nowhere"),
        (["--stack", "aws-dev", "--keep-logs", str(EXAMPLES / "jobset.yaml")], "is no folder"),
        (["--stack", "aws-dev", "--reclaims", "0"], "Invalid value for '--reclaims'"),
    ],
)
def test_wrong_use_is_status_two_with_what_would_do(played: Played, arguments: list[str], says: str) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout, played) == (2, "", [])
    assert says in result.stderr


def test_an_experiment_that_cannot_work_is_status_one_with_every_problem(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text((EXAMPLES / "jobset.yaml").read_text().replace("image", "imgae"))
    result = run("--stack", "aws-dev", "--experiment", str(file))

    assert (result.exit_code, played) == (1, [])
    assert "spec.imgae: is not a setting; it would have no effect. Write image." in result.stderr


def test_a_job_that_is_not_on_spot_is_status_one_before_anything_is_started(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text((EXAMPLES / "jobset.yaml").read_text().replace("fallbackPolicy: standard", "pool: t4"))
    result = run("--stack", "aws-dev", "--experiment", str(file))

    assert (result.exit_code, played) == (1, [])
    assert "the job starts on t4, which is on-demand, so there is nothing to take away" in result.stderr


def test_without_the_tools_it_is_said_what_builds_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(tools.TOOLS_VARIABLE, str(tmp_path / "none"))
    result = run("--stack", "aws-dev")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Run `make tools`" in result.stderr


@pytest.mark.parametrize(
    ("missing", "arguments", "says"),
    [
        (["kubernetes", "trustme"], [], "kubernetes and trustme are not installed"),
        (["structlog"], [], "structlog is not installed"),
        (["msgspec", "prometheus_client"], [], "msgspec and prometheus_client are not installed"),
        (["cryptography"], ["--without-controller"], "cryptography is not installed"),
    ],
)
def test_without_the_extra_it_is_said_what_to_install(
    played: Played, monkeypatch: pytest.MonkeyPatch, missing: list[str], arguments: list[str], says: str
) -> None:
    without(monkeypatch, missing)
    result = run("--stack", "aws-dev", *arguments)

    assert (result.exit_code, result.stdout, played) == (2, "", [])
    assert f"{says}; run `pip install 'spotproof[rehearse]'`" in result.stderr


def test_what_the_controller_alone_imports_is_not_asked_for_without_it(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, ["msgspec", "prometheus_client", "structlog"])
    result = run("--stack", "aws-dev", "--without-controller")

    assert (result.exit_code, len(played)) == (0, 1)


def without(monkeypatch: pytest.MonkeyPatch, missing: list[str]) -> None:
    def find(name: str) -> Any:
        return None if name in missing else importlib.util.find_spec(name)

    monkeypatch.setattr("spotproof.cli.rehearse.find_spec", find)


def test_on_windows_it_is_said_where_it_runs(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    result = run("--stack", "aws-dev")

    assert (result.exit_code, played) == (2, [])
    assert "Linux and macOS only" in result.stderr
