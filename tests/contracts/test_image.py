"""What the controller's image is made of: the same versions as everything else, no Pulumi, nobody's rights."""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from spotproof.settings import read_yaml

ROOT: Final = Path(__file__).resolve().parents[2]
REQUIREMENTS: Final = ROOT / "requirements"
CONTAINERFILE: Final = (ROOT / "Containerfile").read_text(encoding="utf-8")
STAGES: Final = CONTAINERFILE.split("\nFROM ")[1:]
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def locked(name: str) -> dict[str, str]:
    """Package -> version of a lock file."""
    text = (REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^ ;\\]+)", text, re.MULTILINE))


def named(lines: list[str]) -> set[str]:
    """Packages of requirements, without versions and remarks."""
    found = (re.match(r"[A-Za-z0-9.-]+", line) for line in lines)
    return {match[0].lower().replace(".", "-") for match in found if match}


def test_the_controller_runs_the_versions_that_everything_was_tested_with() -> None:
    run, controller = locked("run"), locked("controller")

    assert len(controller) > 10
    assert {name: version for name, version in controller.items() if run.get(name) != version} == {}


def test_no_pulumi_and_no_sdk_of_a_cloud_is_in_it() -> None:
    assert [name for name in locked("controller") if re.match("pulumi|boto|google-cloud|azure", name)] == []


def test_what_is_asked_for_is_the_extra_and_what_the_models_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = named((REQUIREMENTS / "controller.in").read_text(encoding="utf-8").splitlines())

    assert asked == named(project["optional-dependencies"]["controller"]) | {"pydantic", "ruamel-yaml"}
    assert asked & named(project["dependencies"]) == {"pydantic", "ruamel-yaml"}


def test_every_package_is_installed_by_its_hash_and_the_wheel_alone() -> None:
    installs = [line for line in CONTAINERFILE.replace("\\\n", " ").splitlines() if "pip install" in line]

    assert installs
    assert all("--require-hashes" in line or "--no-deps dist/" in line for line in installs)


def test_it_runs_as_nobody_and_holds_what_was_installed_and_no_more() -> None:
    *_, last = STAGES

    assert re.search(r"^USER (\d+):\1$", last, re.MULTILINE)
    assert re.findall(r"^(?:COPY|ADD) (.*)$", last, re.MULTILINE) == ["--from=build /opt/spotproof /opt/spotproof"]
    assert "RUN" not in last
    assert '"-m", "spotproof.controller"' in last


def test_its_base_has_an_exact_version_and_both_stages_are_of_it() -> None:
    (base,) = re.findall(r"^ARG BASE=(.*)$", CONTAINERFILE, re.MULTILINE)

    assert re.fullmatch(r"docker\.io/library/python:\d+\.\d+\.\d+-slim-\w+", base)
    assert [stage.split()[0] for stage in STAGES] == ["${BASE}", "${BASE}"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_no_action_that_somebody_else_can_change_and_may_do_nothing_by_default(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    written = read_yaml(workflow)

    assert [one for one in re.findall(r"uses: *(\S+)", text) if not re.search(r"@[0-9a-f]{40}$", one)] == []
    assert isinstance(written, dict)
    assert written["permissions"] == {"contents": "read"}
