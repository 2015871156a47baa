"""`spotproof rehearse` as people run it: to its end, and stopped in the middle."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spotproof.kube.waiting import wait
from spotproof.rehearsal.recording import load
from spotproof.rehearsal.story import story
from spotproof.rehearsal.tools import TOOLS_VARIABLE, Tools
from tests.e2e.controller import judge

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
# A shell ignores SIGINT in what it starts with `&`, and every process below would inherit that: a CI runner's too.
AS_IN_A_TERMINAL = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = (sys.executable, "-c", f"{AS_IN_A_TERMINAL}; from spotproof.cli.main import run; run()", "rehearse")
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """What the command makes temporary is in here, so that leftovers are seen; pytest's own is too long for sockets."""
    with tempfile.TemporaryDirectory(prefix="sp-") as folder:
        yield Path(folder)


@pytest.fixture
def start(tools: Tools, temporary: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts the command."""
    running: list[subprocess.Popen[str]] = []
    environ = {**os.environ, TOOLS_VARIABLE: str(tools.folder), "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}

    def begin(*arguments: str) -> subprocess.Popen[str]:
        command = [*COMMAND, *arguments, "--program", str(ROOT)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        running.append(subprocess.Popen(command, env=environ, text=True, cwd=tmp_path, **pipes))  # pyright: ignore[reportCallIssue, reportArgumentType]
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.wait()


def document(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("experiment", "restarts"),
    [(None, True), ("kuberay", False)],
    ids=["jobset", "kuberay"],
)
def test_a_job_is_reclaimed_comes_back_and_waits_in_a_dry_market(
    start: Start, temporary: Path, tmp_path: Path, *, experiment: str | None, restarts: bool
) -> None:
    file = ROOT / "examples" / "experiments" / f"{experiment}.yaml"
    job = ["--experiment", str(file)] if experiment else []
    output = ["--output", "t.json", "t.html", "--keep-logs", "logs"]
    rehearsal = start("--stack", "aws-dev", *job, "--without-controller", *output)
    printed, _ = rehearsal.communicate(timeout=SECONDS)

    assert rehearsal.returncode == 0, printed
    found = document(tmp_path / "t.json")
    kinds = [moment["kind"] for moment in found["moments"]]
    assert (found["unfinished"], found["holes"]) == (None, [])
    assert found["figures"]["reclaims"] >= 3
    assert found["figures"]["exitCodes"] == [143]
    assert (found["figures"]["restarts"] > 0) is restarts
    assert found["figures"]["interruptions"][0]["to"] is not None
    assert found["figures"]["interruptions"][-1]["to"] is None
    assert found["figures"]["waitingSince"] is not None
    assert {"submitted", "bought", "running", "reclaimed", "evicted", "waiting", "refused"} <= set(kinds)
    assert [step["to"] for step in found["rule"]["steps"]] == ["t4"]
    assert [moment.text for moment in story(load(tmp_path / "logs" / "recording.json"))] == [
        moment["text"] for moment in found["moments"]
    ]
    assert (tmp_path / "t.html").read_text().startswith("<!DOCTYPE html>")
    assert left_behind(temporary) == []


@pytest.mark.parametrize("experiment", [None, "kuberay"], ids=["jobset", "kuberay"])
def test_the_controller_takes_the_job_to_on_demand_and_brings_it_back(
    start: Start, temporary: Path, tmp_path: Path, experiment: str | None
) -> None:
    file = ROOT / "examples" / "experiments" / f"{experiment}.yaml"
    job = ["--experiment", str(file)] if experiment else []
    rehearsal = start("--stack", "aws-dev", *job, "--output", "t.json", "--keep-logs", "logs")
    printed, _ = rehearsal.communicate(timeout=SECONDS)

    assert rehearsal.returncode == 0, printed
    found = document(tmp_path / "t.json")
    decided = [moment["text"].rpartition(": ")[2] for moment in found["moments"] if moment["kind"] == "decided"]
    assert (found["unfinished"], found["holes"], found["rule"]) == (None, [], None)
    assert decided[0] == "it takes it from t4-spot to t4"
    assert decided[-1] == "it takes it from t4 to t4-spot"
    assert judge.tiers(load(tmp_path / "logs" / "recording.json")) == ["t4-spot", "t4", "t4-spot"]
    assert [mark["did"] for mark in found["marks"]][-1] == "open the spot market"
    assert found["figures"]["waitingSince"] is None
    assert left_behind(temporary) == []


def test_ctrl_c_ends_it_and_what_was_seen_is_written(start: Start, temporary: Path, tmp_path: Path) -> None:
    rehearsal = start("--stack", "aws-dev", "--output", "t.json")
    assert rehearsal.stdout is not None
    printed = ""
    for line in rehearsal.stdout:
        printed += line
        if "is submitted" in line:
            rehearsal.send_signal(signal.SIGINT)
            break
    rest, _ = rehearsal.communicate(timeout=SECONDS)

    assert rehearsal.returncode == 1, printed + rest
    assert "spotproof rehearse: not to its end: it was stopped" in rest
    assert document(tmp_path / "t.json")["moments"][0]["kind"] == "submitted"
    assert left_behind(temporary) == []


def test_ctrl_c_while_the_control_plane_starts_leaves_nothing(start: Start, temporary: Path) -> None:
    rehearsal = start("--stack", "aws-dev")
    assert rehearsal.stdout is not None
    for line in rehearsal.stdout:
        if "starting the control plane" in line:
            break
    wait(lambda: list(temporary.glob("*/logs/*")), "a process of the control plane", 60)
    rehearsal.send_signal(signal.SIGINT)
    rest, _ = rehearsal.communicate(timeout=SECONDS)

    assert rehearsal.returncode == 1, rest
    assert "stopped before the control plane was ready" in rest
    assert left_behind(temporary) == []
