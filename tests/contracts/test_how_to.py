"""The how-tos name every word a reader may see, and what they tell people to run works."""

import re
from typing import get_args

import pytest

from spotproof.controller.messages import CONDITIONS
from spotproof.controller.said import PATTERNS, SPOT_ROLE_COMMAND, UNBOUGHT
from spotproof.fallback.reasons import Code
from spotproof.fallback.record import RunPhase
from spotproof.status.rows import UNSEEN
from tests.conftest import ROOT
from tests.unit.manifests.jobs import env_of, experiment, on_policy, pod_templates, rendered, stack

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


@pytest.mark.parametrize("text", [*(each.text for each in PATTERNS), UNBOUGHT.format(tier="...")])
def test_what_a_job_may_wait_for_is_in_the_table_by_its_first_words(text: str) -> None:
    cells = re.findall(
        r"`([^`]+)`", "\n".join(line.split(" | ")[0] for line in WAITS.splitlines() if line[:3] == "| `")
    )
    beginnings = [cell.split("...")[0].rstrip(": ") for cell in cells]
    said = re.sub(r"\[.*?\]", "", text)
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


VARIABLE = r"CHECKPOINT_URI|SPOTPROOF_\w+|JOB_COMPLETION_INDEX"
TABLES = {name: (HOW_TO / name).read_text(encoding="utf-8") for name in ("jobs.md", "write-a-trainer.md")}


@pytest.mark.parametrize("page", TABLES)
def test_the_tables_have_every_variable_of_a_rendered_pod_and_no_other(page: str) -> None:
    rendered_ones = {"JOB_COMPLETION_INDEX"}  # by Kubernetes, in an indexed Job
    for operator in ("jobset", "kuberay"):
        for template in pod_templates(rendered(on_policy(operator, stack("aws-dev")))).values():
            rendered_ones |= {name for name in env_of(template) if re.fullmatch(VARIABLE, name)}
    rows = [line.split(" | ")[0] for line in TABLES[page].splitlines() if re.match(rf"\| `({VARIABLE})`", line)]
    assert set(re.findall(rf"`({VARIABLE})`", " ".join(rows))) == rendered_ones


@pytest.mark.parametrize(
    ("row", "name"),
    [("AWS", "aws-dev"), ("GCP", "gcp-dev"), ("Azure", "azure-dev"), ("a cluster of yours", "kind-dev")],
)
def test_the_notice_that_is_told_is_the_one_that_is_rendered(row: str, name: str) -> None:
    variables = env_of(pod_templates(rendered(experiment("jobset"), stack_name=name))["worker"])
    (told,) = re.findall(rf"^\| {row} \| .* \| (\d+)\b[^|]* \|$", TABLES["write-a-trainer.md"], re.MULTILINE)
    assert told == variables["SPOTPROOF_NOTICE_SECONDS"]


def _anchor(heading: str) -> str:
    words = heading.lstrip("# ").lower()
    return re.sub(r"[^a-z0-9 -]", "", words).replace(" ", "-")
