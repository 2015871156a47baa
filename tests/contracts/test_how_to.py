"""The how-tos name every word a reader may see, and what they tell people to run works."""

import json
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from urllib.error import URLError

import pytest

from spotproof.controller.annotations import parse_progress
from spotproof.controller.messages import CONDITIONS
from spotproof.controller.said import PATTERNS, SPOT_ROLE_COMMAND
from spotproof.fallback.reasons import Code
from spotproof.fallback.record import RunPhase
from spotproof.status.rows import UNSEEN
from tests.conftest import ROOT

HOW_TO = ROOT / "docs" / "how-to"
WAITS = (HOW_TO / "when-a-job-waits.md").read_text(encoding="utf-8")
RUN = (HOW_TO / "run-a-job.md").read_text(encoding="utf-8")
MOVING = {
    Code.RUNNING, Code.FAILURES, Code.TIMEOUT, Code.EQUAL, Code.OTHER, Code.RETURN, Code.MIN_STAY, Code.GONE,
    Code.GUARD, Code.SPOT_THERE, Code.SPARE_PAY, Code.SPARE_LEAVE, Code.SPARE_KEEP, Code.NO_SPOT,
}  # fmt: skip
"""Reasons of a job that runs or is about to move, which waits for nobody."""


@pytest.mark.parametrize("phase", [*get_args(RunPhase), UNSEEN])
def test_every_phase_has_its_row(phase: str) -> None:
    assert re.search(rf"^\| .*`{phase}`.* \|", WAITS, re.MULTILINE)


@pytest.mark.parametrize("code", [code for code in Code if code not in MOVING])
def test_every_reason_of_a_job_that_waits_has_its_row(code: Code) -> None:
    assert re.search(rf"^\| .*`{code.value}`.* \|", WAITS, re.MULTILINE)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda each: each.want.name)
def test_what_a_job_may_wait_for_is_in_the_table_by_its_first_words(pattern: Any) -> None:
    cells = re.findall(
        r"`([^`]+)`", "\n".join(line.split(" | ")[0] for line in WAITS.splitlines() if line[:3] == "| `")
    )
    beginnings = [cell.split("...")[0].rstrip(": ") for cell in cells]
    said = re.sub(r"\[.*?\]", "", pattern.text)
    assert any(said.startswith(each) for each in beginnings), said


@pytest.mark.parametrize("name", [name for name, each in CONDITIONS.items() if each.of == "TrainingRun"])
def test_every_condition_of_a_job_is_named(name: str) -> None:
    assert f"`{name}`" in WAITS


def test_the_command_for_the_missing_role_is_the_one_that_is_told() -> None:
    assert f"`{SPOT_ROLE_COMMAND}`" in WAITS


@pytest.mark.parametrize("page", [WAITS, RUN])
def test_every_link_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page):
        name, _, anchor = target.partition("#")
        text = (HOW_TO / name).read_text(encoding="utf-8")
        headings = {_anchor(line) for line in text.splitlines() if line.startswith("#")}
        assert not anchor or anchor in headings, target


@pytest.fixture
def report_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """The snippet as it is in the page, in a pod's place."""
    (code,) = re.findall(r"```python\n(.*?)```", RUN, re.DOTALL)
    for name, text in (("namespace", "research"), ("token", "secret"), ("ca.crt", "")):
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("SPOTPROOF_RUN", "llama")

    def trust(*, cafile: str) -> str:
        return cafile

    monkeypatch.setattr(ssl, "create_default_context", trust)
    names: dict[str, Any] = {}
    exec(compile(code, "run-a-job.md", "exec"), names)  # noqa: S102  # our own page
    names["ACCOUNT"] = tmp_path
    return names["report_progress"]


def test_the_snippet_patches_the_one_annotation_of_the_jobs_own_training_run(
    report_progress: Callable[[float], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []

    class Answer:
        def close(self) -> None:
            """Nothing is kept open."""

    def answer(request: Any, *, timeout: float, context: str) -> Answer:
        sent.append((request, timeout, context))
        return Answer()

    monkeypatch.setattr("urllib.request.urlopen", answer)
    report_progress(5400.7)

    ((request, timeout, context),) = sent
    assert (request.method, context, timeout) == ("PATCH", str(tmp_path / "ca.crt"), 10)
    assert request.full_url == (
        "https://kubernetes.default.svc/apis/spotproof.dev/v1alpha1/namespaces/research/trainingruns/llama"
    )
    assert request.get_header("Authorization") == "Bearer secret"
    assert request.get_header("Content-type") == "application/merge-patch+json"
    ((annotation, value),) = json.loads(request.data)["metadata"]["annotations"].items()
    assert (annotation, parse_progress(value)) == ("spotproof.dev/progress", 5400)


def test_a_report_that_fails_does_not_end_the_training(
    report_progress: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise URLError("no route")

    monkeypatch.setattr("urllib.request.urlopen", fail)
    report_progress(1)
    assert "progress was not reported" in capsys.readouterr().out


def _anchor(heading: str) -> str:
    words = heading.lstrip("# ").lower()
    return re.sub(r"[^a-z0-9 -]", "", words).replace(" ", "-")
